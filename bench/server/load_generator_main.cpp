// SPDX-License-Identifier: Apache-2.0

// The load generator as a program; it prints one line of JSON. See load_generator.hpp; compare.py
// starts it beside the servers.

#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "load_generator.hpp"

int main(int argc, char** argv) {
  using namespace nidus::bench;
  LoadOptions options;
  CLI::App app("Drives a server in a closed loop and prints one line of JSON");
  const std::map<std::string, Protocol> protocols{{"resp", Protocol::kResp},
                                                  {"memcached", Protocol::kMemcached}};
  const std::map<std::string, Mix> mixes{{"getset", Mix::kGetSet},
                                         {"get", Mix::kGet},
                                         {"set", Mix::kSet},
                                         {"mget", Mix::kMultiGet},
                                         {"load", Mix::kLoad}};
  app.add_option("--host", options.host, "IPv4 address");
  app.add_option("--port", options.port)->required();
  app.add_option("--protocol", options.protocol)->transform(CLI::CheckedTransformer(protocols));
  app.add_option("--mix", options.mix, "load: every key once")
      ->transform(CLI::CheckedTransformer(mixes));
  app.add_option("--keys", options.keys)->check(CLI::PositiveNumber);
  app.add_option("--value", options.value_bytes, "bytes");
  app.add_option("--connections", options.connections)->check(CLI::PositiveNumber);
  app.add_option("--pipeline", options.pipeline)->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed);
  CLI11_PARSE(app, argc, argv);
  try {
    const LoadResult result = run_load(options);
    std::printf(
        "{\"requests\": %llu, \"hits\": %llu, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": "
        "%.1f, "
        "\"p999_us\": %.1f, \"max_us\": %.1f}\n",
        static_cast<unsigned long long>(result.requests),
        static_cast<unsigned long long>(result.hits), result.seconds,
        result.latency.percentile(0.5) / 1e3, result.latency.percentile(0.99) / 1e3,
        result.latency.percentile(0.999) / 1e3, static_cast<double>(result.latency.max_ns()) / 1e3);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "load_generator: %s\n", error.what());
    return 1;
  }
}
