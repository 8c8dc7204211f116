// SPDX-License-Identifier: Apache-2.0

// INCR and its kin: values that are read as numbers. All arithmetic is checked: an overflow is an
// error and changes nothing.

#include <cmath>
#include <cstring>
#include <string>

#include "command/arguments.hpp"
#include "command/strings_handlers.hpp"
#include "resp/number.hpp"

namespace nidus::command {
namespace {

using engine::Entry;
using engine::Item;
using engine::kNoExpiry;

engine::Millis expiry_of(const Item* item) {
  return item != nullptr ? item->expires_at() : kNoExpiry;
}

void add(Context& context, std::int64_t amount) {
  Entry entry = context.db->lock(context.key(1), context.now);
  const Item* const item = entry.item();
  std::int64_t value = 0;
  if (item != nullptr) {
    const auto stored = resp::parse_int64(item->value());
    if (!stored) return context.reply.error(kNotAnInteger);
    value = *stored;
  }
  if (__builtin_add_overflow(value, amount, &value)) {
    return context.reply.error("ERR increment or decrement would overflow");
  }
  char digits[resp::kMaxInt64Chars];
  const char* const end = resp::format_int64(digits, value);
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  if (succeeded(context, entry.set(text, expiry_of(item)))) context.reply.integer(value);
}

}  // namespace

void incr(Context& context) { add(context, 1); }
void decr(Context& context) { add(context, -1); }

void incrby(Context& context) {
  if (const auto amount = integer_argument(context, 2)) add(context, *amount);
}

void decrby(Context& context) {
  const auto amount = integer_argument(context, 2);
  if (!amount) return;
  std::int64_t negated = 0;
  if (__builtin_sub_overflow(std::int64_t{0}, *amount, &negated)) {
    return context.reply.error("ERR decrement would overflow");
  }
  add(context, negated);
}

void incrbyfloat(Context& context) {
  constexpr std::string_view kNotAFloat = "ERR value is not a valid float";
  Entry entry = context.db->lock(context.key(1), context.now);
  const Item* const item = entry.item();
  const auto value = item != nullptr ? resp::parse_long_double(item->value()) : 0.0L;
  const auto amount = resp::parse_long_double(context.arg(2));
  if (!value || !amount) return context.reply.error(kNotAFloat);
  const long double sum = *value + *amount;
  if (std::isnan(sum) || std::isinf(sum)) {
    return context.reply.error("ERR increment would produce NaN or Infinity");
  }
  const std::string text = resp::format_long_double(sum);
  if (succeeded(context, entry.set(text, expiry_of(item)))) context.reply.bulk(text);
}

}  // namespace nidus::command
