// SPDX-License-Identifier: Apache-2.0

// BITFIELD: a value as a row of integers of any width at any bit. All operations are read first;
// then they run in order on one new value, or on the old one if none of them writes.

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstring>

#include "command/arguments.hpp"
#include "command/bits_handlers.hpp"
#include "resp/number.hpp"

namespace nidus::command {
namespace {

// Wide enough for 72 bits of a value and for any sum of two of its integers.
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

// The bytes that 64 bits touch at most.
constexpr std::size_t kWindowBytes = 9;

enum class Overflow { kWrap, kSaturate, kFail };
enum class Verb { kGet, kSet, kIncrementBy };

/// "i16" or "u8".
struct FieldType {
  bool is_signed = false;
  unsigned bits = 0;

  Wide max() const { return (Wide{1} << (is_signed ? bits - 1 : bits)) - 1; }
  Wide min() const { return is_signed ? -max() - 1 : 0; }
  /// The integer whose lowest bits these are.
  std::int64_t from_bits(std::uint64_t raw) const {
    if (!is_signed) return static_cast<std::int64_t>(raw);
    return static_cast<std::int64_t>(raw << (64 - bits)) >> (64 - bits);
  }
};

struct Operation {
  Verb verb;
  Overflow overflow;
  FieldType type;
  std::uint64_t offset;
  std::int64_t number;  // the value or the increment
};

/// A reply: an integer, or null when FAIL refused.
using Results = boost::container::small_vector<std::optional<std::int64_t>, 8>;

std::uint64_t mask_of(unsigned bits) { return ~std::uint64_t{0} >> (64 - bits); }

UnsignedWide load_window(std::string_view value, std::uint64_t byte) {
  UnsignedWide window = 0;
  for (std::size_t i = byte; i < byte + kWindowBytes; ++i) {
    window = window << 8 | (i < value.size() ? static_cast<unsigned char>(value[i]) : 0u);
  }
  return window;
}

unsigned shift_of(std::uint64_t offset, unsigned bits) {
  return static_cast<unsigned>(8 * kWindowBytes - (offset & 7) - bits);
}

std::uint64_t read_bits(std::string_view value, std::uint64_t offset, unsigned bits) {
  const UnsignedWide window = load_window(value, offset >> 3);
  return static_cast<std::uint64_t>(window >> shift_of(offset, bits)) & mask_of(bits);
}

/// Requires: the field lies within the `size` bytes.
void write_bits(char* to, std::size_t size, std::uint64_t offset, unsigned bits,
                std::uint64_t raw) {
  const std::uint64_t byte = offset >> 3;
  const unsigned shift = shift_of(offset, bits);
  UnsignedWide window = load_window({to, size}, byte);
  window &= ~(UnsignedWide{mask_of(bits)} << shift);
  window |= UnsignedWide{raw & mask_of(bits)} << shift;
  for (std::size_t i = 0; i < kWindowBytes && byte + i < size; ++i) {
    to[byte + i] = static_cast<char>(window >> (8 * (kWindowBytes - 1 - i)));
  }
}

std::optional<FieldType> type_argument(Context& context, std::size_t i) {
  const std::string_view text = context.arg(i);
  const bool is_signed = text.starts_with('i');
  if (is_signed || text.starts_with('u')) {
    const auto bits = resp::parse_int64(text.substr(1));
    if (bits && *bits >= 1 && *bits <= (is_signed ? 64 : 63)) {
      return FieldType{is_signed, static_cast<unsigned>(*bits)};
    }
  }
  context.reply.error(
      "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
      "i64 is.");
  return std::nullopt;
}

std::optional<Overflow> overflow_argument(Context& context, std::size_t i) {
  if (is_word(context.arg(i), "wrap")) return Overflow::kWrap;
  if (is_word(context.arg(i), "sat")) return Overflow::kSaturate;
  if (is_word(context.arg(i), "fail")) return Overflow::kFail;
  context.reply.error("ERR Invalid OVERFLOW type specified");
  return std::nullopt;
}

/// The verb at args[i], with all its arguments behind it.
std::optional<Verb> verb_argument(Context& context, std::size_t i) {
  const std::size_t behind = context.args.size() - i - 1;
  if (is_word(context.arg(i), "get") && behind >= 2) return Verb::kGet;
  if (is_word(context.arg(i), "set") && behind >= 3) return Verb::kSet;
  if (is_word(context.arg(i), "incrby") && behind >= 3) return Verb::kIncrementBy;
  context.reply.error(kSyntaxError);
  return std::nullopt;
}

using Operations = boost::container::small_vector<Operation, 8>;

bool read_operations(Context& context, Operations& operations) {
  Overflow overflow = Overflow::kWrap;
  for (std::size_t i = 2; i < context.args.size();) {
    if (is_word(context.arg(i), "overflow") && i + 1 < context.args.size()) {
      const auto chosen = overflow_argument(context, i + 1);
      if (!chosen) return false;
      overflow = *chosen;
      i += 2;
      continue;
    }
    const auto verb = verb_argument(context, i);
    if (!verb) return false;
    const auto type = type_argument(context, i + 1);
    if (!type) return false;
    std::string_view place = context.arg(i + 2);
    const bool counts_fields = place.starts_with('#');
    if (counts_fields) place.remove_prefix(1);
    const auto offset = bit_offset(context, place, counts_fields ? type->bits : 1);
    if (!offset) return false;
    std::optional<std::int64_t> number = 0;
    if (*verb != Verb::kGet) number = integer_argument(context, i + 3);
    if (!number) return false;
    operations.push_back({*verb, overflow, *type, *offset, *number});
    i += *verb == Verb::kGet ? 3 : 4;
  }
  return true;
}

/// The bits to store for an exact result; nothing when FAIL refuses it.
std::optional<std::uint64_t> fit(Wide exact, const FieldType& type, Overflow overflow) {
  if (exact < type.min() || exact > type.max()) {
    if (overflow == Overflow::kFail) return std::nullopt;
    if (overflow == Overflow::kSaturate) exact = exact < type.min() ? type.min() : type.max();
  }
  return static_cast<std::uint64_t>(exact) & mask_of(type.bits);
}

std::optional<std::int64_t> apply(const Operation& operation, char* bytes, std::size_t size) {
  const FieldType& type = operation.type;
  const std::int64_t old = type.from_bits(read_bits({bytes, size}, operation.offset, type.bits));
  if (operation.verb == Verb::kGet) return old;
  // What is set to an unsigned field is taken as unsigned: -1 is above every maximum.
  Wide exact = operation.number;
  if (operation.verb == Verb::kIncrementBy) {
    exact += old;
  } else if (!type.is_signed) {
    exact = static_cast<std::uint64_t>(operation.number);
  }
  const auto raw = fit(exact, type, operation.overflow);
  if (!raw) return std::nullopt;
  write_bits(bytes, size, operation.offset, type.bits, *raw);
  return operation.verb == Verb::kSet ? old : type.from_bits(*raw);
}

void reply_results(Context& context, const Results& results) {
  context.reply.array(results.size());
  for (const auto& result : results) {
    result ? context.reply.integer(*result) : context.reply.null();
  }
}

void only_read(Context& context, const Operations& operations, Results& results) {
  const engine::Item* const item = context.db->find(context.key(1), context.now);
  const std::string_view value = item != nullptr ? item->value() : std::string_view();
  for (const Operation& operation : operations) {
    results.push_back(
        operation.type.from_bits(read_bits(value, operation.offset, operation.type.bits)));
  }
}

// A field of 64 bits touches at most so many bytes.
constexpr std::size_t kFieldBytes = 9;

/// Runs the operations on a value that reaches to the end of the last field written, also when FAIL
/// refuses that write (as in Redis). False if the error is replied.
bool write(Context& context, const Operations& operations, Results& results) {
  std::uint64_t needed = 0;
  for (const Operation& operation : operations) {
    if (operation.verb == Verb::kGet) continue;
    needed = std::max(needed, ((operation.offset + operation.type.bits - 1) >> 3) + 1);
  }
  engine::Entry entry = context.db->lock(context.key(1), context.now);
  const engine::Item* const item = entry.item();
  const std::string_view value = item != nullptr ? item->value() : std::string_view();
  const auto bytes = std::max<std::size_t>(value.size(), needed);
  if (!value_fits(context, bytes)) return false;
  const engine::Millis expires_at = item != nullptr ? item->expires_at() : engine::kNoExpiry;
  std::string changed(value);
  changed.resize(bytes);
  bool any = needed > value.size();
  for (const Operation& operation : operations) {
    // As in Redis, a write that leaves its field as it was is none: for WATCH, among others.
    const std::size_t at = std::min<std::size_t>(operation.offset >> 3, bytes);
    const std::string before = changed.substr(at, kFieldBytes);
    results.push_back(apply(operation, changed.data(), bytes));
    any = any || changed.compare(at, before.size(), before) != 0;
  }
  if (!any) return true;
  const auto status = entry.set(changed, expires_at);
  return succeeded(context, status);
}

bool writes(const Operations& operations) {
  return std::any_of(operations.begin(), operations.end(),
                     [](const Operation& operation) { return operation.verb != Verb::kGet; });
}

}  // namespace

void bitfield(Context& context) {
  Operations operations;
  if (!read_operations(context, operations)) return;
  Results results;
  if (!writes(operations)) {
    only_read(context, operations, results);
  } else if (!write(context, operations, results)) {
    return;
  }
  reply_results(context, results);
}

void bitfield_ro(Context& context) {
  Operations operations;
  if (!read_operations(context, operations)) return;
  if (writes(operations)) {
    return context.reply.error("ERR BITFIELD_RO only supports the GET subcommand");
  }
  Results results;
  only_read(context, operations, results);
  reply_results(context, results);
}

}  // namespace nidus::command
