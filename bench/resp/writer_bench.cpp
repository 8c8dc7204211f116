// SPDX-License-Identifier: Apache-2.0

// What writing replies costs, in nanoseconds a reply ("per_reply"), into a buffer in the cache that
// holds one pipeline's replies.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "resp/writer.hpp"

namespace nidus::resp {
namespace {

constexpr int kReplies = 256;

template <typename Reply>
void write_replies(benchmark::State& state, Reply reply) {
  OutputBuffer out;
  Writer writer(out);
  for (auto _ : state) {
    out.clear();
    for (int i = 0; i < kReplies; ++i) reply(writer, i);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.counters["per_reply"] = benchmark::Counter(
      static_cast<double>(kReplies),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void write_bulk(benchmark::State& state) {
  const std::string value(static_cast<std::size_t>(state.range(0)), 'v');
  write_replies(state, [&](Writer& writer, int) { writer.bulk(value); });
}
BENCHMARK(write_bulk)->Arg(5)->Arg(16)->Arg(32)->Arg(64)->Arg(100)->Arg(1000);

void write_ok(benchmark::State& state) {
  write_replies(state, [](Writer& writer, int) { writer.ok(); });
}
BENCHMARK(write_ok);

void write_null(benchmark::State& state) {
  write_replies(state, [](Writer& writer, int) { writer.null(); });
}
BENCHMARK(write_null);

void write_integer(benchmark::State& state) {
  const std::int64_t factor = state.range(0);
  write_replies(state, [&](Writer& writer, int i) { writer.integer(i * factor); });
}
BENCHMARK(write_integer)->Arg(0)->Arg(1)->Arg(1'000'000'007);

}  // namespace
}  // namespace nidus::resp
