// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cuckoo filter: a table of tags, each in one of the two buckets of its key, so that a key can be
// taken out again. An insert into two full buckets looks for a short way of moves before it writes
// anything; one that fails has changed nothing. Layout and theory: docs/algorithms/cuckoo_filter.md

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nidus/base/error.hpp>
#include <nidus/filter/cuckoo_places.hpp>
#include <nidus/filter/filter.hpp>
#include <nidus/filter/image.hpp>
#include <nidus/filter/packed_tags.hpp>
#include <nidus/filter/sizing.hpp>

namespace nidus::filter {

/// How the layers of a chain refine their first: bits of the bucket and of the tag beyond the root's
/// (cuckoo_places.hpp). A filter by itself has none.
struct CuckooRefinement {
  unsigned split = 0, longer = 0;
  friend bool operator==(const CuckooRefinement&, const CuckooRefinement&) = default;
};

class CuckooFilter {
 public:
  static constexpr Kind kKind = Kind::kCuckoo;

  /// An odd number of buckets is rounded up. `shape` is the root's where a refinement is given.
  /// Requires: buckets >= 1, bucket_slots 2, 4 or 8, tag_bits (with the refinement) 4 to 32, split
  /// below 32. Errors: std::bad_alloc
  explicit CuckooFilter(CuckooShape shape, CuckooRefinement refinement = {})
      : root_(even(shape)),
        refinement_(refinement),
        places_(root_.buckets, root_.tag_bits, refinement.split, refinement.longer),
        tags_(places_.buckets(), root_.bucket_slots, root_.tag_bits + refinement.longer) {}

  /// kAdded, kTooManyCopies (all 2b slots of the key hold its tag) or kFull; all but kAdded leave the
  /// filter bit for bit what it was. Cost: two lines; near full load also those of the moves
  Insert insert(KeyHash key) {
    const CuckooPlace place = places_.place(key);
    if (put(place.first, place.tag) || put(place.second, place.tag)) return Insert::kAdded;
    if (copies(place) == 2 * root_.bucket_slots) return Insert::kTooManyCopies;
    return make_room(place) ? Insert::kAdded : Insert::kFull;
  }

  /// Takes one copy out; false if there is none. Cost: two lines
  bool erase(KeyHash key) {
    const CuckooPlace place = places_.place(key);
    for (const std::uint64_t bucket : {place.first, place.second}) {
      const unsigned slot = tags_.find(bucket, place.tag);
      if (slot == root_.bucket_slots) continue;
      tags_.set(bucket, slot, kEmpty);
      --count_;
      return true;
    }
    return false;
  }

  /// Cost: one or two lines of a present key, two of an absent one
  bool may_contain(KeyHash key) const { return test(places_.place(key)); }

  template <class Key>
  void may_contain_batch(std::span<const Key> keys, std::span<bool> out) const {
    assert(out.size() == keys.size());
    if (keys.empty()) return;
    struct Probe {
      std::uint64_t first, second, pattern;
    };
    pipelined(
        keys, out,
        [this](KeyHash key) {
          const CuckooPlace place = places_.place(key);
          const std::uint64_t first = tags_.position(place.first);
          tags_.prefetch(first);
          const std::uint64_t second = tags_.position(place.second);
          tags_.prefetch(second);
          return Probe{first, second, tags_.pattern(place.tag)};
        },
        // Both lines are on their way: a branch on the first answer would only be guessed wrong.
        [this](const Probe& probe) {
          return static_cast<bool>(int{tags_.holds(probe.first, probe.pattern)} |
                                   int{tags_.holds(probe.second, probe.pattern)});
        });
  }
  void may_contain_batch(std::span<const KeyHash> keys, std::span<bool> out) const {
    may_contain_batch<KeyHash>(keys, out);
  }

  /// Slots that hold the key's tag: its copies and those of its twins.
  unsigned copies(KeyHash key) const { return copies(places_.place(key)); }

