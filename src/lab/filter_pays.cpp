// SPDX-License-Identifier: Apache-2.0

// Where a filter pays. A look-up without a filter always asks the store; with one only if the filter
// says "maybe". The table in RAM is measured as it is; the slow stores are the same table behind a
// wait. See lab/filter.hpp.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <unordered_set>
#include <vector>

#include <nidus/filter/blocked_bloom.hpp>
#include <nidus/filter/bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>

#include "lab/filter.hpp"

namespace nidus::lab {
namespace {

using namespace nidus::filter;
using Clock = std::chrono::steady_clock;

struct Store {
  const char* name;
  std::chrono::nanoseconds wait;
};
constexpr Store kStores[] = {{"table in RAM", std::chrono::nanoseconds(0)},
                             {"10 us", std::chrono::microseconds(10)},
                             {"100 us", std::chrono::microseconds(100)}};
constexpr unsigned kAbsentPercents[] = {0, 10, 25, 50, 75, 90, 100};

using Lookup = std::function<std::uint64_t(const std::vector<std::uint64_t>&)>;

/// A whole run of keys with one of the filters in front.
struct Contender {
  const char* name;
  std::function<Lookup(std::chrono::nanoseconds wait)> in_front;
  Lookup alone;
};

class Bench {
 public:
  Bench(std::size_t keys, double fpr, std::uint64_t seed) : random_(seed) {
    const auto n = static_cast<double>(keys);
    while (keys_.size() < keys) {
      keys_.push_back(random_());
      table_.insert(keys_.back());
    }
    contenders_.push_back({"none", [this](auto wait) { return store(wait); }, nullptr});
    add("Bloom", BloomFilter(bloom_shape(n, fpr)));
    add("blocked Bloom", BlockedBloomFilter(blocked_bloom_shape(n, fpr)));
    if (const auto shape = cuckoo_shape(n, fpr)) add("cuckoo", CuckooFilter(*shape));
  }

  const std::vector<Contender>& contenders() const { return contenders_; }

  /// Nanoseconds a look-up, the median of a few runs.
  double time(const Lookup& lookup, unsigned absent_percent, std::size_t lookups) {
    constexpr int kRuns = 5;
    std::vector<double> ns;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<std::uint64_t> keys(lookups);
      for (auto& key : keys) {
        key = random_() % 100 < absent_percent ? random_() : keys_[random_() % keys_.size()];
      }
      const auto start = Clock::now();
      sink_ = sink_ + lookup(keys);
      ns.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
                   static_cast<double>(lookups));
    }
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
  }

 private:
  bool ask(std::uint64_t key, std::chrono::nanoseconds wait) const {
    if (wait.count() > 0) {
      const auto until = Clock::now() + wait;
      while (Clock::now() < until) {
      }
    }
    return table_.contains(key);
  }
  Lookup store(std::chrono::nanoseconds wait) const {
    return [this, wait](const std::vector<std::uint64_t>& keys) {
      std::uint64_t found = 0;
      for (const std::uint64_t key : keys) found += ask(key, wait);
      return found;
    };
  }
  template <class F>
  void add(const char* name, F filter) {
    for (const std::uint64_t key : keys_) filter.insert(key);
    const auto shared = std::make_shared<const F>(std::move(filter));
    contenders_.push_back({name,
                           [this, shared](std::chrono::nanoseconds wait) -> Lookup {
                             return [this, shared, wait](const std::vector<std::uint64_t>& keys) {
                               std::uint64_t found = 0;
                               for (const std::uint64_t key : keys) {
                                 found += shared->may_contain(key) && ask(key, wait);
                               }
                               return found;
                             };
                           },
                           [shared](const std::vector<std::uint64_t>& keys) {
                             std::uint64_t maybe = 0;
                             for (const std::uint64_t key : keys) maybe += shared->may_contain(key);
                             return maybe;
                           }});
  }

  std::mt19937_64 random_;
  std::vector<std::uint64_t> keys_;
  std::unordered_set<std::uint64_t> table_;
  std::vector<Contender> contenders_;
  volatile std::uint64_t sink_ = 0;
};

std::size_t lookups_of(const Store& store, std::size_t wanted) {
  // A run of a slow store waits some 20 ms.
  if (store.wait.count() == 0) return wanted;
  return std::min<std::size_t>(wanted, 20'000'000 / static_cast<std::size_t>(store.wait.count()));
}

}  // namespace

Expected<Tables> filter_pays(const FilterLab& lab, const Progress& progress) {
  const std::size_t keys = lab.keys == 0 ? 1'000'000 : lab.keys;
  const std::size_t wanted = lab.probes == 0 ? 200'000 : lab.probes;
  Bench bench(keys, lab.fpr, lab.seed);
  Table times{
      "pays",
      "Nanoseconds a look-up over the share of absent keys, " + std::to_string(keys) + " keys",
      {{"store"}, {"filter"}},
      {}};
  for (const unsigned percent : kAbsentPercents) {
    times.columns.push_back({"absent_" + std::to_string(percent) + "_percent", 1});
  }
  Table even{"break_even",
             "The share of absent keys from which on a filter saves time: its cost / (store x (1 - "
             "rate))",
             {{"store"}, {"filter"}, {"filter_ns", 1}, {"store_ns", 1}, {"absent_percent", 2}},
             {}};
  const std::size_t steps = std::size(kStores) * bench.contenders().size();
  for (const Store& store : kStores) {
    double store_ns = 0;
    for (const Contender& contender : bench.contenders()) {
      const Lookup lookup = contender.in_front(store.wait);
      std::vector<Cell> row = {store.name, contender.name};
      for (const unsigned percent : kAbsentPercents) {
        const double ns = bench.time(lookup, percent, lookups_of(store, wanted));
        if (!contender.alone && percent == 100) store_ns = ns;  // what an absent key costs without
        row.emplace_back(ns);
      }
      times.rows.push_back(std::move(row));
      progress(times.rows.size(), steps);
      if (!contender.alone) continue;
      const double filter_ns = bench.time(contender.alone, 50, wanted);
      const double share = filter_ns / store_ns / (1 - lab.fpr);
      even.rows.push_back({store.name, contender.name, filter_ns, store_ns,
                           share <= 1 ? Cell(100 * share) : Cell(std::string("never"))});
    }
  }
  return Tables{std::move(times), std::move(even)};
}

}  // namespace nidus::lab
