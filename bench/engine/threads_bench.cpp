// SPDX-License-Identifier: Apache-2.0

// How far threads help: GETs (and a mix with SETs) in batches on one keyspace, by one thread and by
// more, in turn. Each thread counts what it does in a second of its own CPU time, so that a busy
// machine does not count against it: what remains is what the threads do to each other.
//
//   threads_bench [--keys 5000000] [--threads 2] [--rounds 5]

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/keyspace.hpp"
#include "engine/thread.hpp"

namespace {

using namespace nidus;

struct Options {
  std::size_t keys = 5'000'000, threads = 2, rounds = 5;
};

constexpr std::size_t kBatch = 32;
constexpr double kSeconds = 0.5;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string name(std::size_t i) {
  char text[32];
  std::snprintf(text, sizeof text, "key:%012zu", i);
  return text;
}

/// Requests a second of CPU time of one thread. sets: of 11 requests so many.
double work(engine::Keyspace& keyspace, const std::vector<std::string>& names, unsigned seed,
            unsigned sets, std::atomic<unsigned>& running) {
  engine::ThreadScope scope;
  engine::Database& database = keyspace.database(0);
  std::mt19937_64 random(seed);
  const std::string value(32, 'w');
  std::vector<engine::KeyRef> keys(kBatch);
  std::size_t done = 0, found = 0;
  const unsigned all = running.load();
  const double start = cpu_seconds();
  double spent = 0;
  while (spent < kSeconds && running.load() == all) {
    for (int turn = 0; turn < 64; ++turn) {
      for (auto& key : keys) {
        key = keyspace.key(names[random() % names.size()]);
        database.prefetch_bucket(key.hash);
      }
      for (const auto& key : keys) database.prefetch_item(key.hash);
      for (const auto& key : keys) {
        if (key.hash % 11 < sets) {
          database.lock(key, 1).set(value, engine::kNoExpiry);
        } else if (database.find(key, 1) != nullptr) {
          ++found;
        }
      }
      engine::ThreadScope::quiescent();
      done += kBatch;
    }
    spent = cpu_seconds() - start;
  }
  running.store(0);  // the first to end ends all: nobody measures alone
  if (sets == 0 && found != done) std::abort();
  return static_cast<double>(done) / spent;
}

double run(engine::Keyspace& keyspace, const std::vector<std::string>& names, std::size_t count,
           unsigned sets) {
  std::vector<std::thread> threads;
  std::vector<double> rates(count);
  std::atomic<unsigned> running{static_cast<unsigned>(count)};
  for (std::size_t t = 0; t < count; ++t) {
    threads.emplace_back(
        [&, t] { rates[t] = work(keyspace, names, static_cast<unsigned>(t + 1), sets, running); });
  }
  for (auto& thread : threads) thread.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const std::size_t value = std::strtoull(argv[i + 1], nullptr, 10);
    (flag == "--keys"      ? options.keys
     : flag == "--threads" ? options.threads
                           : options.rounds) = std::max<std::size_t>(value, 1);
  }
  engine::Keyspace keyspace{engine::KeyspaceOptions{}};
  std::vector<std::string> names;
  {
    engine::ThreadScope scope;
    names.reserve(options.keys);
    for (std::size_t i = 0; i < options.keys; ++i) {
      names.push_back(name(i));
      keyspace.database(0)
          .lock(keyspace.key(names.back()), 1)
          .set(std::string(32, 'v'), engine::kNoExpiry);
    }
  }
  std::printf("%zu keys, batches of %zu; M requests a second of CPU time, medians of %zu rounds\n",
              options.keys, kBatch, options.rounds);
  std::printf("%-14s %10s %10s %8s\n", "", "1 thread", "threads", "ratio");
  for (const unsigned sets : {0u, 1u, 11u}) {
    std::vector<double> one, many, ratio;
    for (std::size_t round = 0; round < options.rounds; ++round) {
      one.push_back(run(keyspace, names, 1, sets));
      many.push_back(run(keyspace, names, options.threads, sets));
      ratio.push_back(many.back() / one.back());
    }
    std::printf("%-14s %10.2f %10.2f %7.2fx\n",
                sets == 0   ? "GET"
                : sets == 1 ? "GET:SET 10:1"
                            : "SET",
                median(one) / 1e6, median(many) / 1e6, median(ratio));
  }
}
