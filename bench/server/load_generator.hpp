// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the load generator does, as data: which protocol, which requests, how many at once. One
// thread drives all connections in a closed loop: each sends a pipeline of requests in one write
// and sends the next when every reply is there. A request costs it some 30 ns, so that one core can
// saturate a server on another.

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/histogram.hpp"

namespace nidus::bench {

enum class Protocol { kResp, kMemcached };
enum class Mix { kGetSet, kGet, kSet, kMultiGet, kLoad };

struct LoadOptions {
  std::string host = "127.0.0.1";
  int port = 6379;
  Protocol protocol = Protocol::kResp;
  Mix mix = Mix::kGetSet;
  std::size_t keys = 5'000'000;
  std::size_t value_bytes = 32;
  int connections = 50;
  int pipeline = 32;
  int keys_per_multi_get = 32;
  int gets_per_set = 10;
  double seconds = 3;
  std::uint64_t seed = 1;
};

/// Counts the replies in a stream of bytes, however it is cut.
class ReplyCounter {
 public:
  explicit ReplyCounter(Protocol protocol) : protocol_(protocol) {}
  /// From now on so many more replies are awaited.
  void expect(std::size_t replies) { pending_ += replies; }
  /// Errors: throws std::runtime_error at an error reply or bytes that are no reply.
  void feed(const char* bytes, std::size_t size);
  bool done() const { return pending_ == 0 && skip_ == 0; }
  std::uint64_t hits() const { return hits_; }

 private:
  void line(const char* begin, std::size_t size);
  void resp_line(const char* begin, std::size_t size);
  void memcached_line(const char* begin, std::size_t size);

  Protocol protocol_;
  std::size_t pending_ = 0;
  std::size_t skip_ = 0;  // bytes of a value that still come, with their line end
  std::string rest_;      // the beginning of a line
  std::uint64_t hits_ = 0;
};

struct LoadResult {
  std::uint64_t requests = 0, hits = 0;
  double seconds = 0;
  Histogram latency;  // of a pipeline: from its write to its last reply
};

/// Errors: std::runtime_error.
LoadResult run_load(const LoadOptions& options);

}  // namespace nidus::bench
