// SPDX-License-Identifier: Apache-2.0

// The table of the bitmap commands, and SETBIT and GETBIT. The others stand in bits_*.cpp.

#include <algorithm>
#include <cstring>

#include "command/arguments.hpp"
#include "command/bits_handlers.hpp"
#include "command/registry.hpp"
#include "resp/number.hpp"

namespace nidus::command {
namespace {

constexpr KeyRange kOneKey = {1, 1, 1};

constexpr CommandSpec kCommands[] = {
    {"bitcount", -2, kReadonly, kOneKey, "bitmap", "2.6.0", "Grows with the bytes looked at.",
     "Counts the set bits of a value or of a part of it.", "key [start end [BYTE | BIT]]",
     bitcount},
    {"bitfield", -2, kWrite | kDenyOom, kOneKey, "bitmap", "3.2.0",
     "Grows with the number of operations; a write copies the value.",
     "Reads and writes integers of any width at any bit of a value.",
     "key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | "
     "INCRBY encoding offset increment> ...]",
     bitfield},
    {"bitfield_ro", -2, kReadonly | kFast, kOneKey, "bitmap", "6.0.0",
     "Grows with the number of operations.", "Reads integers of any width at any bit of a value.",
     "key [GET encoding offset ...]", bitfield_ro},
    {"bitop",
     -4,
     kWrite | kDenyOom,
     {2, -1, 1},
     "bitmap",
     "2.6.0",
     "Grows with the bytes of all values.",
     "Combines the bits of several values and stores the result. Gives its length.",
     "<AND | OR | XOR | NOT> destkey key [key ...]",
     bitop},
    {"bitpos", -3, kReadonly, kOneKey, "bitmap", "2.8.7", "Grows with the bytes looked at.",
     "Finds the first bit that is 1, or 0, in a value or in a part of it.",
     "key bit [start [end [BYTE | BIT]]]", bitpos},
    {"getbit", 3, kReadonly | kFast, kOneKey, "bitmap", "2.2.0", "The same for any value.",
     "Gives one bit of a value; 0 behind its end.", "key offset", getbit},
    {"setbit", 4, kWrite | kDenyOom, kOneKey, "bitmap", "2.2.0",
     "Grows with the value's size: a write that changes it copies it.",
     "Sets one bit of a value and gives the bit before.", "key offset value", setbit},
};

bool bit_at(std::string_view value, std::uint64_t offset) {
  const std::uint64_t byte = offset >> 3;
  return byte < value.size() && ((value[byte] >> (7 - (offset & 7))) & 1) != 0;
}

/// 0 or 1 at args[i]; otherwise the error is replied.
std::optional<bool> bit_argument(Context& context, std::size_t i) {
  constexpr std::string_view kNotABit = "ERR bit is not an integer or out of range";
  const auto bit = integer_argument(context, i, kNotABit);
  if (!bit) return std::nullopt;
  if (*bit == 0 || *bit == 1) return *bit == 1;
  context.reply.error(kNotABit);
  return std::nullopt;
}

}  // namespace

std::span<const CommandSpec> bitmap_commands() { return kCommands; }

std::optional<std::uint64_t> bit_offset(Context& context, std::string_view text, unsigned factor) {
  const auto number = resp::parse_int64(text);
  std::int64_t offset = 0;
  if (!number || *number < 0 ||
      __builtin_mul_overflow(*number, static_cast<std::int64_t>(factor), &offset) ||
      static_cast<std::uint64_t>(offset) >> 3 >= engine::kMaxValueBytes) {
    context.reply.error("ERR bit offset is not an integer or out of range");
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(offset);
}

void setbit(Context& context) {
  const auto offset = bit_offset(context, context.arg(2));
  if (!offset) return;
  const auto bit = bit_argument(context, 3);
  if (!bit) return;
  engine::Entry entry = context.db->lock(context.key(1), context.now);
  const engine::Item* const item = entry.item();
  const std::string_view value = item != nullptr ? item->value() : std::string_view();
  const std::size_t byte = *offset >> 3;
  const bool old = bit_at(value, *offset);
  // A bit that is there and is right already needs no write.
  if (byte >= value.size() || old != *bit) {
    const std::size_t bytes = std::max(value.size(), byte + 1);
    const engine::Millis expires_at = item != nullptr ? item->expires_at() : engine::kNoExpiry;
    const auto status = entry.set_with(bytes, expires_at, [&](char* to) {
      if (!value.empty()) std::memcpy(to, value.data(), value.size());
      std::memset(to + value.size(), 0, bytes - value.size());
      const unsigned mask = 0x80u >> (*offset & 7);
      const auto before = static_cast<unsigned char>(to[byte]);
      to[byte] = static_cast<char>(*bit ? before | mask : before & ~mask);
    });
    if (!succeeded(context, status)) return;
  }
  context.reply.integer(old ? 1 : 0);
}

void getbit(Context& context) {
  const auto offset = bit_offset(context, context.arg(2));
  if (!offset) return;
  const engine::Item* const item = context.db->find(context.key(1), context.now);
  context.reply.integer(item != nullptr && bit_at(item->value(), *offset) ? 1 : 0);
}

}  // namespace nidus::command
