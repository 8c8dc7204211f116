// SPDX-License-Identifier: Apache-2.0

// The index for readers, and one key's stripe for writers. Growth is in index_growth.cpp, several
// stripes at once in lock_set.cpp. See index.hpp.

#include "engine/index.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include <nidus/sync/pause_point.hpp>

#include "engine/thread.hpp"

namespace nidus::engine {
namespace {

using sync::Mutant;
using sync::PausePoint;

struct Hit {
  Bucket* bucket = nullptr;
  unsigned slot = 0;
  const Item* item = nullptr;
};

/// The key among the slots of `candidates` of one bucket.
inline Hit find_among(Bucket& bucket, unsigned candidates, std::uint16_t tag,
                      std::string_view key) {
  for (; candidates != 0; candidates &= candidates - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(candidates));
    const std::uint64_t word = bucket.load(slot);
    if (slot_word::tag(word) != tag) continue;  // rewritten since the vector compare
    const Item* item = slot_word::item(word);
    if (item->has_key(key)) return {&bucket, slot, item};
  }
  return {};
}

inline Hit find_slot(const Segment& segment, std::uint64_t hash, std::string_view key) {
  const std::uint16_t tag = Geometry::tag(hash);
  const std::uint64_t home = Geometry::bucket(hash, segment.bucket_mask);
  Bucket& first = segment.buckets[home];
  if (const unsigned candidates = first.match(tag)) {
    if (const Hit hit = find_among(first, candidates, tag, key); hit.item != nullptr) return hit;
  }
  const bool overflowed = first.marked(Geometry::overflow_class(tag));
  sync::pause_point(PausePoint::kReaderAfterFirstBucket);
  if (!overflowed) return {};
  Bucket& second = segment.buckets[Geometry::alternate(home, tag, segment.bucket_mask)];
  return find_among(second, second.match(tag), tag, key);
}

}  // namespace

const Item* Index::find_in(const Segment& segment, std::uint64_t hash, std::string_view key) const {
  return find_slot(segment, hash, key).item;
}

const Item* Index::find(std::uint64_t hash, std::string_view key) const {
  for (;;) {
    const Segment* segment = segment_for(hash);
    sync::pause_point(PausePoint::kReaderAfterDirectory);
    const sync::Stripe::Ticket ticket = segment->stripe.ticket();
    if (const Item* item = find_in(*segment, hash, key)) return item;
    lanes::fence_after_vector_loads();
    if (sync::Stripe::dead(ticket) && !sync::mutant(Mutant::kReaderIgnoresDead)) continue;
    if (segment->stripe.still_valid(ticket) || sync::mutant(Mutant::kReaderTrustsMiss) ||
        (sync::mutant(Mutant::kReaderIgnoresDead) && sync::Stripe::dead(ticket))) {
      return nullptr;
    }
  }
}

void Index::find_batch(std::span<const KeyRef> keys, std::span<const Item*> out) const {
  constexpr std::size_t kInline = 64;
  struct Seen {
    const Segment* segment;
    sync::Stripe::Ticket ticket;
  };
  std::array<Seen, kInline> few;
  std::vector<Seen> many;
  const std::size_t n = keys.size();
  if (n > kInline) many.resize(n);
  Seen* seen = n > kInline ? many.data() : few.data();
  for (;;) {
    for (std::size_t i = 0; i < n; ++i) {
      const Segment* segment = segment_for(keys[i].hash);
      sync::pause_point(PausePoint::kReaderAfterDirectory);
      seen[i] = {segment, segment->stripe.quiet_ticket()};
      lanes::prefetch(&segment->first_bucket(keys[i].hash));
    }
    for (std::size_t i = 0; i < n; ++i) prefetch_item(keys[i].hash);
    for (std::size_t i = 0; i < n; ++i)
      out[i] = find_in(*seen[i].segment, keys[i].hash, keys[i].bytes);
    lanes::fence_after_vector_loads();
    bool one_moment = true;
    for (std::size_t i = 0; i < n && one_moment; ++i) {
      one_moment =
          (!sync::Stripe::dead(seen[i].ticket) || sync::mutant(Mutant::kReaderIgnoresDead)) &&
          (seen[i].segment->stripe.still_quiet(seen[i].ticket) ||
           sync::mutant(Mutant::kBatchTrustsTickets));
    }
    if (one_moment) return;
    sync::spin_hint();
  }
}

