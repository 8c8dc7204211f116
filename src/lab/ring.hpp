// SPDX-License-Identifier: Apache-2.0
#pragma once

// `nidus lab ring`: experiments on placements. Each returns its tables; the same seed gives the same
// figures, but for times.

#include <cstdint>

#include <nidus/base/error.hpp>

#include "lab/model.hpp"
#include "lab/table.hpp"

namespace nidus::lab {

struct RingLab {
  std::size_t nodes = 0;  // 0: what the experiment is usually run with
  std::size_t keys = 0;
  std::size_t rings = 0;  // sets of names to average over
  std::uint64_t seed = 1;
  ModelOptions model;
};

/// How evenly tokens share the circle out, against their number: 1/sqrt(v), measured and fitted.
Expected<Tables> ring_balance(const RingLab& lab, const Progress& progress);

/// Nodes join one by one from 3 up to lab.nodes and leave in random order down to 3: what moves.
Expected<Tables> ring_churn(const RingLab& lab, const Progress& progress);

/// Every placement beside the others: time, memory, balance, movement.
Expected<Tables> ring_placements(const RingLab& lab, const Progress& progress);

/// What 16384 hash slots on a placement add to its imbalance and movement.
Expected<Tables> ring_slots(const RingLab& lab, const Progress& progress);

/// The textbook's ring of three nodes and four keys, and a node that joins.
Expected<Tables> ring_worked(const RingLab& lab, const Progress& progress);

}  // namespace nidus::lab
