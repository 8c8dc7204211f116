// SPDX-License-Identifier: Apache-2.0

// All filters and their peers in one table: nanoseconds an insert, and a lookup at 0 to 100 % hits,
// one by one and in batches of 1024; the rate, the bits an item and the optimum beside them; and how
// near a batch of absent keys comes to the time of the lines that it must fetch. Everything is
// measured in turn, round after round, and the medians are printed.
//
//   filters_bench [--items 200000] [--fpr-per-mille 10] [--rounds 101] [--set 1]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "filter/subjects.hpp"
#include "support/lines.hpp"

namespace {

using namespace nidus::bench;
using Clock = std::chrono::steady_clock;

struct Options {
  std::size_t items = 200'000, fpr_per_mille = 10, rounds = 101, set = 1;
  double fpr() const { return static_cast<double>(fpr_per_mille) / 1000; }
};

// Short stretches, many rounds: a median is then not moved by what else the machine does.
constexpr std::size_t kLookups = 1 << 14;
constexpr unsigned kHitPercents[] = {0, 25, 50, 75, 100};
constexpr std::size_t kHits = std::size(kHitPercents);
constexpr std::uint64_t kAbsent = std::uint64_t{1} << 62;

struct Measures {
  double insert_ns = 0, rate = 0;
  std::vector<double> single[kHits], batch[kHits], limit;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double ns_each(Clock::time_point start, std::size_t n) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
         static_cast<double>(n);
}

/// Keys 0 to items - 1, in pieces; the time an insert takes.
double fill(Subject& subject, std::size_t items) {
  constexpr std::size_t kPiece = 1 << 16;
  std::vector<std::uint64_t> keys;
  double ns = 0;
  for (std::size_t done = 0; done < items; done += keys.size()) {
    keys.resize(std::min(kPiece, items - done));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = done + i;
    const auto start = Clock::now();
    subject.insert(keys);
    ns += ns_each(start, 1);
  }
  return ns / static_cast<double>(items);
}

std::vector<std::uint64_t> lookups(std::size_t items, unsigned hit_percent,
                                   std::mt19937_64& random) {
  std::vector<std::uint64_t> keys(kLookups);
  for (auto& key : keys) {
    const bool hit = random() % 100 < hit_percent;
    key = hit ? random() % items : kAbsent + random() % kAbsent;
  }
  return keys;
}

std::uint64_t sink = 0;

void measure_round(const Subject& subject, const Options& options, RandomLines& lines,
                   std::mt19937_64& random, Measures& out) {
  for (std::size_t h = 0; h < kHits; ++h) {
    const auto keys = lookups(options.items, kHitPercents[h], random);
    auto start = Clock::now();
    const std::uint64_t maybe = subject.lookup(keys);
    out.single[h].push_back(ns_each(start, kLookups));
    if (h == 0) out.rate += static_cast<double>(maybe) / kLookups / double(options.rounds);
    const auto others = lookups(options.items, kHitPercents[h], random);
    start = Clock::now();
    sink += subject.lookup_batch(others);
    out.batch[h].push_back(ns_each(start, kLookups));
  }
  out.limit.push_back(lines.run(subject.lines(), kLookups));
}

void print_row(const Subject& subject, const Options& options, const Measures& m) {
  std::printf("| %-19s | %6.2f | %9.6f | %6.1f |", subject.name().c_str(),
              subject.bits() / static_cast<double>(options.items), m.rate, m.insert_ns);
  for (const auto& single : m.single) std::printf(" %5.1f", median(single));
  std::printf(" |");
  for (const auto& batch : m.batch) {
    subject.has_batch() ? std::printf(" %5.1f", median(batch)) : std::printf(" %5s", "-");
  }
  std::printf(" | %zu: %5.1f |", subject.lines(), median(m.limit));
  subject.has_batch() ? std::printf(" %5.2f |\n", median(m.limit) / median(m.batch[0]))
                      : std::printf(" %5s |\n", "-");
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::size_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--items" && value > 0) {
      options.items = value;
    } else if (name == "--fpr-per-mille" && value > 0 && value < 1000) {
      options.fpr_per_mille = value;
    } else if (name == "--rounds" && value > 0) {
      options.rounds = value;
    } else if (name == "--set") {
      options.set = value;
    } else {
      return false;
    }
  }
  return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s [--items N] [--fpr-per-mille N] [--rounds N] [--set 0|1]\n",
                 argv[0]);
    return 2;
  }
  auto subjects = make_subjects(options.items, options.fpr(), options.set != 0);
  std::vector<Measures> measures(subjects.size());
  const double least_bytes = subjects.front()->bits() / 8;
  RandomLines lines(static_cast<std::size_t>(least_bytes));
  std::printf("%zu keys, rate %g: at least %.2f bits an item; Bloom takes %.1f MB\n", options.items,
              options.fpr(), nidus::filter::optimum_bits_per_item(options.fpr()),
              least_bytes / 1e6);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    measures[i].insert_ns = fill(*subjects[i], options.items);
  }
  std::mt19937_64 random(2);
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      measure_round(*subjects[i], options, lines, random, measures[i]);
    }
  }
  std::printf("| %-19s | %6s | %9s | %6s | %-29s | %-29s | %-8s | %5s |\n", "filter", "bits",
              "rate", "insert", "lookup, 0 25 50 75 100 % hits", "in batches of 1024", "lines",
              "share");
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    print_row(*subjects[i], options, measures[i]);
  }
}