void Index::prefetch_item(std::uint64_t hash) const {
  const Bucket& bucket = segment_for(hash)->first_bucket(hash);
  const std::uint16_t tag = Geometry::tag(hash);
  const unsigned candidates = bucket.match(tag);
  if (candidates != 0) {
    const auto* item = reinterpret_cast<const char*>(
        slot_word::item(bucket.load(static_cast<unsigned>(std::countr_zero(candidates)))));
    lanes::prefetch(item);
    lanes::prefetch(item + kCacheLineBytes - 1);  // most items lie in two lines
  } else if (bucket.marked(Geometry::overflow_class(tag))) {
    const Segment* segment = segment_for(hash);
    const auto home = Geometry::bucket(hash, segment->bucket_mask);
    lanes::prefetch(&segment->buckets[Geometry::alternate(home, tag, segment->bucket_mask)]);
  }
}

Probe Index::probe(std::uint64_t hash, std::string_view key) const {
  const Segment& segment = *segment_for(hash);
  // acquire: pairs with the release that published the directory
  const Directory* directory = directory_.load(std::memory_order_acquire);
  const std::uint16_t tag = Geometry::tag(hash);
  Probe probe;
  probe.directory_bits = directory->bits;
  probe.directory_index = hash >> directory->shift;
  probe.segment_buckets = segment.bucket_mask + std::size_t{1};
  probe.segment_keys = segment.keys.load(std::memory_order_relaxed);  // relaxed: a hint
  probe.bucket1 = Geometry::bucket(hash, segment.bucket_mask);
  probe.bucket2 = Geometry::alternate(probe.bucket1, tag, segment.bucket_mask);
  const Bucket& first = segment.buckets[probe.bucket1];
  probe.matches1 = first.match(tag);
  probe.matches2 = segment.buckets[probe.bucket2].match(tag);
  const Hit hit = find_slot(segment, hash, key);
  probe.item = hit.item;
  if (hit.item != nullptr) {
    probe.bucket = hit.bucket == &first ? 1 : 2;
    probe.slot = static_cast<int>(hit.slot);
  }
  probe.second_read = probe.bucket != 1 && first.marked(Geometry::overflow_class(tag));
  return probe;
}

// --- one key's stripe ---

Segment* Index::lock_segment(std::uint64_t hash, bool& nested) {
  for (;;) {
    Segment* segment = segment_for(hash);
    if (segment->stripe.held_by_me()) {
      nested = true;
      return segment;
    }
    sync::pause_point(PausePoint::kWriterBeforeLock);
    segment->stripe.lock();
    if (!segment->stripe.dead() || sync::mutant(Mutant::kWriterTrustsSegment)) {
      nested = false;
      return segment;
    }
    segment->stripe.unlock_unchanged();
  }
}

Index::Locked::Locked(Index& index, std::uint64_t hash, std::string_view key)
    : index_(index), hash_(hash) {
  segment_ = index.lock_segment(hash, nested_);
  locate(key);
}

Index::Locked::Locked(Index& index, std::uint64_t hash, std::string_view key, std::try_to_lock_t)
    : index_(index), hash_(hash) {
  Segment* segment = index.segment_for(hash);
  nested_ = segment->stripe.held_by_me();
  if (!nested_) {
    if (!segment->stripe.try_lock()) return;
    if (segment->stripe.dead()) {
      segment->stripe.unlock_unchanged();
      return;
    }
  }
  segment_ = segment;
  locate(key);
}

