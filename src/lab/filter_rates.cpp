// SPDX-License-Identifier: Apache-2.0

// Measured rates against the formulas, and the space that a rate costs. See lab/filter.hpp.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <nidus/filter/blocked_bloom.hpp>
#include <nidus/filter/bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>

#include "lab/filter.hpp"

namespace nidus::lab {
namespace {

using namespace nidus::filter;

/// The share of `maybe` among keys that were never inserted.
template <class F>
double measured(F&& filter, std::uint64_t first, std::size_t keys, std::size_t probes) {
  for (std::uint64_t i = 0; i < keys; ++i) filter.insert(first + i);
  constexpr std::size_t kBatch = 4096;
  std::vector<std::uint64_t> batch(kBatch);
  const auto out = std::make_unique<bool[]>(kBatch);
  std::uint64_t maybe = 0, next = first + keys;
  for (std::size_t done = 0; done < probes; done += batch.size()) {
    batch.resize(std::min(kBatch, probes - done));
    for (auto& key : batch) key = next++;
    filter.may_contain_batch(std::span<const std::uint64_t>(batch),
                             std::span<bool>(out.get(), batch.size()));
    for (std::size_t i = 0; i < batch.size(); ++i) maybe += out[i];
  }
  return static_cast<double>(maybe) / static_cast<double>(probes);
}

}  // namespace

Expected<Tables> filter_rates(const FilterLab& lab, const Progress& progress) {
  const std::size_t keys = lab.keys == 0 ? 200'000 : lab.keys;
  const std::size_t probes = lab.probes == 0 ? 1'000'000 : lab.probes;
  const std::uint64_t first = lab.seed << 40;
  const auto n = static_cast<double>(keys);
  Table table{"rates",
              "Rate of false positives over bits a key: measured with " + std::to_string(keys) +
                  " keys and " + std::to_string(probes) + " absent ones, and by the formula",
              {{"bits_per_key"},
               {"hashes"},
               {"bloom", 6},
               {"bloom_theory", 6},
               {"blocked", 6},
               {"blocked_theory", 6},
               {"tag_bits"},
               {"cuckoo", 6},
               {"cuckoo_theory", 6},
               {"optimum", 6}},
              {}};
  const std::vector<unsigned> all = {5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double bits = all[i];
    const auto k = static_cast<unsigned>(std::clamp(std::round(bits * std::log(2)), 1.0, 16.0));
    const BloomShape bloom{static_cast<std::uint64_t>(bits * n), k};
    const BlockedBloomShape blocked{
        static_cast<std::uint64_t>(std::max(std::round(bits * n / kBlockBits), 1.0)), k};
    const double load = cuckoo_max_load(4);
    const auto tag_bits = static_cast<unsigned>(bits * load);
    const auto pairs = static_cast<std::uint64_t>(std::ceil(n / load / 8));
    const CuckooShape cuckoo{2 * pairs, 4, tag_bits};
    table.rows.push_back({count(all[i]), count(k),
                          measured(BloomFilter(bloom), first, keys, probes), bloom_fpr(bloom, n),
                          measured(BlockedBloomFilter(blocked), first, keys, probes),
                          blocked_bloom_fpr(blocked, n), count(tag_bits),
                          measured(CuckooFilter(cuckoo), first, keys, probes),
                          cuckoo_fpr(cuckoo, n / cuckoo_slots(cuckoo)), std::exp2(-bits)});
    progress(i + 1, all.size());
  }
  return Tables{std::move(table)};
}

Expected<Tables> filter_space(const FilterLab& lab, const Progress&) {
  const double n = lab.keys == 0 ? 1e6 : static_cast<double>(lab.keys);
  Table table{"space",
              "Bits an item for a rate of false positives, " +
                  std::to_string(static_cast<std::size_t>(n)) + " items",
              {{"fpr", 9},
               {"optimum", 2},
               {"bloom", 2},
               {"blocked", 2},
               {"counting", 2},
               {"cuckoo_b2", 2},
               {"cuckoo_b4", 2},
               {"cuckoo_b8", 2}},
              {}};
  for (const double fpr : {0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    const auto bloom = static_cast<double>(bloom_shape(n, fpr).bits);
    std::vector<Cell> row = {
        fpr, optimum_bits_per_item(fpr), bits_per_item(bloom, n),
        bits_per_item(static_cast<double>(blocked_bloom_shape(n, fpr).blocks) * kBlockBits, n),
        bits_per_item(bloom * kCounterBits, n)};
    for (const unsigned slots : {2u, 4u, 8u}) {
      const auto shape = cuckoo_shape(n, fpr, slots);
      row.push_back(shape ? Cell(bits_per_item(cuckoo_slots(*shape) * shape->tag_bits, n))
                          : Cell(std::string()));
    }
    table.rows.push_back(std::move(row));
  }
  return Tables{std::move(table)};
}

}  // namespace nidus::lab
