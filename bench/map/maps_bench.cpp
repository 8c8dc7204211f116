// SPDX-License-Identifier: Apache-2.0

// maps_bench [log2 of the slots, 14] [load, 0.75] [look-ups, 4000000] [rounds, 5]
//
// CuckooMap beside its peers, u64 -> u64, on one thread, and the machine's limit: random lines a
// second, one and two a key, plain and prefetched. All tables stand at once and take turns, round after
// round; the figure is the median, in millions a second of this thread's own CPU time, so that other
// work on the machine disturbs it least. A peer that cannot hold the load has no row.
//
// Huge pages: nidus asks for them itself; for the others glibc is told to (GLIBC_TUNABLES), by starting
// the program once more.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include <nidus/map/huge_pages.hpp>

#include "map/peers.hpp"

namespace nidus::bench {
namespace {

using U64 = std::uint64_t;

struct Axes {
  unsigned log2_slots = 14;
  double load = 0.75;
  std::size_t look_ups = 4'000'000;
  unsigned rounds = 5;
  U64 slots() const { return U64{1} << log2_slots; }
  U64 keys() const { return static_cast<U64>(load * static_cast<double>(slots())); }
};

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

U64 sink = 0;  // printed, so that no loop is left out

template <class Work>
double millions_a_second(std::size_t n, Work work) {
  const double start = cpu_seconds();
  sink += work();
  return static_cast<double>(n) / (cpu_seconds() - start) * 1e-6;
}

U64 key(U64 i) { return map::mix(i + 0x5851F42D4C957F2Dull) ^ 0xA5A5A5A5A5A5A5A5ull; }

struct Questions {
  std::vector<U64> hits, misses, zipf;
};

/// Ranks of a Zipf law by inverting its continuous form: exact enough for a tail of millions.
Questions make_questions(const Axes& axes) {
  Questions made;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  constexpr double kSkew = 0.99;
  const double top = std::pow(static_cast<double>(axes.keys()), 1 - kSkew);
  for (std::size_t i = 0; i < axes.look_ups; ++i) {
    made.hits.push_back(key(random() % axes.keys()));
    made.misses.push_back(key((U64{1} << 40) + random() % (U64{1} << 39)));
    const double rank = std::pow(uniform(random) * (top - 1) + 1, 1 / (1 - kSkew));
    made.zipf.push_back(key(map::mix(static_cast<U64>(rank)) % axes.keys()));
  }
  return made;
}

struct Row {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::function<double()>> measure;
  std::vector<std::vector<double>> figures;
  double bytes = 0;
};

/// As many bytes as the slots take, read by lines.
class Limit {
 public:
  explicit Limit(U64 slots) : words_(slots * 2), mask_(slots * 16 / 64 - 1) {
    memory_.reset(static_cast<U64*>(std::aligned_alloc(map::kHugePageBytes, bytes())));
    map::advise_huge_pages(memory_.get(), bytes());
    for (U64 i = 0; i < words_; ++i) memory_.get()[i] = i;
  }
  /// `lines` random lines a key; ahead > 0: asked for that many keys in advance.
  U64 read(Keys keys, unsigned lines, std::size_t ahead) const {
    U64 total = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (ahead > 0 && i + ahead < keys.size()) {
        const U64 hash = map::mix(keys[i + ahead]);
        __builtin_prefetch(line(hash));
        if (lines == 2) __builtin_prefetch(line(hash >> 24));
      }
      const U64 hash = map::mix(keys[i]);
      total += *line(hash);
      if (lines == 2) total += *line(hash >> 24);
    }
    return total;
  }

 private:
  struct Free {
    void operator()(U64* memory) const { std::free(memory); }
  };
  std::size_t bytes() const {
    return (words_ * 8 + map::kHugePageBytes - 1) / map::kHugePageBytes * map::kHugePageBytes;
  }
  const U64* line(U64 hash) const { return memory_.get() + (hash & mask_) * 8; }