  void clear() {
    tags_.words().clear();
    count_ = 0;
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t bits() const { return slots() * tag_bits(); }
  std::uint64_t slots() const { return places_.buckets() * root_.bucket_slots; }
  unsigned tag_bits() const { return root_.tag_bits + refinement_.longer; }
  double load() const { return static_cast<double>(count_) / static_cast<double>(slots()); }
  /// A tag longer by x bits has (2^f - 1) x 2^x values: each bit halves the root's rate.
  double expected_fpr() const {
    return std::ldexp(cuckoo_fpr(root_, load()), -int(refinement_.longer));
  }
  /// The root's shape (the filter's own where there is no refinement).
  CuckooShape shape() const { return root_; }
  CuckooRefinement refinement() const { return refinement_; }
  const CuckooPlaces& places() const { return places_; }
  /// The tag in this slot; 0 if it is empty.
  std::uint32_t tag(std::uint64_t bucket, unsigned slot) const { return tags_.get(bucket, slot); }

  void save(std::string& out) const {
    write_image(out, kKind,
                {root_.buckets, root_.bucket_slots, root_.tag_bits, refinement_.split,
                 refinement_.longer, count_},
                tags_.words().bytes());
  }
  static Expected<CuckooFilter> load(std::string_view bytes);
  friend bool operator==(const CuckooFilter&, const CuckooFilter&) = default;

 private:
  static constexpr std::uint32_t kEmpty = 0;
  // Buckets that an insert looks through for a free slot. At 95 % of b = 4 an insert looks at some ten,
  // the last before the threshold at hundreds; a full table gives up after some 20 us.
  static constexpr std::size_t kMaxSearch = 1024;
  static constexpr unsigned kMaxSplit = 31;

  static CuckooShape even(CuckooShape shape) {
    shape.buckets += shape.buckets % 2;
    return shape;
  }
  bool put(std::uint64_t bucket, std::uint32_t tag) {
    const unsigned slot = tags_.find(bucket, kEmpty);
    if (slot == root_.bucket_slots) return false;
    tags_.set(bucket, slot, tag);
    ++count_;
    return true;
  }
  bool test(const CuckooPlace& place) const {
    return tags_.contains(place.first, place.tag) || tags_.contains(place.second, place.tag);
  }
  unsigned copies(const CuckooPlace& place) const {
    return tags_.copies(place.first, place.tag) + tags_.copies(place.second, place.tag);
  }
  bool make_room(const CuckooPlace& place);

  CuckooShape root_;
  CuckooRefinement refinement_;
  CuckooPlaces places_;
  PackedTags tags_;
  std::uint64_t count_ = 0;
};

/// Breadth first from the key's two full buckets: where each tag could go, until one could go to a
/// free slot. Then the moves from the far end on, so that no tag is ever without a slot.
/// Invariant: a shortest way visits no bucket twice (the part between would be a detour), so no move
/// changes what a later one takes.
inline bool CuckooFilter::make_room(const CuckooPlace& place) {
  struct Step {
    std::uint64_t bucket;  // full
    std::uint16_t from;    // the step whose tag would come here; itself for the first two
    std::uint8_t slot;     // of that tag
  };
  Step steps[kMaxSearch];
  std::size_t known = 0;
  steps[known++] = {place.first, 0, 0};
  steps[known++] = {place.second, 1, 0};
  for (std::size_t at = 0; at < known; ++at) {
    for (unsigned slot = 0; slot < root_.bucket_slots; ++slot) {
      const std::uint32_t tag = tags_.get(steps[at].bucket, slot);
      const std::uint64_t target = places_.alternate(steps[at].bucket, tag);
      unsigned free = tags_.find(target, kEmpty);
      if (free == root_.bucket_slots) {
        if (known == kMaxSearch) continue;
        steps[known++] = {target, static_cast<std::uint16_t>(at), static_cast<std::uint8_t>(slot)};
        continue;
      }
      std::uint64_t to = target;
      unsigned taken = slot;
      for (std::size_t step = at;; step = steps[step].from) {
        tags_.set(to, free, tags_.get(steps[step].bucket, taken));
        to = steps[step].bucket;
        free = taken;
        if (steps[step].from == step) break;
        taken = steps[step].slot;
      }
      tags_.set(to, free, place.tag);
      ++count_;
      return true;
    }
  }
  return false;
}

inline Expected<CuckooFilter> CuckooFilter::load(std::string_view bytes) {
  const auto image = read_image(bytes, kKind);
  if (!image) return tl::make_unexpected(image.error());
  const auto [buckets, slots, tag_bits, split, longer, count] = image->parameters;
  const bool widths = (slots == 2 || slots == 4 || slots == 8) && tag_bits >= kMinTagBits &&
                      tag_bits <= kMaxTagBits && longer <= kMaxTagBits - tag_bits;
  // What is larger than the payload has bits cannot be right; checked before anything is shifted.
  const bool size = buckets >= 2 && buckets % 2 == 0 && split <= kMaxSplit &&
                    buckets <= image->payload.size() * 8 >> split;
  if (!widths || !size || image->payload.size() % 8 != 0 ||
      PackedTags::word_count(buckets << split, static_cast<unsigned>(slots),
                             static_cast<unsigned>(tag_bits + longer)) !=
          image->payload.size() / 8) {
    return fail("cuckoo filter image: its parameters do not fit its size");
  }
  CuckooFilter filter(
      CuckooShape{buckets, static_cast<unsigned>(slots), static_cast<unsigned>(tag_bits)},
      CuckooRefinement{static_cast<unsigned>(split), static_cast<unsigned>(longer)});
  filter.tags_.words().assign(image->payload);
  for (std::uint64_t bucket = 0; bucket < filter.places_.buckets(); ++bucket) {
    filter.count_ += slots - filter.tags_.copies(bucket, kEmpty);
  }
  const std::uint64_t used = filter.bits() % 64;
  const std::uint64_t last = filter.tags_.words().data()[filter.tags_.words().size() - 1];
  if (filter.count_ != count || (used != 0 && last >> used != 0)) {
    return fail("cuckoo filter image: its slots do not hold what its header tells");
  }
  return filter;
}

static_assert(ErasableFilter<CuckooFilter>);

}  // namespace nidus::filter
