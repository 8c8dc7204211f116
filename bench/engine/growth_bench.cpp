// SPDX-License-Identifier: Apache-2.0

// What growing costs: a table grows from nothing to --keys, one new key and one read of a random
// old key in turn, each timed alone. Prints the latency, by the wall clock and by the thread's own
// CPU time (what the wall clock adds is others' use of the machine), and the memory beyond key and
// value at steps of an eighth of a doubling: at its best, averaged over the last doubling, and the
// highest resident size ever beside the last.
//
//   growth_bench [--keys 20000000] [--value 32] [--expiry 1]

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/keyspace.hpp"
#include "engine/thread.hpp"
#include "support/histogram.hpp"

namespace {

using namespace nidus;

constexpr std::size_t kKeyBytes = 16;

struct Options {
  std::size_t keys = 20'000'000, value = 32, expiry = 0;
};

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::size_t resident() {
  std::size_t total = 0, pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%zu %zu", &total, &pages) != 2) std::exit(1);
  std::fclose(file);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct Key {
  explicit Key(std::size_t i) { std::snprintf(text, sizeof text, "key:%012zu", i); }
  std::string_view view() const { return {text, kKeyBytes}; }
  char text[32];
};

struct Times {
  bench::Histogram wall, cpu;

  template <class Request>
  void time(Request&& request) {
    const std::uint64_t cpu_start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
    request();
    wall.add(clock_ns(CLOCK_MONOTONIC) - start);
    cpu.add(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start);
  }

  void print(const char* name) const {
    for (const auto* histogram : {&wall, &cpu}) {
      std::printf("%-6s %-5s p50 %8.2f  p99 %8.2f  p99.9 %8.2f  p99.999 %8.1f  max %9.1f us\n",
                  name, histogram == &wall ? "wall" : "cpu", histogram->percentile(0.5) / 1e3,
                  histogram->percentile(0.99) / 1e3, histogram->percentile(0.999) / 1e3,
                  histogram->percentile(0.99999) / 1e3,
                  static_cast<double>(histogram->max_ns()) / 1e3);
    }
  }
};

struct Step {
  std::size_t keys;
  double resident, account;  // bytes a key beyond key and value
};

void print_memory(const std::vector<Step>& steps, std::size_t peak_bytes, std::size_t last_bytes) {
  double best = 1e9, sum = 0;
  std::size_t counted = 0;
  std::printf("\n%12s %22s %22s\n", "keys", "resident beyond, B/key", "account beyond, B/key");
  for (const Step& step : steps) {
    std::printf("%12zu %22.1f %22.1f\n", step.keys, step.resident, step.account);
    if (step.keys * 2 <= steps.back().keys) continue;
    best = std::min(best, step.resident);
    sum += step.resident;
    ++counted;
  }
  std::printf("last doubling: best %.1f, average %.1f resident bytes a key beyond key and value\n",
              best, sum / static_cast<double>(counted));
  std::printf("highest resident size %.3f of the last\n",
              static_cast<double>(peak_bytes) / static_cast<double>(last_bytes));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::size_t value = std::strtoull(argv[i + 1], nullptr, 10);
    (name == "--keys" ? options.keys : name == "--value" ? options.value : options.expiry) = value;
  }
  engine::ThreadScope thread;
  engine::Keyspace keyspace{engine::KeyspaceOptions{}};
  engine::Database& database = keyspace.database(0);
  const std::string value(options.value, 'v');
  const engine::Millis expires_at = options.expiry != 0 ? 1'000'000 : engine::kNoExpiry;
  const std::size_t before = resident();
  const auto beyond = [&](std::size_t bytes, std::size_t keys) {
    return static_cast<double>(bytes) / static_cast<double>(keys) -
           static_cast<double>(kKeyBytes + options.value);
  };
  std::mt19937_64 random(1);
  Times sets, gets;
  std::vector<Step> steps;
  std::size_t peak = 0, next_step = 1000, missing = 0;
  for (std::size_t n = 1; n <= options.keys; ++n) {
    const Key fresh(n - 1), old(random() % n);
    sets.time([&] {
      database.lock(keyspace.key(fresh.view()), 1).set(value, expires_at);
      engine::ThreadScope::quiescent();
    });
    gets.time([&] {
      if (database.find(keyspace.key(old.view()), 1) == nullptr) ++missing;
      engine::ThreadScope::quiescent();
    });
    if (n != next_step && n != options.keys) continue;
    const std::size_t now = resident() - before;
    peak = std::max(peak, now);
    steps.push_back({n, beyond(now, n), beyond(keyspace.memory().live_bytes(), n)});
    next_step = static_cast<std::size_t>(std::ceil(static_cast<double>(n) * std::exp2(1.0 / 8)));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  peak = std::max(peak, static_cast<std::size_t>(usage.ru_maxrss) * 1024 - before);
  std::printf("%zu keys of %zu bytes, values of %zu bytes; %zu reads missed\n", options.keys,
              kKeyBytes, options.value, missing);
  sets.print("SET");
  gets.print("GET");
  print_memory(steps, peak, resident() - before);
  return missing == 0 ? 0 : 1;
}