Index::Locked::~Locked() {
  if (segment_ == nullptr || nested_) return;
  if (changed_) {
    segment_->stripe.unlock();
  } else {
    segment_->stripe.unlock_unchanged();
  }
}

void Index::Locked::locate(std::string_view key) {
  const Hit hit = find_slot(*segment_, hash_, key);
  bucket_ = hit.bucket;
  slot_ = hit.slot;
  item_ = hit.item;
}

bool Index::Locked::put(const Item* fresh) {
  changed_ = true;
  if (item_ != nullptr) {
    segment_->account(*item_, -1);
    segment_->account(*fresh, +1);
    const std::uint64_t word = bucket_->load(slot_);
    bucket_->store(slot_, slot_word::make(fresh, slot_word::tag(word), slot_word::guest(word)));
    item_ = fresh;
    sync::pause_point(PausePoint::kWriteAfterStore);
    return true;
  }
  while (!segment_->place(hash_, fresh)) {
    if (!index_.grow(*this)) return false;
  }
  locate(fresh->key());
  return true;
}

void Index::Locked::erase() {
  if (item_ == nullptr) return;
  changed_ = true;
  segment_->remove(*bucket_, slot_);
  item_ = nullptr;
}

// --- whole-index reads ---

std::size_t Index::size() const {
  // acquire: pairs with the release that published the directory
  const Directory* directory = directory_.load(std::memory_order_acquire);
  std::size_t total = 0;
  for (std::size_t i = 0; i < directory->size();) {
    // acquire: pairs with the release that published the segment
    const Segment* segment = directory->entries()[i].load(std::memory_order_acquire);
    total += segment->keys.load(std::memory_order_relaxed);  // relaxed: a statistic
    i += std::size_t{1} << (directory->bits - std::min(directory->bits, segment->local_bits));
  }
  return total;
}

std::size_t Index::expiring() const {
  // acquire: pairs with the release that published the directory
  const Directory* directory = directory_.load(std::memory_order_acquire);
  std::size_t total = 0;
  for (std::size_t i = 0; i < directory->size();) {
    // acquire: pairs with the release that published the segment
    const Segment* segment = directory->entries()[i].load(std::memory_order_acquire);
    total += segment->expiring.load(std::memory_order_relaxed);  // relaxed: a statistic
    i += std::size_t{1} << (directory->bits - std::min(directory->bits, segment->local_bits));
  }
  return total;
}

std::size_t Index::segment_count() const {
  return segments_.load(std::memory_order_relaxed);  // relaxed: a statistic
}

unsigned Index::directory_bits() const {
  // acquire: pairs with the release that published the directory
  return directory_.load(std::memory_order_acquire)->bits;
}

