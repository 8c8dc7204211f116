// SPDX-License-Identifier: Apache-2.0
#pragma once

// The maps of the table behind one face: u64 -> u64, insert, and the sum of the values found, plainly
// and, where a map has it, in batches.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <nidus/map/cuckoo_map.hpp>

#if NIDUS_HAVE_BOOST_FLAT
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/version.hpp>
#endif
#if NIDUS_HAVE_ABSL
#include <absl/base/config.h>
#include <absl/container/flat_hash_map.h>
#endif
#if NIDUS_HAVE_LIBCUCKOO
#include <libcuckoo/cuckoohash_map.hh>
#endif

namespace nidus::bench {

using Keys = std::span<const std::uint64_t>;

/// Maps with the standard vocabulary.
template <class Map>
struct Standard {
  static constexpr bool kBatches = false;
  double most = 0.86;  // the load that it can hold without growing
  Map map;

  void reserve(std::uint64_t slots) {
    map.reserve(static_cast<std::size_t>(0.8 * static_cast<double>(slots)));
  }
  void insert(std::uint64_t key, std::uint64_t value) { map.try_emplace(key, value); }
  std::uint64_t sum(Keys keys) const {
    std::uint64_t total = 0;
    for (const std::uint64_t key : keys) {
      if (const auto at = map.find(key); at != map.end()) total += at->second;
    }
    return total;
  }
};

template <class Policy>
struct Nidus : Standard<CuckooMap<std::uint64_t, std::uint64_t, Policy>> {
  static constexpr bool kBatches = true;

  void reserve(std::uint64_t slots) {
    this->most = 1;
    this->map.max_load_factor(1);
    this->map.reserve(slots);
  }
  std::uint64_t sum_batch(Keys keys) const {
    constexpr std::size_t kBatch = 512;
    std::array<const std::uint64_t*, kBatch> found;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < keys.size(); i += kBatch) {
      const Keys chunk = keys.subspan(i, std::min(kBatch, keys.size() - i));
      this->map.find_batch(chunk, std::span(found));
      for (std::size_t k = 0; k < chunk.size(); ++k) total += found[k] != nullptr ? *found[k] : 0;
    }
    return total;
  }
};

#if NIDUS_HAVE_LIBCUCKOO
struct Libcuckoo {
  static constexpr bool kBatches = false;
  double most = 0.95;
  libcuckoo::cuckoohash_map<std::uint64_t, std::uint64_t> map;

  void reserve(std::uint64_t slots) { map.reserve(slots); }
  void insert(std::uint64_t key, std::uint64_t value) { map.insert(key, value); }
  std::uint64_t sum(Keys keys) const {
    std::uint64_t total = 0, value = 0;
    for (const std::uint64_t key : keys) {
      if (map.find(key, value)) total += value;
    }
    return total;
  }
};
#endif

/// Calls visit<Map>(name) for every map of the table.
template <class Visit>
void for_each_map(Visit visit) {
  visit.template operator()<Nidus<map::MapPolicy>>("nidus, 8 slots");
  visit.template operator()<Nidus<map::FourSlots>>("nidus, 4 slots");
#if NIDUS_HAVE_BOOST_FLAT
  visit.template operator()<Standard<boost::unordered_flat_map<std::uint64_t, std::uint64_t>>>(
      "boost flat " BOOST_LIB_VERSION);
#endif
#if NIDUS_HAVE_ABSL
  visit.template operator()<Standard<absl::flat_hash_map<std::uint64_t, std::uint64_t>>>(
      "absl flat " + std::to_string(ABSL_LTS_RELEASE_VERSION));
#endif
#if NIDUS_HAVE_LIBCUCKOO
  visit.template operator()<Libcuckoo>("libcuckoo 0.3.1");
#endif
  visit.template operator()<Standard<std::unordered_map<std::uint64_t, std::uint64_t>>>(
      "std::unordered_map");
}

}  // namespace nidus::bench
