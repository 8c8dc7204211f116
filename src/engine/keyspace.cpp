// SPDX-License-Identifier: Apache-2.0

// The keyspace: its secret hash, its counters, and what every change of a key has in common
// (watchers, the mutation sink, the account, reclaiming). Entries are in entry.cpp, databases in
// database.cpp, victims in eviction.cpp, the background's work in maintenance.cpp.

#include "engine/keyspace.hpp"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/thread.hpp"

namespace nidus::engine {
namespace {

constexpr std::size_t kSecretBytes = XXH3_SECRET_DEFAULT_SIZE;

/// Without a given seed nobody outside can know which keys collide.
std::unique_ptr<unsigned char[]> make_secret(std::uint64_t seed) {
  std::array<std::uint32_t, 16> material{};
  if (seed != 0) {
    material[0] = static_cast<std::uint32_t>(seed);
    material[1] = static_cast<std::uint32_t>(seed >> 32);
  } else {
    std::random_device device;
    for (auto& word : material) word = device();
  }
  auto secret = std::make_unique<unsigned char[]>(kSecretBytes);
  XXH3_generateSecret(secret.get(), kSecretBytes, material.data(), sizeof material);
  return secret;
}

}  // namespace

Keyspace::Keyspace(const KeyspaceOptions& options)
    : policy_(options.policy), sink_(options.sink), secret_(make_secret(options.seed)) {
  memory_.set_limit(options.memory_limit_bytes);
  for (int i = 0; i < kDatabases; ++i) {
    databases_[static_cast<std::size_t>(i)] = std::make_unique<Database>(*this, 0, i);
  }
}

Keyspace::~Keyspace() {
  for (auto& database : databases_) {
    database->index_.for_each_segment(0, [this](Segment& segment) {
      for (std::uint64_t b = 0; b <= segment.bucket_mask; ++b) {
        for (unsigned s = 0; s < Segment::kSlots; ++s) {
          const std::uint64_t word = segment.buckets[b].load(s);
          if (slot_word::tag(word) != 0) Item::destroy(slot_word::item(word));
        }
      }
      return true;
    });
  }
  for (Detached& detached : detached_) {
    for (Segment* segment : detached.segments) free_segment(segment);
  }
}

std::uint64_t Keyspace::hash(std::string_view bytes) const {
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret_.get(), kSecretBytes);
}

KeyspaceStats Keyspace::stats() const {
  const auto count = [](const sync::ShardedCounter& counter) {
    return static_cast<std::uint64_t>(counter.sum());
  };
  return {.hits = count(counters_.hits),
          .misses = count(counters_.misses),
          .expired = count(counters_.expired),
          .evicted = count(counters_.evicted),
          .writes = count(counters_.writes),
          .out_of_memory = count(counters_.out_of_memory)};
}

void Keyspace::reset_stats() {
  for (auto* counter : {&counters_.hits, &counters_.misses, &counters_.expired, &counters_.evicted,
                        &counters_.writes, &counters_.out_of_memory}) {
    counter->reset();
  }
}

/// Every change passes here, under the key's stripe. `item` is the new one, for kSet.
void Keyspace::changed(const Database& database, KeyRef key, Mutation::Kind kind,
                       const Item* item) {
  watches_.touch(database.number_, key.bytes, key.hash);
  if (kind == Mutation::Kind::kExpired) counters_.expired.add(1);
  if (kind == Mutation::Kind::kEvicted) counters_.evicted.add(1);
  // acquire: pairs with set_sink(): the sink is complete
  MutationSink* sink = sink_.load(std::memory_order_acquire);
  if (sink == nullptr) return;
  Mutation mutation{.kind = kind,
                    .group = database.group_,
                    .database = database.number_,
                    .key = key.bytes,
                    .value = {},
                    .expires_at = kNoExpiry};
  if (item != nullptr) {
    mutation.value = item->value();
    mutation.expires_at = item->expires_at();
  }
  sink->apply(mutation);
}

/// A key has left the index, for one of the reasons there are: told, then its item given back.
void Keyspace::removed(const Database& database, KeyRef key, const Item* item,
                       Mutation::Kind kind) {
  changed(database, key, kind, nullptr);
  discard(item);
}

/// Gives an item back that no new reader can find any more.
void Keyspace::discard(const Item* item) {
  const std::size_t bytes = item->allocated_bytes();
  memory_.add_items(-static_cast<std::int64_t>(bytes));
  retire(const_cast<Item*>(item), bytes,
         [](void* object) { Item::destroy(static_cast<Item*>(object)); });
}

KeyLocks::KeyLocks(std::span<const Target> targets)
    : locks_([targets] {
        std::vector<Index::LockSet::Target> stripes;
        stripes.reserve(targets.size());
        for (const Target& target : targets) {
          stripes.push_back({&target.database->index(), target.hash});
        }
        return stripes;
      }()) {}

KeyLocks::KeyLocks(std::span<Database* const> databases)
    : locks_([databases] {
        std::vector<Index*> whole;
        whole.reserve(databases.size());
        for (Database* database : databases) whole.push_back(&database->index());
        return whole;
      }()) {}

KeyLocks::~KeyLocks() = default;

}  // namespace nidus::engine