namespace {

// A cursor is (prefix, bits, tag): the keys of all hashes below the prefix have been visited, and
// those of smaller tags from the prefix to the end of its range, which is as wide as `bits` says. A
// key never changes its hash or its tag, so no change of shape hides one: of a segment that has been
// split, the parts behind are visited from tag 0; of one that has been joined, only the cursor's own
// range counts as visited. (prefix, tag) only ever increases, so that every scan ends.
//
// Cursors stay below 2^53, because clients in languages whose numbers are doubles parse them. So the
// width has no field of its own: the lowest one behind the prefix's bits marks where they end. (So a
// prefix must be a multiple of its width: what is left of a joined segment is taken in such parts.)
//   52                     16 15      0
//   [ prefix, 1, zeros ...  ] [ tag   ]       0 is the start
constexpr unsigned kCursorTagBits = 16;
constexpr unsigned kPlaceBits = Index::kMaxLocalBits + 1;
static_assert(kPlaceBits + kCursorTagBits <= 53);

std::uint64_t make_cursor(std::uint64_t prefix, unsigned bits, std::uint32_t tag) {
  const std::uint64_t place = prefix >> (64 - Index::kMaxLocalBits) << 1 |
                              std::uint64_t{1} << (Index::kMaxLocalBits - bits);
  return place << kCursorTagBits | tag;
}

struct Cursor {
  std::uint64_t prefix = 0;
  unsigned bits = 0;
  std::uint32_t tag = 0;
};

/// Of any number: a client may send what no scan returned.
Cursor read_cursor(std::uint64_t cursor) {
  const std::uint64_t place = cursor >> kCursorTagBits & ((std::uint64_t{1} << kPlaceBits) - 1);
  const auto tag = static_cast<std::uint32_t>(cursor & 0xffff);
  if (place == 0) return {0, 0, tag};
  const auto behind = static_cast<unsigned>(std::countr_zero(place));
  const std::uint64_t prefix = (place & (place - 1)) >> 1 << (64 - Index::kMaxLocalBits);
  return {prefix, Index::kMaxLocalBits - behind, tag};
}

/// The width of the widest range that starts with this hash.
unsigned widest_at(std::uint64_t prefix) {
  return prefix == 0 ? 0 : 64 - static_cast<unsigned>(std::countr_zero(prefix));
}

/// The first hash behind the range that holds the prefix; 0 at the end of all.
std::uint64_t range_end(std::uint64_t prefix, unsigned bits) {
  if (bits == 0) return 0;
  const std::uint64_t width = std::uint64_t{1} << (64 - bits);
  return (prefix & ~(width - 1)) + width;
}

}  // namespace

std::uint64_t Index::collect(std::uint64_t cursor, std::size_t count,
                             std::vector<const Item*>& out) const {
  const auto [prefix, cursor_bits, first_tag] = read_cursor(cursor);
  for (;;) {
    const Segment* segment = segment_for(prefix);
    const sync::Stripe::Ticket ticket = segment->stripe.ticket();
    if (sync::Stripe::dead(ticket)) continue;
    const std::size_t keys = segment->keys.load(std::memory_order_relaxed);  // relaxed: a hint
    // The range that this page is about: the cursor's if it is under way, else the widest that
    // starts at the prefix; never wider than the segment.
    const unsigned bits =
        std::max(first_tag == 0 ? widest_at(prefix) : cursor_bits, segment->local_bits);
    // As many tags as hold about `count` of the segment's keys.
    const std::size_t wanted = std::clamp<std::size_t>(count, 1, keys + 1);
    const std::uint64_t tags = keys == 0 ? 65536 : 65536 * wanted / keys + 1;
    const std::uint64_t end = first_tag + tags;
    out.clear();
    for (std::uint64_t b = 0; b <= segment->bucket_mask; ++b) {
      for (unsigned s = 0; s < Segment::kSlots; ++s) {
        const std::uint64_t word = segment->buckets[b].load(s);
        const std::uint32_t tag = slot_word::tag(word);
        if (tag != 0 && tag >= first_tag && tag < end) out.push_back(slot_word::item(word));
      }
    }
    if (!segment->stripe.still_valid(ticket)) continue;
    if (end < 65536) return make_cursor(prefix, bits, static_cast<std::uint32_t>(end));
    const std::uint64_t next = range_end(prefix, bits);
    return next == 0 ? 0 : make_cursor(next, bits, 0);
  }
}

const Item* Index::random_item(std::uint64_t random) const {
  std::uint64_t hash = random;
  for (std::size_t tries = segment_count() + 1; tries-- > 0;) {
    const Segment* segment = segment_for(hash);
    const std::uint32_t slots = segment->slots();
    const auto start = static_cast<std::uint32_t>((random * 0x9E3779B97F4A7C15ull >> 32) % slots);
    for (std::uint32_t i = 0; i < slots; ++i) {
      const std::uint32_t at = (start + i) % slots;
      const std::uint64_t word = segment->buckets[at / Segment::kSlots].load(at % Segment::kSlots);
      if (slot_word::tag(word) != 0) return slot_word::item(word);
    }
    hash = segment->end();  // on from the first behind the last
  }
  return nullptr;
}

}  // namespace nidus::engine
