// SPDX-License-Identifier: Apache-2.0

// BITCOUNT and BITPOS: what is asked of a part of a value, given in bytes or in bits. Both are
// brought to one form: a range of bytes of which the first and the last may be cut.

#include <algorithm>
#include <bit>
#include <cstring>

#include "command/arguments.hpp"
#include "command/bits_handlers.hpp"

namespace nidus::command {
namespace {

/// Bytes first to last, inclusive; of the first only the bits in first_mask, of the last only those
/// in last_mask.
struct Part {
  std::int64_t first = 0, last = -1;
  unsigned first_mask = 0xff, last_mask = 0xff;

  bool empty() const { return first > last; }
  unsigned mask(std::int64_t byte) const {
    return (byte == first ? first_mask : 0xff) & (byte == last ? last_mask : 0xff);
  }
};

std::optional<bool> unit_is_bit(Context& context, std::size_t i) {
  if (is_word(context.arg(i), "bit")) return true;
  if (is_word(context.arg(i), "byte")) return false;
  context.reply.error(kSyntaxError);
  return std::nullopt;
}

/// The part from start to end of a value of this many bytes; negative numbers count from its end.
Part part_of(std::int64_t bytes, std::int64_t start, std::int64_t end, bool in_bits) {
  const std::int64_t total = in_bits ? bytes * 8 : bytes;
  const auto clamp = [&](std::int64_t at) {
    return std::max<std::int64_t>(at < 0 ? at + total : at, 0);
  };
  Part part{clamp(start), std::min(clamp(end), total - 1)};
  if (in_bits && !part.empty()) {
    part.first_mask = 0xffu >> (part.first & 7);
    part.last_mask = (0xff00u >> ((part.last & 7) + 1)) & 0xff;
    part.first >>= 3;
    part.last >>= 3;
  }
  return part;
}

unsigned byte_at(std::string_view value, std::int64_t i) {
  return static_cast<unsigned char>(value[static_cast<std::size_t>(i)]);
}

std::int64_t count_whole_bytes(std::string_view bytes) {
  std::int64_t count = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    count += std::popcount(word);
  }
  for (; i < bytes.size(); ++i) count += std::popcount(static_cast<unsigned char>(bytes[i]));
  return count;
}

std::int64_t count(std::string_view value, const Part& part) {
  if (part.empty()) return 0;
  std::int64_t total = std::popcount(byte_at(value, part.first) & part.mask(part.first));
  if (part.first == part.last) return total;
  total += std::popcount(byte_at(value, part.last) & part.last_mask);
  return total +
         count_whole_bytes(value.substr(static_cast<std::size_t>(part.first + 1),
                                        static_cast<std::size_t>(part.last - part.first - 1)));
}

/// The first bit of this kind in the part, or -1.
std::int64_t find_bit(std::string_view value, const Part& part, bool wanted) {
  const unsigned flip = wanted ? 0 : 0xff;
  const std::uint64_t boring = wanted ? 0 : ~std::uint64_t{0};  // a word without it
  for (std::int64_t i = part.first; i <= part.last; ++i) {
    // Whole words strictly inside, where no mask applies.
    while (i > part.first && i + 8 <= part.last) {
      std::uint64_t word;
      std::memcpy(&word, value.data() + i, sizeof word);
      if (word != boring) break;
      i += 8;
    }
    const unsigned found = (byte_at(value, i) ^ flip) & part.mask(i);
    if (found != 0) return i * 8 + std::countl_zero(static_cast<unsigned char>(found));
  }
  return -1;
}

}  // namespace

void bitcount(Context& context) {
  const engine::Item* const item = context.db->find(context.key(1), context.now);
  // As Redis 7.0 does, a missing key is answered before the arguments are looked at.
  if (item == nullptr) return context.reply.integer(0);
  const std::string_view value = item->value();
  const std::size_t n = context.args.size();
  if (n == 2) return context.reply.integer(count_whole_bytes(value));
  if (n != 4 && n != 5) return context.reply.error(kSyntaxError);
  const auto start = integer_argument(context, 2);
  if (!start) return;
  const auto end = integer_argument(context, 3);
  if (!end) return;
  // Crossed before the front: empty. BITPOS clamps such a part to the first byte instead; and
  // as in Redis 7.0 the unit is not looked at then.
  if (*start < 0 && *end < 0 && *start > *end) return context.reply.integer(0);
  const auto in_bits = n == 5 ? unit_is_bit(context, 4) : std::optional(false);
  if (!in_bits) return;
  const auto bytes = static_cast<std::int64_t>(value.size());
  context.reply.integer(count(value, part_of(bytes, *start, *end, *in_bits)));
}

void bitpos(Context& context) {
  const auto bit = integer_argument(context, 2);
  if (!bit) return;
  if (*bit != 0 && *bit != 1) return context.reply.error("ERR The bit argument must be 1 or 0.");
  const engine::Item* const item = context.db->find(context.key(1), context.now);
  if (item == nullptr) return context.reply.integer(*bit == 1 ? -1 : 0);
  const std::size_t n = context.args.size();
  if (n > 6) return context.reply.error(kSyntaxError);
  const auto start = n > 3 ? integer_argument(context, 3) : std::optional<std::int64_t>(0);
  if (!start) return;
  const auto in_bits = n == 6 ? unit_is_bit(context, 5) : std::optional(false);
  if (!in_bits) return;
  const auto end = n > 4 ? integer_argument(context, 4) : std::optional<std::int64_t>(-1);
  if (!end) return;
  const std::string_view value = item->value();
  const auto bytes = static_cast<std::int64_t>(value.size());
  const Part part = part_of(bytes, *start, *end, *in_bits);
  if (part.empty()) return context.reply.integer(-1);
  std::int64_t position = find_bit(value, part, *bit == 1);
  // Without an end the value counts as followed by zeros for ever.
  if (position < 0 && *bit == 0 && n < 5) position = bytes * 8;
  context.reply.integer(position);
}

}  // namespace nidus::command
