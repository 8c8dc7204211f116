// SPDX-License-Identifier: Apache-2.0
#pragma once

// `nidus lab filter`: experiments on filters. Each returns its tables; the same seed gives the same
// figures, but for times.

#include <cstdint>

#include <nidus/base/error.hpp>

#include "lab/table.hpp"

namespace nidus::lab {

struct FilterLab {
  std::size_t keys = 0;    // 0: what the experiment is usually run with
  std::size_t probes = 0;  // absent keys, or look-ups
  double fpr = 0.01;
  std::uint64_t seed = 1;
};

/// Rates of false positives over bits a key, measured against the formula.
Expected<Tables> filter_rates(const FilterLab& lab, const Progress& progress);

/// Bits an item of each filter against the optimum, over the rate.
Expected<Tables> filter_space(const FilterLab& lab, const Progress& progress);

/// A Bloom filter of 16 bits and 3 hashes, step by step, to its first false positive.
Expected<Tables> filter_small(const FilterLab& lab, const Progress& progress);

/// Why a Bloom filter cannot erase: a false negative made on purpose; counting and cuckoo do.
Expected<Tables> filter_delete(const FilterLab& lab, const Progress& progress);

/// Time of a look-up with and without a filter in front of stores of three speeds, and from which
/// share of absent keys on the filter pays.
Expected<Tables> filter_pays(const FilterLab& lab, const Progress& progress);

}  // namespace nidus::lab
