// SPDX-License-Identifier: Apache-2.0

// What reading requests costs: pipelines as clients send them, in nanoseconds a request
// ("per_request"). A read has the size of the server's input buffer; there are enough different
// ones that the branch predictor cannot learn them by heart, and few enough that they stay in the
// cache.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "resp/parser.hpp"

namespace nidus::resp {
namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kReads = 32;

void append_length(std::string& bytes, char type, std::size_t n) {
  bytes += type;
  bytes += std::to_string(n);
  bytes += "\r\n";
}

std::string request(const std::vector<std::string>& args) {
  std::string bytes;
  append_length(bytes, '*', args.size());
  for (const std::string& arg : args) {
    append_length(bytes, '$', arg.size());
    bytes += arg;
    bytes += "\r\n";
  }
  return bytes;
}

std::string key(std::mt19937_64& random) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "key:%012llu",
                static_cast<unsigned long long>(random() % 1'000'000'000'000));
  return digits;
}

using Reads = std::vector<std::string>;

// Reads full of requests; the last one of each whole.
template <typename Make>
Reads reads_of(Make make) {
  std::mt19937_64 random(1);
  Reads reads(kReads);
  for (std::string& bytes : reads) {
    while (bytes.size() < kReadBytes) bytes += make(random);
  }
  return reads;
}

Reads gets() {
  return reads_of([](auto& random) { return request({"GET", key(random)}); });
}
Reads sets() {
  return reads_of([](auto& random) { return request({"SET", key(random), std::string(32, 'v')}); });
}
Reads gets_and_sets() {
  return reads_of([](auto& random) {
    if (random() % 11 != 0) return request({"GET", key(random)});
    return request({"SET", key(random), std::string(32, 'v')});
  });
}
// Keys of 4 to 40 bytes and values of 1 to 300, so that no branch on a length can be learnt.
Reads mixed_sizes() {
  return reads_of([](auto& random) {
    return request(
        {"SET", std::string(4 + random() % 37, 'k'), std::string(1 + random() % 300, 'v')});
  });
}
Reads multi_gets() {
  return reads_of([](auto& random) {
    std::vector<std::string> args{"MGET"};
    for (int i = 0; i < 32; ++i) args.push_back(key(random));
    return request(args);
  });
}
Reads inline_pings() {
  return reads_of([](auto&) { return std::string("PING\r\n"); });
}

void parse_reads(benchmark::State& state, Reads (*make)()) {
  const Reads reads = make();
  const Limits limits;
  Parser parser;
  RequestBatch batch;
  std::size_t requests = 0;
  std::size_t bytes = 0;
  std::size_t next = 0;
  for (auto _ : state) {
    batch.clear();
    parser.parse(reads[next], limits, batch);
    benchmark::DoNotOptimize(batch[batch.size() - 1].data());
    requests += batch.size();
    bytes += parser.consumed();
    next = (next + 1) % kReads;
  }
  if (parser.consumed() < kReadBytes) state.SkipWithError("not all consumed");
  state.counters["per_request"] = benchmark::Counter(
      static_cast<double>(requests), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

BENCHMARK_CAPTURE(parse_reads, get_key16, gets);
BENCHMARK_CAPTURE(parse_reads, set_key16_value32, sets);
BENCHMARK_CAPTURE(parse_reads, get_set_10_1, gets_and_sets);
BENCHMARK_CAPTURE(parse_reads, set_mixed_sizes, mixed_sizes);
BENCHMARK_CAPTURE(parse_reads, mget_32_keys, multi_gets);
BENCHMARK_CAPTURE(parse_reads, inline_ping, inline_pings);

// The careful reader: one request of many arguments, in pieces of one read. Figures an argument.
void parse_in_pieces(benchmark::State& state) {
  const std::size_t args = 100'000;
  const std::string bytes = request(std::vector<std::string>(args, "argument"));
  const Limits limits;
  RequestBatch batch;
  for (auto _ : state) {
    batch.clear();
    Parser parser;
    for (std::size_t end = 0; end < bytes.size();) {
      end = std::min(bytes.size(), end + kReadBytes);
      parser.parse(std::string_view(bytes).substr(0, end), limits, batch);
    }
    if (batch.size() != 1) state.SkipWithError("request not read");
  }
  state.counters["per_argument"] =
      benchmark::Counter(static_cast<double>(args), benchmark::Counter::kIsIterationInvariantRate |
                                                        benchmark::Counter::kInvert);
}
BENCHMARK(parse_in_pieces);

}  // namespace
}  // namespace nidus::resp
