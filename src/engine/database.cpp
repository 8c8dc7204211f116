// SPDX-License-Identifier: Apache-2.0

// A database: reads with exact expiry, scans, clearing, the explanation of a key. See keyspace.hpp.

#include <array>
#include <bit>
#include <chrono>

#include "engine/keyspace.hpp"

namespace nidus::engine {
namespace {

std::uint64_t hash_key(const void* keyspace, std::string_view key) {
  return static_cast<const Keyspace*>(keyspace)->hash(key);
}

std::uint64_t remix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15ull;
  return x ^ (x >> 29);
}

}  // namespace

Database::Database(Keyspace& keyspace, int group, int number)
    : keyspace_(keyspace),
      group_(group),
      number_(number),
      index_({&keyspace, hash_key}, keyspace.memory()) {}

const Item* Database::seen(const Item* item, KeyRef key, Millis now, Touch touch) {
  if (item != nullptr && item->expired(now)) {
    remove_expired(key, now);
    item = nullptr;
  }
  if (touch == Touch::kNo) return item;
  if (item == nullptr) {
    keyspace_.counters_.misses.add(1);
    return nullptr;
  }
  keyspace_.counters_.hits.add(1);
  const std::uint32_t before = item->access();
  const std::uint32_t after = touched_access(keyspace_.policy(), before, now,
                                             remix(key.hash + static_cast<std::uint64_t>(now)));
  if (after != before) item->set_access(after);  // else the line stays clean
  return item;
}

const Item* Database::find(KeyRef key, Millis now, Touch touch) {
  return seen(index_.find(key.hash, key.bytes), key, now, touch);
}

void Database::find_batch(std::span<const KeyRef> keys, Millis now, std::span<const Item*> out,
                          Touch touch) {
  index_.find_batch(keys, out);
  for (std::size_t i = 0; i < keys.size(); ++i) out[i] = seen(out[i], keys[i], now, touch);
}

/// Only tries: a reader never waits for a writer.
void Database::remove_expired(KeyRef key, Millis now) {
  Index::Locked locked(index_, key.hash, key.bytes, std::try_to_lock);
  if (!locked.held() || locked.item() == nullptr || !locked.item()->expired(now)) return;
  const Item* expired = locked.item();
  locked.erase();
  keyspace_.removed(*this, key, expired, Mutation::Kind::kExpired);
}

std::uint64_t Database::scan(std::uint64_t cursor, std::size_t count, Millis now,
                             const std::function<void(const Item&)>& visit) {
  std::vector<const Item*> items;
  const std::uint64_t next = index_.collect(cursor, count, items);
  for (const Item* item : items) {
    if (!item->expired(now)) visit(*item);
  }
  return next;
}

const Item* Database::random_item(std::uint64_t random, Millis now) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    random = remix(random + static_cast<std::uint64_t>(i));
    const Item* item = index_.random_item(random);
    if (item == nullptr || !item->expired(now)) return item;
  }
  return nullptr;
}

void Database::clear() {
  std::vector<Segment*> segments;
  {
    const std::array<Index*, 1> whole{&index_};
    const Index::LockSet locks(whole);
    // A watched key that is not there does not change.
    keyspace_.watches_.touch_all(number_, [this](std::string_view key, std::uint64_t hash) {
      return index_.find(hash, key) != nullptr;
    });
    segments = index_.detach_all();
    // acquire: pairs with set_sink()
    if (MutationSink* sink = keyspace_.sink_.load(std::memory_order_acquire)) {
      sink->apply({Mutation::Kind::kClear, group_, number_, {}, {}, kNoExpiry});
    }
  }
  keyspace_.bury(std::move(segments));
}

Explanation Database::explain(std::string_view bytes, Millis now) {
  using Clock = std::chrono::steady_clock;
  const auto ns = [](Clock::duration d) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
  };
  const auto start = Clock::now();
  const KeyRef key = keyspace_.key(bytes);
  const auto hashed = Clock::now();
  const Probe probe = index_.probe(key.hash, key.bytes);
  const auto probed = Clock::now();
  const Item* item = find(key, now, Touch::kNo);
  Explanation why;
  why.hash = key.hash;
  why.tag = Geometry::tag(key.hash);
  why.directory_index = probe.directory_index;
  why.directory_bits = probe.directory_bits;
  why.bucket1 = probe.bucket1;
  why.bucket2 = probe.bucket2;
  why.segment_buckets = probe.segment_buckets;
  why.segment_keys = probe.segment_keys;
  why.tag_matches1 = probe.matches1;
  why.tag_matches2 = probe.matches2;
  why.second_bucket_read = probe.second_read;
  if (item != nullptr && item == probe.item) {
    why.bucket = probe.bucket;
    why.slot = probe.slot;
    why.item = item;
    why.score = score(keyspace_.policy(), *item, now, 0).value_or(0);
  }
  why.hash_ns = ns(hashed - start);
  why.bucket_ns = ns(probed - hashed);
  why.item_ns = ns(Clock::now() - probed);
  return why;
}

}  // namespace nidus::engine
