// SPDX-License-Identifier: Apache-2.0

// concurrent_bench [log2 of the slots, 20] [load, 0.75] [operations a thread, 1000000] [rounds, 5]
//
// ConcurrentMap beside libcuckoo and tbb::concurrent_hash_map, u64 -> u64, one and two threads:
// single and batched reads, reads with 5 and 50 % updates, uniform and Zipf 0.99; then the build
// from empty and the longest single insertion. All maps stand at once and take turns; the figure is
// the median in millions a second of the slowest thread's own CPU time, which other work on the
// machine disturbs least, with the fewest and the most of the rounds. (boost::concurrent_flat_map
// came with Boost 1.83; Debian 12 has 1.81.)

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <nidus/map/concurrent_map.hpp>

#if NIDUS_HAVE_LIBCUCKOO
#include <libcuckoo/cuckoohash_map.hh>
#endif
#if NIDUS_HAVE_TBB
#include <oneapi/tbb/concurrent_hash_map.h>
#endif

namespace nidus::bench {
namespace {

using U64 = std::uint64_t;

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}
U64 key(U64 i) { return map::mix(i + 0x5851F42D4C957F2Dull); }

struct Nidus {
  static constexpr const char* kName = "nidus";
  ConcurrentMap<U64, U64> map;
  void reserve(U64 n) { map.reserve(n); }
  void insert(U64 k, U64 v) { map.insert(k, v); }
  void update(U64 k, U64 v) { map.update(k, v); }
  U64 find(U64 k) const {
    U64 found = 0;
    map.cvisit(k, [&](U64 v) { found = v; });
    return found;
  }
  U64 batch(std::span<const U64> keys) const {
    U64 sum = 0;
    map.cvisit_batch(keys, [&](std::size_t, U64 v) { sum += v; });
    return sum;
  }
};

#if NIDUS_HAVE_LIBCUCKOO
struct Libcuckoo {
  static constexpr const char* kName = "libcuckoo 0.3.1";
  libcuckoo::cuckoohash_map<U64, U64> map;
  void reserve(U64 n) { map.reserve(n); }
  void insert(U64 k, U64 v) { map.insert(k, v); }
  void update(U64 k, U64 v) { map.update(k, v); }
  U64 find(U64 k) const {
    U64 v = 0;
    map.find(k, v);
    return v;
  }
  U64 batch(std::span<const U64> keys) const {
    U64 sum = 0;
    for (const U64 k : keys) sum += find(k);
    return sum;
  }
};
#endif

#if NIDUS_HAVE_TBB
struct Tbb {
  static constexpr const char* kName = "tbb";
  using Map = tbb::concurrent_hash_map<U64, U64>;
  Map map;
  void reserve(U64 n) { map.rehash(n); }
  void insert(U64 k, U64 v) { map.insert({k, v}); }
  void update(U64 k, U64 v) {
    Map::accessor at;
    if (map.find(at, k)) at->second = v;
  }
  U64 find(U64 k) const {
    Map::const_accessor at;
    return map.find(at, k) ? at->second : 0;
  }
  U64 batch(std::span<const U64> keys) const {
    U64 sum = 0;
    for (const U64 k : keys) sum += find(k);
    return sum;
  }
};
#endif

std::atomic<U64> sink = 0;  // printed, so that no loop is left out

/// Millions of operations a second of all threads together.
double run_threads(unsigned n, std::size_t operations, const std::function<U64(unsigned)>& work) {
  std::atomic<unsigned> ready = 0;
  std::vector<std::thread> threads;
  std::vector<double> took(n);
  for (unsigned t = 0; t < n; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < n) {
      }
      const double start = cpu_seconds();
      sink += work(t);
      took[t] = cpu_seconds() - start;
    });
  }
  for (auto& thread : threads) thread.join();
  return static_cast<double>(operations) * n / *std::max_element(took.begin(), took.end()) * 1e-6;
}

struct Axes {
  unsigned log2_slots = 20;
  double load = 0.75;
  std::size_t operations = 1'000'000;
  unsigned rounds = 5;
  U64 keys() const { return static_cast<U64>(load * static_cast<double>(U64{1} << log2_slots)); }
};

using Questions = std::vector<std::vector<U64>>;  // a thread's own

Questions make_questions(const Axes& axes, bool zipf) {
  Questions made(2);
  constexpr double kSkew = 0.99;
  const double top = std::pow(static_cast<double>(axes.keys()), 1 - kSkew);
  for (unsigned t = 0; t < 2; ++t) {
    std::mt19937_64 random(t + 7);
    std::uniform_real_distribution<double> uniform;
    for (std::size_t i = 0; i < axes.operations; ++i) {
      const double rank = std::pow(uniform(random) * (top - 1) + 1, 1 / (1 - kSkew));
      made[t].push_back(zipf ? key(map::mix(static_cast<U64>(rank)) % axes.keys())
                             : key(random() % axes.keys()));
    }
  }
  return made;
}

