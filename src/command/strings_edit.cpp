// SPDX-License-Identifier: Apache-2.0

// APPEND, SETRANGE, GETRANGE, STRLEN: parts of a value. A stored value never changes in place (its
// readers hold no lock), so a write of a part costs a copy of the whole.

#include <algorithm>
#include <cstring>

#include "command/arguments.hpp"
#include "command/strings_handlers.hpp"

namespace nidus::command {
namespace {

using engine::Entry;
using engine::Item;
using engine::kNoExpiry;

std::string_view value_of(const Item* item) {
  return item != nullptr ? item->value() : std::string_view();
}

void copy_to(char* to, std::string_view bytes) {
  // memcpy's pointers may not be null, not even for nothing.
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

/// The value with `patch` over it at `offset`, zeros between its end and the patch.
void write_patched(char* to, std::string_view value, std::size_t offset, std::string_view patch) {
  copy_to(to, value.substr(0, offset));
  if (offset > value.size()) std::memset(to + value.size(), 0, offset - value.size());
  copy_to(to + offset, patch);
  const std::size_t behind = offset + patch.size();
  if (behind < value.size()) copy_to(to + behind, value.substr(behind));
}

void write_at(Context& context, Entry& entry, std::size_t offset, std::string_view patch) {
  const Item* const item = entry.item();
  const std::string_view value = value_of(item);
  const std::size_t bytes = std::max(value.size(), offset + patch.size());
  const engine::Millis expires_at = item != nullptr ? item->expires_at() : kNoExpiry;
  const auto status =
      entry.set_with(bytes, expires_at, [&](char* to) { write_patched(to, value, offset, patch); });
  if (succeeded(context, status)) context.reply.integer(static_cast<std::int64_t>(bytes));
}

}  // namespace

void append(Context& context) {
  Entry entry = context.db->lock(context.key(1), context.now);
  const std::size_t old_bytes = value_of(entry.item()).size();
  if (!value_fits(context, std::uint64_t{old_bytes} + context.arg(2).size())) return;
  write_at(context, entry, old_bytes, context.arg(2));
}

void strlen(Context& context) {
  const Item* const item = context.db->find(context.key(1), context.now);
  context.reply.integer(static_cast<std::int64_t>(value_of(item).size()));
}

void getrange(Context& context) {
  const auto from = integer_argument(context, 2);
  if (!from) return;
  const auto to = integer_argument(context, 3);
  if (!to) return;
  const std::string_view value = value_of(context.db->find(context.key(1), context.now));
  const auto size = static_cast<std::int64_t>(value.size());
  // Both behind the front end and crossed: empty, before they are clamped to the first byte.
  if (*from < 0 && *to < 0 && *from > *to) return context.reply.bulk({});
  const std::int64_t first = std::max<std::int64_t>(*from < 0 ? *from + size : *from, 0);
  const std::int64_t last =
      std::min(std::max<std::int64_t>(*to < 0 ? *to + size : *to, 0), size - 1);
  if (first > last) return context.reply.bulk({});
  context.reply.bulk(
      value.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)));
}

void setrange(Context& context) {
  const auto offset = integer_argument(context, 2);
  if (!offset) return;
  if (*offset < 0) return context.reply.error("ERR offset is out of range");
  const std::string_view patch = context.arg(3);
  Entry entry = context.db->lock(context.key(1), context.now);
  if (patch.empty()) {
    return context.reply.integer(static_cast<std::int64_t>(value_of(entry.item()).size()));
  }
  const auto at = static_cast<std::uint64_t>(*offset);
  if (!value_fits(context, at + patch.size())) return;
  write_at(context, entry, at, patch);
}

}  // namespace nidus::command
