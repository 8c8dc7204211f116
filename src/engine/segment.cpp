// SPDX-License-Identifier: Apache-2.0

// Segments: memory, placement with displacement, exact marks. See segment.hpp.

#include "engine/segment.hpp"

#include <new>

#include <nidus/sync/pause_point.hpp>

#include "engine/block_arena.hpp"

namespace nidus::engine {

namespace {

/// Zeroed, 64-byte aligned memory for `count` buckets: a block for a segment of full size, lines
/// from the allocator for a small one.
void* allocate_buckets(std::uint32_t count) {
  static_assert(Segment::kMaxBuckets * sizeof(Bucket) == kBlockBytes);
  if (count == Segment::kMaxBuckets) return allocate_block(true);
  return allocate_lines(count * sizeof(Bucket));
}

void free_buckets(void* lines, std::uint32_t count) {
  if (count == Segment::kMaxBuckets) {
    free_block(lines);
  } else {
    free_lines(lines);
  }
}

}  // namespace

Segment* Segment::create(std::uint32_t bucket_count, std::uint64_t prefix, unsigned local_bits) {
  void* memory = allocate_lines(sizeof(Segment));
  void* lines = nullptr;
  try {
    lines = allocate_buckets(bucket_count);
  } catch (...) {
    free_lines(memory);
    throw;
  }
  auto* segment = new (memory) Segment;
  segment->buckets = static_cast<Bucket*>(lines);
  segment->bucket_mask = bucket_count - 1;
  segment->prefix = prefix;
  segment->local_bits = local_bits;
  return segment;
}

void Segment::destroy(Segment* segment) {
  free_buckets(segment->buckets, segment->bucket_mask + 1);
  segment->~Segment();
  free_lines(segment);
}

void Segment::move(map::Place from, map::Place to) {
  Bucket& source = buckets[from.bucket];
  Bucket& target = buckets[to.bucket];
  const std::uint64_t word = source.load(from.slot);
  const std::uint16_t tag = slot_word::tag(word);
  const bool leaves_home = !slot_word::guest(word);
  if (leaves_home && !sync::mutant(sync::Mutant::kMarkAfterMove)) {
    source.set_mark(Geometry::overflow_class(tag), true);
  }
  if (sync::mutant(sync::Mutant::kMoveClearsFirst)) {
    source.store(from.slot, 0);
    sync::pause_point(sync::PausePoint::kMoveAfterCopy);
  }
  target.store(to.slot, word ^ slot_word::kGuest);
  stripe.bump();
  if (!sync::mutant(sync::Mutant::kMoveClearsFirst)) {
    sync::pause_point(sync::PausePoint::kMoveAfterCopy);
  }
  source.store(from.slot, 0);
  if (leaves_home && sync::mutant(sync::Mutant::kMarkAfterMove)) {
    sync::pause_point(sync::PausePoint::kMoveAfterCopy);
    source.set_mark(Geometry::overflow_class(tag), true);
  }
  if (!leaves_home) ++departures;
}

bool Segment::place(std::uint64_t hash, const Item* item) {
  const std::uint16_t tag = Geometry::tag(hash);
  const std::uint64_t home = Geometry::bucket(hash, bucket_mask);
  const std::uint64_t other = Geometry::alternate(home, tag, bucket_mask);
  const map::Path path = map::find_path(*this, home, other);
  if (path.length == 0) return false;
  if (sync::mutant(sync::Mutant::kPathUnlocked)) stripe.unlock();
  sync::pause_point(sync::PausePoint::kPathBeforeMove);
  if (sync::mutant(sync::Mutant::kPathUnlocked)) stripe.lock();
  for (std::size_t i = path.length - 1; i > 0; --i) move(path.places[i - 1], path.places[i]);
  const map::Place place = path.places[0];
  const bool is_guest = place.bucket != home;
  if (is_guest) buckets[home].set_mark(Geometry::overflow_class(tag), true);
  buckets[place.bucket].store(place.slot, slot_word::make(item, tag, is_guest));
  account(*item, +1);
  return true;
}

void Segment::remove(Bucket& bucket, unsigned slot) {
  const std::uint64_t word = bucket.load(slot);
  account(*slot_word::item(word), -1);
  bucket.store(slot, 0);
  if (!slot_word::guest(word)) return;
  // Marks only ever get stricter; after enough departures one cheap pass makes them exact.
  if (++departures > (bucket_mask + 1) / 4) refresh_marks();
}

void Segment::account(const Item& item, int sign) {
  // relaxed (all): counts that only the holder of the stripe changes; readers take them as hints
  keys.store(keys.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(sign),
             std::memory_order_relaxed);
  if (!item.has_expiry()) return;
  expiring.store(expiring.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(sign),
                 std::memory_order_relaxed);
  if (sign > 0 && item.expires_at() < next_expiry.load(std::memory_order_relaxed)) {
    next_expiry.store(item.expires_at(), std::memory_order_relaxed);  // relaxed: same
  }
}

void Segment::refresh_marks() {
  departures = 0;
  std::array<std::uint8_t, kMaxBuckets> wanted{};
  for (std::uint64_t b = 0; b <= bucket_mask; ++b) {
    for (unsigned s = 0; s < kSlots; ++s) {
      const std::uint64_t word = buckets[b].load(s);
      if (slot_word::tag(word) == 0 || !slot_word::guest(word)) continue;
      const std::uint16_t tag = slot_word::tag(word);
      wanted[Geometry::alternate(b, tag, bucket_mask)] |=
          static_cast<std::uint8_t>(1u << Geometry::overflow_class(tag));
    }
  }
  for (std::uint64_t b = 0; b <= bucket_mask; ++b) {
    for (unsigned c = 0; c < kSlots; ++c) {
      const bool on = (wanted[b] >> c & 1) != 0;
      if (buckets[b].marked(c) != on) buckets[b].set_mark(c, on);
    }
  }
}

}  // namespace nidus::engine