  U64 words_, mask_;
  std::unique_ptr<U64, Free> memory_;
};

template <class Map>
Row make_row(const std::string& name, const Axes& axes, const Questions& asked) {
  auto holder = std::make_shared<Map>();
  Row row{name, {}, {}, {}, 0};
  holder->reserve(axes.slots());
  if (axes.load > holder->most) return row;
  const double fill = millions_a_second(axes.keys(), [&] {
    for (U64 i = 0; i < axes.keys(); ++i) holder->insert(key(i), i);
    return U64{0};
  });
  if constexpr (requires { holder->map.memory_usage(); }) {
    row.bytes = static_cast<double>(holder->map.memory_usage()) / static_cast<double>(axes.keys());
  }
  const auto add = [&row](const char* column, std::function<double()> measure) {
    row.columns.push_back(column);
    row.measure.push_back(std::move(measure));
  };
  add("insert", [fill] { return fill; });
  add("build", [&axes] {
    Map fresh;
    return millions_a_second(axes.keys(), [&] {
      for (U64 i = 0; i < axes.keys(); ++i) fresh.insert(key(i), i);
      return U64{0};
    });
  });
  const auto plain = [&](const char* column, const std::vector<U64>& keys) {
    add(column, [holder, &keys] {
      return millions_a_second(keys.size(), [&] { return holder->sum(keys); });
    });
  };
  plain("hit", asked.hits);
  plain("miss", asked.misses);
  plain("zipf", asked.zipf);
  if constexpr (Map::kBatches) {
    const auto batch = [&](const char* column, const std::vector<U64>& keys) {
      add(column, [holder, &keys] {
        return millions_a_second(keys.size(), [&] { return holder->sum_batch(keys); });
      });
    };
    batch("hit in batches", asked.hits);
    batch("miss in batches", asked.misses);
  }
  return row;
}

Row limit_row(const std::shared_ptr<Limit>& limit, const Questions& asked) {
  Row row{"the machine", {}, {}, {}, 0};
  for (const unsigned lines : {1u, 2u}) {
    for (const std::size_t ahead : {std::size_t{0}, std::size_t{32}}) {
      row.columns.push_back((lines == 1 ? "one line" : "two lines") +
                            std::string(ahead > 0 ? ", prefetched" : ""));
      row.measure.push_back([&asked, limit, lines, ahead] {
        return millions_a_second(asked.hits.size(),
                                 [&] { return limit->read(asked.hits, lines, ahead); });
      });
    }
  }
  return row;
}

void print(const Row& row) {
  std::printf("%-20s", row.name.c_str());
  for (std::size_t c = 0; c < row.columns.size(); ++c) {
    std::vector<double> sorted = row.figures[c];
    std::sort(sorted.begin(), sorted.end());
    std::printf("  %s %.1f (%.1f-%.1f)", row.columns[c].c_str(), sorted[sorted.size() / 2],
                sorted.front(), sorted.back());
  }
  if (row.bytes > 0) std::printf("  bytes an entry %.2f", row.bytes);
  std::printf("\n");
}

void run(const Axes& axes) {
  std::printf(
      "2^%u slots, load %.3f, %zu look-ups, median of %u rounds (least-most), M/s; g++ %s\n",
      axes.log2_slots, axes.load, axes.look_ups, axes.rounds, __VERSION__);
  const Questions asked = make_questions(axes);
  std::vector<Row> rows{limit_row(std::make_shared<Limit>(axes.slots()), asked)};
  for_each_map([&]<class Map>(const std::string& name) {
    Row row = make_row<Map>(name, axes, asked);
    if (!row.measure.empty()) rows.push_back(std::move(row));
  });
  for (unsigned round = 0; round < axes.rounds; ++round) {
    for (Row& row : rows) {
      row.figures.resize(row.measure.size());
      for (std::size_t c = 0; c < row.measure.size(); ++c) {
        row.figures[c].push_back(row.measure[c]());
      }
    }
  }
  for (const Row& row : rows) print(row);
  std::printf("(checksum %llx)\n", static_cast<unsigned long long>(sink));
}

}  // namespace
}  // namespace nidus::bench

int main(int argc, char** argv) {
  if (std::getenv("GLIBC_TUNABLES") == nullptr) {
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
    execv("/proc/self/exe", argv);
  }
  nidus::bench::Axes axes;
  if (argc > 1) axes.log2_slots = static_cast<unsigned>(std::atoi(argv[1]));
  if (argc > 2) axes.load = std::atof(argv[2]);
  if (argc > 3) axes.look_ups = static_cast<std::size_t>(std::atoll(argv[3]));
  if (argc > 4) axes.rounds = static_cast<unsigned>(std::atoi(argv[4]));
  if (axes.log2_slots < 6 || axes.log2_slots > 32 || !(axes.load > 0 && axes.load < 1) ||
      axes.look_ups == 0 || axes.rounds == 0) {
    std::fprintf(stderr, "maps_bench [log2 of the slots, 6-32] [load] [look-ups] [rounds]\n");
    return 2;
  }
  nidus::bench::run(axes);
}
