// SPDX-License-Identifier: Apache-2.0
#pragma once

// One adapter for every filter of the bench: ours, Debian's libbloom where it was found, and the naive
// one, a std::unordered_set of 64-bit hashes. A whole run of keys goes through one virtual call, so
// that the calls within are the ones that a user's program makes.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nidus/filter/blocked_bloom.hpp>
#include <nidus/filter/bloom.hpp>
#include <nidus/filter/counting_bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>

#if NIDUS_HAVE_LIBBLOOM
#include <bloom.h>
#endif

namespace nidus::bench {

class Subject {
 public:
  virtual ~Subject() = default;
  virtual void insert(std::span<const std::uint64_t> keys) = 0;
  /// The number of `maybe`.
  virtual std::uint64_t lookup(std::span<const std::uint64_t> keys) const = 0;
  virtual std::uint64_t lookup_batch(std::span<const std::uint64_t> keys) const = 0;
  virtual double bits() const = 0;
  virtual bool has_batch() const { return true; }
  /// Lines that a lookup of an absent key reads at least.
  virtual std::size_t lines() const = 0;
  virtual std::string name() const = 0;
};

template <class F>
class OurFilter : public Subject {
 public:
  OurFilter(std::string name, std::size_t lines, F filter)
      : name_(std::move(name)), lines_(lines), filter_(std::move(filter)) {}

  void insert(std::span<const std::uint64_t> keys) override {
    for (const std::uint64_t key : keys) filter_.insert(key);
  }
  std::uint64_t lookup(std::span<const std::uint64_t> keys) const override {
    std::uint64_t maybe = 0;
    for (const std::uint64_t key : keys) maybe += filter_.may_contain(key);
    return maybe;
  }
  std::uint64_t lookup_batch(std::span<const std::uint64_t> keys) const override {
    constexpr std::size_t kBatch = 1024;
    bool out[kBatch];
    std::uint64_t maybe = 0;
    for (std::size_t i = 0; i < keys.size(); i += kBatch) {
      const std::size_t n = std::min(kBatch, keys.size() - i);
      filter_.may_contain_batch(keys.subspan(i, n), std::span(out, n));
      for (std::size_t j = 0; j < n; ++j) maybe += out[j];
    }
    return maybe;
  }
  double bits() const override { return static_cast<double>(filter_.bits()); }
  std::size_t lines() const override { return lines_; }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  std::size_t lines_;
  F filter_;
};

/// Peers have no batch: lookup_batch is lookup.
class PeerFilter : public Subject {
 public:
  bool has_batch() const override { return false; }
  std::uint64_t lookup_batch(std::span<const std::uint64_t> keys) const override {
    return lookup(keys);
  }
  std::size_t lines() const override { return 2; }
};

class HashSet : public PeerFilter {
 public:
  void insert(std::span<const std::uint64_t> keys) override {
    for (const std::uint64_t key : keys) set_.insert(filter::KeyHash(key).low);
  }
  std::uint64_t lookup(std::span<const std::uint64_t> keys) const override {
    std::uint64_t found = 0;
    for (const std::uint64_t key : keys) found += set_.contains(filter::KeyHash(key).low);
    return found;
  }
  /// A node of 16 bytes in an allocation of 32, and a pointer a bucket.
  double bits() const override {
    return 8.0 * static_cast<double>(set_.size() * 32 + set_.bucket_count() * 8);
  }
  std::string name() const override { return "std::unordered_set"; }

 private:
  std::unordered_set<std::uint64_t> set_;
};

#if NIDUS_HAVE_LIBBLOOM
class Libbloom : public PeerFilter {
 public:
  Libbloom(std::uint64_t items, double fpr) { bloom_init(&bloom_, static_cast<int>(items), fpr); }
  ~Libbloom() override { bloom_free(&bloom_); }
  Libbloom(const Libbloom&) = delete;
  Libbloom& operator=(const Libbloom&) = delete;

  void insert(std::span<const std::uint64_t> keys) override {
    for (const std::uint64_t& key : keys) bloom_add(&bloom_, &key, sizeof key);
  }
  std::uint64_t lookup(std::span<const std::uint64_t> keys) const override {
    std::uint64_t maybe = 0;
    for (const std::uint64_t& key : keys) {
      maybe += bloom_check(const_cast<bloom*>(&bloom_), &key, sizeof key) == 1;
    }
    return maybe;
  }
  double bits() const override { return bloom_.bits; }
  std::string name() const override { return std::string("libbloom ") + bloom_version(); }

 private:
  bloom bloom_{};
};
#endif

/// All subjects for so many keys at this rate.
inline std::vector<std::unique_ptr<Subject>> make_subjects(std::uint64_t items, double fpr,
                                                           bool with_set) {
  using namespace filter;
  const auto n = static_cast<double>(items);
  std::vector<std::unique_ptr<Subject>> all;
  const auto add = [&](std::string name, std::size_t lines, auto filter) {
    using F = decltype(filter);
    all.push_back(std::make_unique<OurFilter<F>>(std::move(name), lines, std::move(filter)));
  };
  add("Bloom", 2, BloomFilter(bloom_shape(n, fpr)));
  add("blocked Bloom", 1, BlockedBloomFilter(blocked_bloom_shape(n, fpr)));
  add("counting Bloom", 2, CountingBloomFilter(bloom_shape(n, fpr)));
  for (const unsigned slots : {2u, 4u, 8u}) {
    const auto shape = cuckoo_shape(n, fpr, slots);
    if (!shape) continue;
    add("cuckoo b=" + std::to_string(slots) + " f=" + std::to_string(shape->tag_bits), 2,
        CuckooFilter(*shape));
  }
  CuckooShape aligned = cuckoo_shape(n, fpr).value_or(CuckooShape{});
  aligned.tag_bits = 16;
  add("cuckoo b=4 f=16", 2, CuckooFilter(aligned));
#if NIDUS_HAVE_LIBBLOOM
  // It counts bits in an int.
  if (n * bloom_bits_per_item(fpr, 7) < 2.1e9)
    all.push_back(std::make_unique<Libbloom>(items, fpr));
#endif
  if (with_set) all.push_back(std::make_unique<HashSet>());
  return all;
}

}  // namespace nidus::bench
