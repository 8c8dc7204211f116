// SPDX-License-Identifier: Apache-2.0

// Two experiments that show every step: the filter of 16 bits, and what erasing does to a Bloom
// filter. See lab/filter.hpp.

#include <string>
#include <vector>

#include <nidus/filter/bloom.hpp>
#include <nidus/filter/counting_bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>

#include "lab/filter.hpp"

namespace nidus::lab {
namespace {

using namespace nidus::filter;

std::string name_of(std::uint64_t seed, std::uint64_t i) {
  return "key" + std::to_string((seed - 1) * 1'000'000 + i);
}

std::vector<std::uint64_t> places_of(const std::string& key, BloomShape shape) {
  std::vector<std::uint64_t> places;
  Probes probes(std::string_view(key), shape.bits);
  for (unsigned i = 0; i < shape.hashes; ++i) places.push_back(probes.next());
  return places;
}

std::string text(const std::vector<std::uint64_t>& places) {
  std::string text;
  for (const std::uint64_t place : places) {
    text += (text.empty() ? "" : " ") + std::to_string(place);
  }
  return text;
}

std::string bits_of(const BloomFilter& filter) {
  std::string bits;
  for (std::uint64_t i = 0; i < filter.bits(); ++i) bits += filter.bit(i) ? '1' : '0';
  return bits;
}

std::string answer(bool maybe) { return maybe ? "maybe" : "no"; }

/// A Bloom filter with these keys' bits, but for some that are cleared: what an erase would have to
/// do. The library's filter offers none.
bool found_after_clearing(const std::string& key, const std::vector<std::uint64_t>& cleared,
                          BloomShape shape) {
  for (const std::uint64_t place : places_of(key, shape)) {
    for (const std::uint64_t gone : cleared) {
      if (place == gone) return false;
    }
  }
  return true;
}

}  // namespace

Expected<Tables> filter_small(const FilterLab& lab, const Progress&) {
  constexpr std::size_t kMostSteps = 40;
  BloomFilter filter(BloomShape{16, 3});
  const std::size_t keys = lab.keys == 0 ? 3 : lab.keys;
  if (keys > 16) return fail("16 bits are full long before: --keys is at most 16 here");
  Table table{"small",
              "A Bloom filter of 16 bits and 3 hashes, to its first false positive",
              {{"step"}, {"operation"}, {"key"}, {"places"}, {"bits"}, {"outcome"}},
              {}};
  const auto add = [&](const char* operation, const std::string& key, const std::string& outcome) {
    table.rows.push_back({count(table.rows.size() + 1), operation, key,
                          text(places_of(key, filter.shape())), bits_of(filter), outcome});
  };
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::string key = name_of(lab.seed, i);
    const bool added = filter.insert(std::string_view(key)) == Insert::kAdded;
    add("insert", key, added ? "added" : "all bits were set");
  }
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::string key = name_of(lab.seed, i);
    add("lookup", key, answer(filter.may_contain(std::string_view(key))) + " (present)");
  }
  for (std::uint64_t i = keys; table.rows.size() < kMostSteps; ++i) {
    const std::string key = name_of(lab.seed, i);
    const bool maybe = filter.may_contain(std::string_view(key));
    add("lookup", key, answer(maybe) + (maybe ? " (absent: a false positive)" : " (absent)"));
    if (maybe) break;
  }
  Table summary{"rate",
                "The rate at this fill",
                {{"keys"}, {"bits_set"}, {"by_the_formula", 4}, {"by_the_bits_set", 4}},
                {},
                true};
  double set = 0;
  for (std::uint64_t i = 0; i < filter.bits(); ++i) set += filter.bit(i);
  const double share = set / static_cast<double>(filter.bits());
  summary.rows = {{count(keys), count(static_cast<std::size_t>(set)),
                   bloom_fpr(filter.shape(), static_cast<double>(keys)), share * share * share}};
  return Tables{std::move(table), std::move(summary)};
}

Expected<Tables> filter_delete(const FilterLab& lab, const Progress&) {
  const BloomShape shape{64, 3};
  const std::string victim = name_of(lab.seed, 0);
  const auto places = places_of(victim, shape);
  // Another key that shares a bit with it; with 64 bits and 3 hashes one in eight does.
  std::string other;
  for (std::uint64_t i = 1; other.empty(); ++i) {
    const std::string key = name_of(lab.seed, i);
    if (!found_after_clearing(key, places, shape)) other = key;
  }
  Table table{"delete",
              "Two keys that share a bit: " + other + " is erased, " + victim + " must stay",
              {{"filter"}, {"operation"}, {"erased_key"}, {"kept_key"}, {"verdict"}},
              {}};
  const auto add = [&](const char* filter, const char* operation, bool erased, bool kept) {
    table.rows.push_back({filter, operation, answer(erased), answer(kept),
                          kept ? "right" : "a false negative: the key is there"});
  };
  BloomFilter bloom(shape);
  CountingBloomFilter counting(shape);
  CuckooFilter cuckoo(CuckooShape{8, 4, 12});
  const std::string_view a = victim, b = other;
  bloom.insert(a), bloom.insert(b);
  counting.insert(a), counting.insert(b);
  cuckoo.insert(a), cuckoo.insert(b);
  add("Bloom", "both inserted", bloom.may_contain(b), bloom.may_contain(a));
  add("Bloom", "bits of the erased key cleared", false,
      found_after_clearing(victim, places_of(other, shape), shape));
  add("counting Bloom", "both inserted", counting.may_contain(b), counting.may_contain(a));
  counting.erase(b);
  add("counting Bloom", "erase", counting.may_contain(b), counting.may_contain(a));
  add("cuckoo", "both inserted", cuckoo.may_contain(b), cuckoo.may_contain(a));
  cuckoo.erase(b);
  add("cuckoo", "erase", cuckoo.may_contain(b), cuckoo.may_contain(a));
  Table shared{"places",
               "Places of the two keys in 64 bits",
               {{"key"}, {"places"}},
               {{victim, text(places)}, {other, text(places_of(other, shape))}}};
  return Tables{std::move(shared), std::move(table)};
}

}  // namespace nidus::lab
