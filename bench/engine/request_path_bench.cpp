// SPDX-License-Identifier: Apache-2.0

// Nanoseconds a request in process: from the parsed request to the reply's bytes, without sockets.
// Beside them the limit: the time in which this machine fetches the same number of random cache
// lines, dependent as the request's are (bucket, then item) and with as many side by side as the
// batch allows. Both are measured in turn, round after round; the medians are printed.
//
//   request_path_bench [--keys 5000000] [--value 32] [--rounds 7]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>

#include "command/executor.hpp"
#include "engine/keyspace.hpp"
#include "engine/thread.hpp"
#include "resp/parser.hpp"
#include "support/idle_services.hpp"

namespace {

using namespace nidus;
using Clock = std::chrono::steady_clock;

struct Options {
  std::size_t keys = 5'000'000, value = 32, rounds = 7;
};

constexpr std::size_t kRequestsARound = 1 << 18;

std::string key_name(std::size_t i) {
  char text[32];
  std::snprintf(text, sizeof text, "key:%012zu", i);
  return text;
}

std::string bulk(std::string_view bytes) {
  return "$" + std::to_string(bytes.size()) + "\r\n" + std::string(bytes) + "\r\n";
}

/// Many batches of one kind of request, parsed before the clock starts.
struct Traffic {
  std::string bytes;
  std::deque<resp::RequestBatch> batches;
};

void fill(Traffic& traffic, const Options& options, bool set, std::size_t batch,
          std::mt19937_64& random) {
  const std::string value(options.value, 'v');
  for (std::size_t i = 0; i < kRequestsARound; ++i) {
    const std::string key = key_name(random() % options.keys);
    traffic.bytes +=
        set ? "*3\r\n$3\r\nSET\r\n" + bulk(key) + bulk(value) : "*2\r\n$3\r\nGET\r\n" + bulk(key);
  }
  resp::Parser parser;
  std::string_view rest = traffic.bytes;
  while (!rest.empty()) {
    parser.parse(rest, {}, traffic.batches.emplace_back(), batch);
    rest.remove_prefix(parser.consumed());
  }
}

class Server {
 public:
  explicit Server(const Options& options) : executor_(keyspace_, services_) {
    session_.authenticated = true;
    auto& database = keyspace_.database(0);
    const std::string value(options.value, 'v');
    for (std::size_t i = 0; i < options.keys; ++i) {
      const std::string name = key_name(i);
      database.lock(keyspace_.key(name), 1).set(value, engine::kNoExpiry);
      if (i % 1024 == 0) engine::ThreadScope::quiescent();
    }
  }

  /// Nanoseconds a request.
  double run(const Traffic& traffic) {
    const auto start = Clock::now();
    for (const resp::RequestBatch& batch : traffic.batches) {
      executor_.run(session_, batch, 0, out_, kNoLimit, 1000);
      engine::ThreadScope::quiescent();
      out_.clear();
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kRequestsARound;
  }

 private:
  static constexpr std::size_t kNoLimit = std::size_t{1} << 40;
  engine::ThreadScope thread_;
  engine::Keyspace keyspace_{engine::KeyspaceOptions{}};
  bench::IdleServices services_;
  command::Executor executor_;
  command::Session session_;
  resp::OutputBuffer out_;
};

/// No later load starts before the earlier ones have their values.
inline void wait_for_loads() {
#if defined(__x86_64__)
  asm volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dsb ld" ::: "memory");
#endif
}

/// The limit: a random line, then a second one whose address stands in the first, `batch` pairs
/// side by side; over as much memory as the table takes.
class Lines {
 public:
  explicit Lines(std::size_t bytes) : count_(std::max<std::size_t>(bytes / kLine, 1024)) {
    void* memory =
        mmap(nullptr, count_ * kLine, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::exit(1);
    madvise(memory, count_ * kLine, MADV_HUGEPAGE);
    lines_ = static_cast<std::uint64_t*>(memory);
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < count_; ++i) lines_[i * kWords] = random() % count_;
  }
  ~Lines() { munmap(lines_, count_ * kLine); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  double run(std::size_t batch, std::mt19937_64& random) {
    std::vector<std::uint64_t> first(kRequestsARound);
    for (auto& at : first) at = random() % count_;
    std::uint64_t sum = 0;
    const auto start = Clock::now();
    for (std::size_t i = 0; i < kRequestsARound; i += batch) {
      const std::size_t end = std::min(i + batch, kRequestsARound);
      if (batch > 1) {
        for (std::size_t j = i; j < end; ++j) __builtin_prefetch(lines_ + first[j] * kWords);
        for (std::size_t j = i; j < end; ++j) {
          __builtin_prefetch(lines_ + lines_[first[j] * kWords] * kWords);
        }
      }
      // Alone, each pair waits for the one before, as a request waits for the last reply.
      for (std::size_t j = i; j < end; ++j) {
        const std::uint64_t at = lines_[first[j] * kWords];
        sum = sum + lines_[at * kWords];
        if (batch == 1) wait_for_loads();
      }
    }
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    sink = sum;
    return ns / kRequestsARound;
  }

 private:
  static constexpr std::size_t kLine = 64, kWords = kLine / sizeof(std::uint64_t);
  std::size_t count_;
  std::uint64_t* lines_ = nullptr;
  static inline volatile std::uint64_t sink = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::size_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--keys" && value > 0) {
      options.keys = value;
    } else if (name == "--value") {
      options.value = value;
    } else if (name == "--rounds" && value > 0) {
      options.rounds = value;
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
    std::fprintf(stderr, "usage: %s [--keys N] [--value BYTES] [--rounds N]\n", argv[0]);
    return 2;
  }
  std::mt19937_64 random(2);
  Server server(options);
  Lines lines(options.keys * (16 + options.value + 24));
  std::printf("%zu keys of 16 bytes, values of %zu bytes; ns a request, medians of %zu rounds\n",
              options.keys, options.value, options.rounds);
  std::printf("%8s %10s %10s %14s\n", "batch", "GET", "SET", "2 lines (limit)");
  for (const std::size_t batch : {1, 4, 16, 64}) {
    Traffic gets, sets;
    fill(gets, options, false, batch, random);
    fill(sets, options, true, batch, random);
    std::vector<double> get_ns, set_ns, line_ns;
    for (std::size_t round = 0; round < options.rounds; ++round) {
      get_ns.push_back(server.run(gets));
      set_ns.push_back(server.run(sets));
      line_ns.push_back(lines.run(batch, random));
    }
    std::printf("%8zu %10.1f %10.1f %14.1f\n", batch, median(get_ns), median(set_ns),
                median(line_ns));
  }
}
