// SPDX-License-Identifier: Apache-2.0

// A set of 48-bit numbers of fixed size, made of the library's parts: two choices a key
// (map/geometry.hpp), a bucket searched by one vector compare (lanes/slots.hpp), and the shortest
// displacement path when both buckets are full (map/path_search.hpp). It fills the set until the
// first key finds no place and prints how full it was: with two choices and eight slots a bucket,
// well over 90 %.

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <xxhash.h>

#include <nidus/lanes/slots.hpp>
#include <nidus/map/geometry.hpp>
#include <nidus/map/path_search.hpp>

namespace {

using nidus::lanes::Slots;
using nidus::map::Geometry;

class NumberSet {
 public:
  static constexpr unsigned kSlots = nidus::lanes::kSlotsPerBucket;

  /// Requires: a power of two, at least 2.
  explicit NumberSet(std::uint64_t buckets) : mask_(buckets - 1), buckets_(buckets) {}

  bool contains(std::uint64_t number) const {
    const Home home = home_of(number);
    return holds(home.bucket1, home, number) || holds(home.bucket2, home, number);
  }

  /// False if no path leads to an empty slot; the set is then unchanged.
  bool insert(std::uint64_t number) {
    if (contains(number)) return true;
    const Home home = home_of(number);
    const nidus::map::Path path = nidus::map::find_path(*this, home.bucket1, home.bucket2);
    if (path.length == 0) return false;
    for (std::size_t i = path.length - 1; i > 0; --i) {  // from the empty end
      word(path.places[i]) = word(path.places[i - 1]);
    }
    word(path.places[0]) = (std::uint64_t{home.tag} << nidus::lanes::kTagShift) | number;
    return true;
  }

  std::size_t slots() const { return buckets_.size() * kSlots; }

  // The view that find_path() searches.
  int empty_slot(std::uint64_t bucket) const {
    const unsigned empty = Slots::match(buckets_[bucket].words.data(), 0);
    return empty == 0 ? -1 : std::countr_zero(empty);
  }
  std::uint64_t alternate(std::uint64_t bucket, unsigned slot) const {
    const std::uint64_t resident = buckets_[bucket].words[slot];
    const auto tag = static_cast<std::uint16_t>(resident >> nidus::lanes::kTagShift);
    return Geometry::alternate(bucket, tag, mask_);
  }

 private:
  struct alignas(nidus::kCacheLineBytes) Bucket {
    std::array<std::uint64_t, kSlots> words = {};
  };
  struct Home {
    std::uint64_t bucket1, bucket2;
    std::uint16_t tag;
  };

  Home home_of(std::uint64_t number) const {
    const std::uint64_t hash = XXH3_64bits(&number, sizeof number);
    const std::uint16_t tag = Geometry::tag(hash);
    const std::uint64_t bucket = Geometry::bucket(hash, mask_);
    return {bucket, Geometry::alternate(bucket, tag, mask_), tag};
  }
  bool holds(std::uint64_t bucket, const Home& home, std::uint64_t number) const {
    const auto& words = buckets_[bucket].words;
    const std::uint64_t wanted = (std::uint64_t{home.tag} << nidus::lanes::kTagShift) | number;
    for (unsigned found = Slots::match(words.data(), home.tag); found != 0; found &= found - 1) {
      if (words[static_cast<unsigned>(std::countr_zero(found))] == wanted) return true;
    }
    return false;
  }
  std::uint64_t& word(nidus::map::Place place) { return buckets_[place.bucket].words[place.slot]; }

  std::uint64_t mask_;
  std::vector<Bucket> buckets_;
};

}  // namespace

int main() {
  NumberSet set(4096);
  std::uint64_t keys = 0;
  while (set.insert(keys)) ++keys;
  for (std::uint64_t number = 0; number < keys; ++number) {
    if (!set.contains(number)) {
      std::printf("lost %llu\n", static_cast<unsigned long long>(number));
      return 1;
    }
  }
  const double load = 100.0 * static_cast<double>(keys) / static_cast<double>(set.slots());
  std::printf("%llu keys in %zu slots: %.1f %% full, none lost\n",
              static_cast<unsigned long long>(keys), set.slots(), load);
  return load > 90.0 ? 0 : 1;
}
