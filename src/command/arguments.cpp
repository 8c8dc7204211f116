// SPDX-License-Identifier: Apache-2.0

// What handlers share (see arguments.hpp).

#include "command/arguments.hpp"

#include <algorithm>
#include <string>

#include "resp/number.hpp"

namespace nidus::command {

using engine::Millis;
using engine::WriteStatus;

bool is_word(std::string_view arg, std::string_view word) {
  if (arg.size() != word.size()) return false;
  for (std::size_t i = 0; i < arg.size(); ++i) {
    const char c = arg[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c) != word[i]) return false;
  }
  return true;
}

std::optional<std::int64_t> integer_argument(Context& context, std::size_t i,
                                             std::string_view error) {
  const std::optional<std::int64_t> value = resp::parse_int64(context.arg(i));
  if (!value) context.reply.error(error);
  return value;
}

std::optional<Millis> expiry_from(std::int64_t value, TimeUnit unit, TimeBase base, Millis now) {
  Millis expires_at = value;
  if (unit == TimeUnit::kSeconds && __builtin_mul_overflow(value, 1000, &expires_at)) {
    return std::nullopt;
  }
  if (base == TimeBase::kRelative && __builtin_add_overflow(expires_at, now, &expires_at)) {
    return std::nullopt;
  }
  // The last millisecond of all stands for "never".
  return std::min(expires_at, engine::kNoExpiry - 1);
}

std::optional<Millis> positive_expiry_argument(Context& context, std::size_t i, TimeUnit unit,
                                               TimeBase base) {
  const std::optional<std::int64_t> value = integer_argument(context, i);
  if (!value) return std::nullopt;
  std::optional<Millis> expires_at;
  if (*value > 0) expires_at = expiry_from(*value, unit, base, context.now);
  if (!expires_at) reply_invalid_expiry(context);
  return expires_at;
}

void reply_invalid_expiry(Context& context) {
  std::string text = "ERR invalid expire time in '";
  text.append(context.spec->name).append("' command");
  context.reply.error(text);
}

bool succeeded(Context& context, WriteStatus status) {
  if (status == WriteStatus::kOk) return true;
  context.reply.error(status == WriteStatus::kOutOfMemory ? kOutOfMemoryError : kNoPlaceError);
  return false;
}

bool value_fits(Context& context, std::uint64_t bytes) {
  if (bytes <= engine::kMaxValueBytes) return true;
  context.reply.error(kValueTooBig);
  return false;
}

std::size_t keys_end(const CommandSpec& spec, std::size_t args) {
  if (spec.keys.first == 0) return 0;
  if (spec.keys.last >= 0) return std::min(static_cast<std::size_t>(spec.keys.last) + 1, args);
  const auto from_end = static_cast<std::size_t>(-spec.keys.last);
  return args >= from_end ? args - from_end + 1 : 0;
}

CommandLocks::CommandLocks(Context& context) {
  if (context.in_exec) return;
  const CommandSpec& spec = *context.spec;
  std::vector<engine::KeyLocks::Target> targets;
  const std::size_t end = keys_end(spec, context.args.size());
  for (auto i = static_cast<std::size_t>(spec.keys.first); i < end;
       i += static_cast<std::size_t>(spec.keys.step)) {
    targets.push_back({context.db, context.key(i).hash});
  }
  locks_.emplace(targets);
}

}  // namespace nidus::command
