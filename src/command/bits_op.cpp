// SPDX-License-Identifier: Apache-2.0

// BITOP: the bits of several values combined into one. A shorter value counts as followed by zeros;
// so does a missing key.

#include <algorithm>
#include <cstring>
#include <vector>

#include "command/arguments.hpp"
#include "command/bits_handlers.hpp"

namespace nidus::command {
namespace {

enum class Operation { kAnd, kOr, kXor, kNot };

std::optional<Operation> find_operation(std::string_view name) {
  if (is_word(name, "and")) return Operation::kAnd;
  if (is_word(name, "or")) return Operation::kOr;
  if (is_word(name, "xor")) return Operation::kXor;
  if (is_word(name, "not")) return Operation::kNot;
  return std::nullopt;
}

/// to[i] = combine(to[i], from[i]), eight bytes at a time.
template <class Combine>
void combine_bytes(char* to, std::string_view from, Combine&& combine) {
  std::size_t i = 0;
  for (; i + 8 <= from.size(); i += 8) {
    std::uint64_t x, y;
    std::memcpy(&x, to + i, 8);
    std::memcpy(&y, from.data() + i, 8);
    x = combine(x, y);
    std::memcpy(to + i, &x, 8);
  }
  for (; i < from.size(); ++i) {
    const auto byte = [](char c) { return std::uint64_t{static_cast<unsigned char>(c)}; };
    to[i] = static_cast<char>(combine(byte(to[i]), byte(from[i])));
  }
}

/// Writes the result of `size` bytes, the size of the longest value. Requires: values is not empty.
void combine_values(Operation operation, const std::vector<std::string_view>& values, char* to,
                    std::size_t size) {
  const std::string_view first = values.front();
  if (!first.empty()) std::memcpy(to, first.data(), first.size());
  std::memset(to + first.size(), 0, size - first.size());
  if (operation == Operation::kNot) {
    return combine_bytes(to, first, [](std::uint64_t, std::uint64_t y) { return ~y; });
  }
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::string_view value = values[i];
    switch (operation) {
      case Operation::kAnd:
        combine_bytes(to, value, [](std::uint64_t x, std::uint64_t y) { return x & y; });
        std::memset(to + value.size(), 0, size - value.size());
        break;
      case Operation::kOr:
        combine_bytes(to, value, [](std::uint64_t x, std::uint64_t y) { return x | y; });
        break;
      default:
        combine_bytes(to, value, [](std::uint64_t x, std::uint64_t y) { return x ^ y; });
    }
  }
}

}  // namespace

void bitop(Context& context) {
  const auto operation = find_operation(context.arg(1));
  if (!operation) return context.reply.error(kSyntaxError);
  if (*operation == Operation::kNot && context.args.size() != 4) {
    return context.reply.error("ERR BITOP NOT must be called with a single source key.");
  }
  const CommandLocks locks(context);
  std::vector<std::string_view> values;
  std::size_t size = 0;
  for (std::size_t i = 3; i < context.args.size(); ++i) {
    const engine::Item* const item = context.db->find(context.key(i), context.now);
    values.push_back(item != nullptr ? item->value() : std::string_view());
    size = std::max(size, values.back().size());
  }
  engine::Entry entry = context.db->lock(context.key(2), context.now);
  if (size == 0) {
    if (entry.item() != nullptr) entry.erase();
    return context.reply.integer(0);
  }
  const auto status = entry.set_with(
      size, engine::kNoExpiry, [&](char* to) { combine_values(*operation, values, to, size); });
  if (succeeded(context, status)) context.reply.integer(static_cast<std::int64_t>(size));
}

}  // namespace nidus::command
