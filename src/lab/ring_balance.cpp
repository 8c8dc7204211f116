// SPDX-License-Identifier: Apache-2.0

// Load against the number of tokens. A node's share is the sum of v nearly independent arcs, so its
// deviation is sqrt((1 - 1/N) / v) of the mean; the fit is a straight line through the logarithms.

#include <cmath>
#include <utility>
#include <vector>

#include <nidus/ring/ring.hpp>

#include "lab/ring.hpp"
#include "lab/ring_measure.hpp"

namespace nidus::lab {
namespace {

struct Line {
  double slope, intercept;
};

Line fit(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
  }
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  return {slope, (sy - slope * sx) / n};
}

struct Sample {
  double deviation = 0, mean_max = 0, worst_max = 0, within_tenth = 0;
};

Expected<Sample> sample(std::size_t nodes, std::uint32_t tokens, std::size_t rings,
                        std::uint64_t seed) {
  Sample sample;
  for (std::size_t r = 0; r < rings; ++r) {
    const auto ring = ring::Ring::build(numbered_nodes(nodes, seed * 1'000'003 + r), {tokens});
    if (!ring) return tl::unexpected(ring.error());
    const Balance balance = balance_of(shares_of(ring->arcs(), nodes), ring->nodes());
    sample.deviation += balance.deviation * balance.deviation;
    sample.mean_max += balance.max_over_mean;
    sample.worst_max = std::max(sample.worst_max, balance.max_over_mean);
    sample.within_tenth += balance.max_over_mean <= 1.1;
  }
  const double n = static_cast<double>(rings);
  return Sample{std::sqrt(sample.deviation / n), sample.mean_max / n, sample.worst_max,
                100 * sample.within_tenth / n};
}

}  // namespace

Expected<Tables> ring_balance(const RingLab& lab, const Progress& progress) {
  const std::size_t nodes = lab.nodes == 0 ? 10 : lab.nodes;
  const std::size_t rings = lab.rings == 0 ? 200 : lab.rings;
  if (nodes < 2) return fail("one node owns everything: --nodes is 2 or more here");
  Table table{"balance",
              "Load of " + std::to_string(nodes) + " equal nodes against tokens a node, over " +
                  std::to_string(rings) + " sets of names",
              {{"tokens"},
               {"deviation_percent", 2},
               {"theory_percent", 2},
               {"max_over_mean", 3},
               {"worst_max_over_mean", 3},
               {"rings_within_1.10_percent", 1}},
              {}};
  const std::vector<std::uint32_t> all = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  const double spread = std::sqrt(1 - 1 / static_cast<double>(nodes));
  std::vector<double> x, y;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto s = sample(nodes, all[i], rings, lab.seed);
    if (!s) return tl::unexpected(s.error());
    table.rows.push_back({count(all[i]), 100 * s->deviation, 100 * spread / std::sqrt(all[i]),
                          s->mean_max, s->worst_max, s->within_tenth});
    x.push_back(std::log(all[i]));
    y.push_back(std::log(s->deviation));
    progress(i + 1, all.size());
  }
  const Line line = fit(x, y);
  Table law{"fit",
            "deviation = factor x tokens ^ exponent",
            {{"exponent", 4}, {"theory_exponent", 4}, {"factor", 4}, {"theory_factor", 4}},
            {{line.slope, -0.5, std::exp(line.intercept), spread}},
            true};
  return Tables{std::move(table), std::move(law)};
}

}  // namespace nidus::lab
