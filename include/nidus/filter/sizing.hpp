// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arithmetic of filters, without any filter: (items, rate of false positives) -> shape, and shape
// -> rate or items. Beside it the optimum of information theory: no filter that answers at rate p has
// less than log2(1/p) bits an item. Sources: docs/algorithms, one page a filter.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace nidus::filter {

inline constexpr unsigned kMaxHashes = 64;       // Bloom and counting Bloom
inline constexpr unsigned kMaxBlockHashes = 16;  // blocked Bloom: one vector of 16 words
inline constexpr unsigned kBlockBits = 512;      // one line
inline constexpr unsigned kMinTagBits = 4, kMaxTagBits = 32;
/// Sizes beyond this are clipped by the functions that choose one; no machine has the memory.
inline constexpr double kMostBits = 0x1p60;

struct BloomShape {
  std::uint64_t bits = 1;
  unsigned hashes = 1;
  friend bool operator==(const BloomShape&, const BloomShape&) = default;
};

struct BlockedBloomShape {
  std::uint64_t blocks = 1;  // of 512 bits
  unsigned hashes = 1;
  friend bool operator==(const BlockedBloomShape&, const BlockedBloomShape&) = default;
};

struct CuckooShape {
  std::uint64_t buckets = 2;  // even: see docs/algorithms/cuckoo_filter.md
  unsigned bucket_slots = 4;  // 2, 4 or 8
  unsigned tag_bits = 16;     // 4 to 32
  friend bool operator==(const CuckooShape&, const CuckooShape&) = default;
};

/// Bits an item that every filter of this rate has at least. Requires: 0 < fpr < 1
inline double optimum_bits_per_item(double fpr) { return -std::log2(fpr); }

// ---- Bloom: rate (1 - e^(-k n / m))^k

inline double bloom_fpr(BloomShape shape, double items) {
  const double k = shape.hashes;
  return std::pow(-std::expm1(-k * items / static_cast<double>(shape.bits)), k);
}

/// Bits an item for `hashes` hashes at this rate.
inline double bloom_bits_per_item(double fpr, unsigned hashes) {
  const double k = hashes;
  return -k / std::log1p(-std::pow(fpr, 1 / k));
}

/// k is log2(1/fpr) rounded down: at most 4 % more bits than the best k, one hash less, and at most
/// half of the bits set, so that an absent key costs less than two probes.
inline BloomShape bloom_shape(double items, double fpr) {
  const double best = std::floor(optimum_bits_per_item(fpr) + 1e-9);
  const auto hashes = static_cast<unsigned>(std::clamp<double>(best, 1, kMaxHashes));
  const double bits = std::ceil(items * bloom_bits_per_item(fpr, hashes));
  return {static_cast<std::uint64_t>(std::clamp(bits, 1.0, kMostBits)), hashes};
}

/// The items at which the rate reaches `fpr`.
inline double bloom_capacity(BloomShape shape, double fpr) {
  return static_cast<double>(shape.bits) / bloom_bits_per_item(fpr, shape.hashes);
}

// ---- Blocked Bloom: as many items in a block as Poisson says, each with k bits of 512

/// The rate at `load` items a block on average.
inline double blocked_bloom_fpr_at(double load, unsigned hashes) {
  if (load <= 0) return 0;
  const double k = hashes, empty = std::log1p(-1.0 / kBlockBits);
  const double spread = 12 * std::sqrt(load) + 12;  // beyond it the weights vanish
  const double first = std::max(0.0, std::floor(load - spread));
  double fpr = 0, weight = std::exp(first * std::log(load) - load - std::lgamma(first + 1));
  for (double i = first; i <= load + spread; ++i, weight *= load / i) {
    fpr += weight * std::pow(-std::expm1(k * i * empty), k);
  }
  return std::min(fpr, 1.0);
}

inline double blocked_bloom_fpr(BlockedBloomShape shape, double items) {
  return blocked_bloom_fpr_at(items / static_cast<double>(shape.blocks), shape.hashes);
}

/// The average load of a block at which the rate is `fpr`: by halving, to 1e-6.
inline double blocked_bloom_load(double fpr, unsigned hashes) {
  double low = 0, high = kBlockBits;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    (blocked_bloom_fpr_at(middle, hashes) <= fpr ? low : high) = middle;
    if (high < 1e-9) break;
  }
  return std::max(low, 1e-9);
}

/// The k of the fewest bits.
inline BlockedBloomShape blocked_bloom_shape(double items, double fpr) {
  BlockedBloomShape shape;
  double best = 0;
  for (unsigned k = 1; k <= kMaxBlockHashes; ++k) {
    const double load = blocked_bloom_load(fpr, k);
    if (load < best) break;  // one peak
    best = load;
    shape.hashes = k;
  }
  const double blocks = std::ceil(items / best);
  shape.blocks = static_cast<std::uint64_t>(std::clamp(blocks, 1.0, kMostBits / kBlockBits));
  return shape;
}

inline double blocked_bloom_capacity(BlockedBloomShape shape, double fpr) {
  return static_cast<double>(shape.blocks) * blocked_bloom_load(fpr, shape.hashes);
}

// ---- Counting Bloom: a Bloom filter whose bits are counters

inline constexpr unsigned kCounterBits = 4;

// ---- Cuckoo: 2b slots are compared, each full at `load`, each equal with chance 1/(2^f - 1)

inline double cuckoo_fpr(CuckooShape shape, double load) {
  const double values = std::exp2(shape.tag_bits) - 1;
  return -std::expm1(2 * shape.bucket_slots * load * std::log1p(-1 / values));
}

/// Tags narrower than this make too few ways through a table of so many buckets, and it fills less:
/// measured, docs/algorithms/cuckoo_filter.md.
inline unsigned cuckoo_least_tag_bits(double buckets, unsigned bucket_slots) {
  const double bits = std::ceil((std::log2(buckets) + 2) / (bucket_slots + 1));
  return static_cast<unsigned>(std::clamp<double>(bits, kMinTagBits, kMaxTagBits));
}

/// The share of slots that fills before the first insert fails (0.88, 0.975, 0.996), less a margin.
inline double cuckoo_max_load(unsigned bucket_slots) {
  return bucket_slots == 2 ? 0.84 : bucket_slots == 4 ? 0.95 : 0.98;
}

inline double cuckoo_slots(CuckooShape shape) {
  return static_cast<double>(shape.buckets) * shape.bucket_slots;
}

/// The items that fit at the load above.
inline double cuckoo_capacity(CuckooShape shape) {
  return std::floor(cuckoo_slots(shape) * cuckoo_max_load(shape.bucket_slots));
}

/// The narrowest tag that keeps the rate at full load; nothing if 32 bits do not.
inline std::optional<CuckooShape> cuckoo_shape(double items, double fpr,
                                               unsigned bucket_slots = 4) {
  const double load = cuckoo_max_load(bucket_slots);
  const double pairs = std::clamp(std::ceil(items / (2 * bucket_slots * load)), 1.0,
                                  kMostBits / (2 * bucket_slots * kMaxTagBits));
  CuckooShape shape{2 * static_cast<std::uint64_t>(pairs), bucket_slots,
                    cuckoo_least_tag_bits(2 * pairs, bucket_slots)};
  while (cuckoo_fpr(shape, load) > fpr) {
    if (++shape.tag_bits > kMaxTagBits) return std::nullopt;
  }
  return shape;
}

/// Bits an item of a filter that has `bits` bits; the measure to set beside the optimum.
inline double bits_per_item(double bits, double items) {
  return items > 0 ? bits / items : std::numeric_limits<double>::infinity();
}

}  // namespace nidus::filter
