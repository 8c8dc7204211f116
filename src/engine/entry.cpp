// SPDX-License-Identifier: Apache-2.0

// An entry: exclusive access to one key, its only way to be changed. See keyspace.hpp.

#include <new>

#include "engine/keyspace.hpp"

namespace nidus::engine {

Entry::Entry(Database& database, KeyRef key, Millis now)
    : database_(database), key_(key), now_(now), locked_(database.index_, key.hash, key.bytes) {
  item_ = locked_.item();
  if (item_ == nullptr || !item_->expired(now)) return;
  const Item* expired = item_;
  item_ = nullptr;
  locked_.erase();
  database_.keyspace_.removed(database_, key_, expired, Mutation::Kind::kExpired);
}

Entry::~Entry() = default;

/// A new item for this key, nullptr when the system has no memory for it.
Item* Entry::prepare(std::size_t value_bytes, Millis expires_at) {
  Keyspace& keyspace = database_.keyspace_;
  const Policy policy = keyspace.policy();
  // An overwritten key keeps how often it was used; when it was used is now.
  const std::uint32_t access =
      item_ != nullptr && is_lfu(policy)
          ? touched_access(policy, item_->access(), now_, key_.hash ^ item_->access())
          : initial_access(policy, now_);
  try {
    return Item::create(key_.bytes, value_bytes, expires_at, access);
  } catch (const std::bad_alloc&) {
    keyspace.counters_.out_of_memory.add(1);
    return nullptr;
  }
}

WriteStatus Entry::publish(Item* fresh) {
  Keyspace& keyspace = database_.keyspace_;
  const Item* old = item_;
  if (!locked_.put(fresh)) {
    Item::destroy(fresh);
    return WriteStatus::kNoPlace;
  }
  item_ = fresh;
  keyspace.memory_.add_items(static_cast<std::int64_t>(fresh->allocated_bytes()));
  keyspace.counters_.writes.add(1);
  keyspace.changed(database_, key_, Mutation::Kind::kSet, fresh);
  if (old != nullptr) keyspace.discard(old);
  return WriteStatus::kOk;
}

WriteStatus Entry::set(std::string_view value, Millis expires_at) {
  return set_with(value.size(), expires_at,
                  [value](char* bytes) { value.copy(bytes, value.size()); });
}

WriteStatus Entry::set_expiry(Millis expires_at) {
  if (item_->expires_at() == expires_at) return WriteStatus::kOk;
  const std::string_view value = item_->value();
  return set_with(value.size(), expires_at,
                  [value](char* bytes) { value.copy(bytes, value.size()); });
}

bool Entry::erase() {
  if (item_ == nullptr) return false;
  const Item* old = item_;
  item_ = nullptr;
  locked_.erase();
  database_.keyspace_.counters_.writes.add(1);
  database_.keyspace_.removed(database_, key_, old, Mutation::Kind::kErase);
  return true;
}

}  // namespace nidus::engine
