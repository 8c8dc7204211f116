// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way of a batch through the commands: look up every request's command and hash its first key,
// prefetch the buckets of all keys, then their items, then run the handlers in order. A server
// thread has one Executor; it keeps its scratch memory between batches.
//
// Thread-safety: one thread, which is registered with the engine.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "command/context.hpp"
#include "command/services.hpp"
#include "command/session.hpp"
#include "engine/keyspace.hpp"
#include "resp/parser.hpp"
#include "resp/writer.hpp"

namespace nidus::command {

class Executor {
 public:
  Executor(engine::Keyspace& keyspace, Services& services);

  /// Runs the requests of `batch` from index `first` on, in order, and appends their replies to
  /// `out`. Stops early when `out` holds more than `output_limit_bytes` (the caller sends and calls
  /// again) or when the session is to be closed. Returns the index after the last request run.
  std::size_t run(Session& session, const resp::RequestBatch& batch, std::size_t first,
                  resp::OutputBuffer& out, std::size_t output_limit_bytes, engine::Millis now);

  /// Runs one request outside a batch (EXEC's queue, the HTTP console). The arity has been checked.
  void run_one(Context& context);

  /// Forgets what the session watches and queued: on DISCARD, EXEC, RESET and disconnection.
  void abandon_transaction(Session& session);

 private:
  struct Prepared {
    const CommandSpec* spec;
    std::uint64_t hash;
  };
  engine::Keyspace& keyspace_;
  Services& services_;
  std::vector<Prepared> prepared_;
};

}  // namespace nidus::command
