// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the connections of one thread share: its wait, its executor, the scratch memory that a
// batch passes through, its counters and its clock. Because requests are read into one scratch
// buffer and replies written into another, both stay in the core's cache and a connection that is
// idle holds no buffer at all.
//
// Thread-safety: one thread; counters may be read by others.

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "command/executor.hpp"
#include "command/services.hpp"
#include "engine/keyspace.hpp"
#include "resp/output_buffer.hpp"
#include "resp/request_batch.hpp"
#include "server/clients.hpp"
#include "server/config.hpp"
#include "server/counters.hpp"
#include "server/poller.hpp"

namespace nidus::server {

class Connection;

struct Loop {
  Loop(engine::Keyspace& keyspace_used, command::Services& services_used, ClientRegistry& registry,
       std::size_t index)
      : keyspace(keyspace_used),
        services(services_used),
        clients(registry),
        executor(keyspace_used, services_used),
        worker(index),
        scratch(std::make_unique_for_overwrite<char[]>(kScratchBytes)),
        ahead(std::make_unique_for_overwrite<char[]>(kAheadConnections * kAheadBytes)) {}

  void update_clock() {
    unix_ms = milliseconds(CLOCK_REALTIME);
    steady_ms = milliseconds(CLOCK_MONOTONIC);
  }

  static std::int64_t milliseconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  }

  // One read: some thousand small requests. More would leave the second-level cache.
  static constexpr std::size_t kScratchBytes = 128 * 1024;

  // Clients whose requests are read before the first of them is run, and the bytes of each: as many
  // as keep a core's line fill buffers busy.
  static constexpr std::size_t kAheadConnections = 16;
  static constexpr std::size_t kAheadBytes = 8 * 1024;

  engine::Keyspace& keyspace;
  command::Services& services;
  ClientRegistry& clients;
  command::Executor executor;
  const std::size_t worker;
  std::shared_ptr<const Config> config;  // of this turn of the loop

  Poller poller;
  WorkerCounters counters;
  std::unique_ptr<char[]> scratch;
  std::unique_ptr<char[]> ahead;
  resp::OutputBuffer output;  // empty between two batches
  resp::RequestBatch batch;   // likewise

  engine::Millis unix_ms = 0;
  std::int64_t steady_ms = 0;
  bool draining = false;

  std::vector<Connection*> again;  // have more to read, or to run, without a new event
};

}  // namespace nidus::server
