// SPDX-License-Identifier: Apache-2.0
#pragma once

// HTTP beside the Redis protocol: one thread of its own with Boost.Beast, so that a scrape never
// waits for a batch, nor a batch for a scrape. What is answered stands in http/router.hpp; here are
// the socket and the limits that keep a stranger from holding it: connections, sizes, time.
//
// Thread-safety: start() and stop() by one thread; port() after start() by every thread.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <nidus/base/error.hpp>

#include "http/figures.hpp"

namespace nidus::server {

struct HttpLimits {
  std::size_t connections = 64;
  std::uint32_t header_bytes = 8 * 1024;
  std::uint64_t body_bytes = 4 * 1024;             // no path takes a body
  std::chrono::milliseconds request_time{10'000};  // to send a request, and to read the response
  std::chrono::milliseconds idle_time{60'000};     // between two requests; scrapes come each 15 s
};

class HttpListener {
 public:
  /// `source` outlives the listener.
  explicit HttpListener(http::Source& source, HttpLimits limits = {});
  ~HttpListener();  // stop()
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  /// Binds `address` (an IP address) and `port` (kAnyPort: the system chooses) and starts the
  /// thread. Errors: what could not be bound, and why.
  Expected<void> start(const std::string& address, int port);

  /// Closes everything and joins the thread. Cost: bounded; an open response is cut off.
  void stop();

  /// The port bound; 0 before start().
  int port() const { return port_; }

 private:
  struct State;
  http::Source& source_;
  HttpLimits limits_;
  std::shared_ptr<State> state_;
  int port_ = 0;
};

}  // namespace nidus::server