template <class Map>
U64 mixed(Map& map, const std::vector<U64>& keys, unsigned updates_in_100) {
  U64 sum = 0;
  U64 turn = 0;
  for (const U64 k : keys) {
    turn = turn * 25214903917 + 11;
    if ((turn >> 16) % 100 < updates_in_100) {
      map.update(k, turn);
    } else {
      sum += map.find(k);
    }
  }
  return sum;
}

struct Row {
  const char* map;
  std::string what;
  std::function<double()> measure;
  std::vector<double> seen = {};
};

template <class Map>
void add_rows(std::vector<Row>& rows, Map& map, const Axes& axes, const Questions& uniform,
              const Questions& zipf) {
  map.reserve(axes.keys());
  for (U64 i = 0; i < axes.keys(); ++i) map.insert(key(i), i);
  for (const unsigned n : {1u, 2u}) {
    const std::string threads = ", threads " + std::to_string(n);
    const auto row = [&](const std::string& what, std::function<U64(unsigned)> work) {
      rows.push_back({Map::kName, what + threads,
                      [n, &axes, work] { return run_threads(n, axes.operations, work); }});
    };
    row("read", [&](unsigned t) { return mixed(map, uniform[t], 0); });
    row("batch read", [&](unsigned t) {
      U64 sum = 0;
      const std::span<const U64> keys(uniform[t]);
      for (std::size_t i = 0; i < keys.size(); i += 1024) {
        sum += map.batch(keys.subspan(i, std::min<std::size_t>(1024, keys.size() - i)));
      }
      return sum;
    });
    row("read, 5 % updates", [&](unsigned t) { return mixed(map, uniform[t], 5); });
    row("Zipf, 5 % updates", [&](unsigned t) { return mixed(map, zipf[t], 5); });
    row("read, 50 % updates", [&](unsigned t) { return mixed(map, uniform[t], 50); });
  }
  rows.push_back({Map::kName, "build from empty, threads 2", [&axes] {
                    Map built;
                    const auto insert = [&](unsigned t) {
                      for (U64 i = t; i < axes.keys(); i += 2) built.insert(key(i), i);
                      return U64{1};
                    };
                    return run_threads(2, axes.keys() / 2, insert);
                  }});
}

/// The longest of the insertions that build a map, in microseconds of CPU time. What interrupts the
/// thread is in it, so the least of the rounds counts.
template <class Map>
double longest_insertion(const Axes& axes) {
  Map map;
  double longest = 0;
  for (U64 i = 0; i < axes.keys(); ++i) {
    const double start = cpu_seconds();
    map.insert(key(i), i);
    longest = std::max(longest, cpu_seconds() - start);
  }
  return longest * 1e6;
}

template <class Map>
void print_pause(const Axes& axes) {
  double least = 1e12;
  for (unsigned i = 0; i < axes.rounds; ++i) least = std::min(least, longest_insertion<Map>(axes));
  std::printf("%-28s %-16s %9.0f us\n", "longest insertion", Map::kName, least);
}

void run(const Axes& axes) {
  const Questions uniform = make_questions(axes, false);
  const Questions zipf = make_questions(axes, true);
  std::vector<Row> rows;
  Nidus nidus;
  add_rows(rows, nidus, axes, uniform, zipf);
#if NIDUS_HAVE_LIBCUCKOO
  Libcuckoo libcuckoo;
  add_rows(rows, libcuckoo, axes, uniform, zipf);
#endif
#if NIDUS_HAVE_TBB
  Tbb tbb;
  add_rows(rows, tbb, axes, uniform, zipf);
#endif
  for (unsigned round = 0; round < axes.rounds; ++round) {
    for (auto& row : rows) row.seen.push_back(row.measure());
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.what < b.what; });
  std::printf("2^%u slots, load %.2f, %zu operations a thread, %u rounds; millions a second\n",
              axes.log2_slots, axes.load, axes.operations, axes.rounds);
  for (auto& row : rows) {
    std::sort(row.seen.begin(), row.seen.end());
    std::printf("%-28s %-16s %9.1f   (%.1f to %.1f)\n", row.what.c_str(), row.map,
                row.seen[row.seen.size() / 2], row.seen.front(), row.seen.back());
  }
  print_pause<Nidus>(axes);
#if NIDUS_HAVE_LIBCUCKOO
  print_pause<Libcuckoo>(axes);
#endif
#if NIDUS_HAVE_TBB
  print_pause<Tbb>(axes);
#endif
  std::printf("(%llx)\n", static_cast<unsigned long long>(sink.load()));
}

}  // namespace
}  // namespace nidus::bench

int main(int argc, char** argv) {
  nidus::bench::Axes axes;
  if (argc > 1) axes.log2_slots = static_cast<unsigned>(std::atoi(argv[1]));
  if (argc > 2) axes.load = std::atof(argv[2]);
  if (argc > 3) axes.operations = static_cast<std::size_t>(std::atoll(argv[3]));
  if (argc > 4) axes.rounds = static_cast<unsigned>(std::atoi(argv[4]));
  if (axes.log2_slots < 8 || axes.log2_slots > 30 || axes.rounds == 0 || axes.operations == 0) {
    std::fprintf(stderr, "concurrent_bench [log2 slots, 8 to 30] [load] [operations] [rounds]\n");
    return 2;
  }
  nidus::bench::run(axes);
}
