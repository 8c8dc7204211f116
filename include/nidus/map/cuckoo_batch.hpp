// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many look-ups at once, so that their memory accesses overlap: while one chunk of keys is compared,
// the first buckets of the next are on their way, and so are the second buckets of those few keys
// that need them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace nidus::map {

inline constexpr std::size_t kBatchChunk = 32;  // some 30 lines in flight saturate a core

/// Calls done(i, bucket, slot) for every keys[i], slot < 0 when it is absent, in no fixed order.
template <class Table, class Key, class Done>
void look_up_batch(const Table& table, std::span<const Key> keys, Done done) {
  struct Late {
    std::uint64_t bucket;
    std::uint64_t hash;
    std::size_t key;
  };
  std::array<std::array<std::uint64_t, kBatchChunk>, 2> hashes;
  std::array<Late, kBatchChunk> late;
  std::size_t late_count = 0;

  const auto announce = [&](std::size_t begin, auto& into) {
    const std::size_t end = std::min(begin + kBatchChunk, keys.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t hash = table.hash(keys[i]);
      into[i - begin] = hash;
      table.prefetch(table.first(hash));
    }
  };
  const auto look_late = [&] {
    for (std::size_t i = 0; i < late_count; ++i) {
      const auto found = table.find_in(late[i].bucket, true, keys[late[i].key], late[i].hash);
      done(late[i].key, found.bucket, found.slot);
    }
    late_count = 0;
  };

  announce(0, hashes[0]);
  for (std::size_t begin = 0, turn = 0; begin < keys.size(); begin += kBatchChunk, turn ^= 1) {
    announce(begin + kBatchChunk, hashes[turn ^ 1]);
    look_late();
    const std::size_t end = std::min(begin + kBatchChunk, keys.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t hash = hashes[turn][i - begin];
      const auto found = table.find_in(table.first(hash), false, keys[i], hash);
      if (found.slot < 0 && table.overflows(hash)) [[unlikely]] {
        late[late_count++] = {table.second(hash), hash, i};
        table.prefetch(late[late_count - 1].bucket);
      } else {
        done(i, found.bucket, found.slot);
      }
    }
  }
  look_late();
}

}  // namespace nidus::map
