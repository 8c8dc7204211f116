// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way of a batch through the commands: look up every request's command and hash its first key,
// prefetch the buckets of all keys, then their items, then run the handlers in order. A server
// thread has one Executor; it keeps its scratch memory between batches.
//
// Thread-safety: one thread, which is registered with the engine.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

  /// Runs one request outside a batch (EXEC's queue, the HTTP console). The arity has been checked;
  /// spec, args and db are set. Within EXEC the caller has made room before it took its locks.
  void run_one(Context& context);

  /// From any thread, for good: run() ends before its next command and closes its client.
  void stop() {
    // relaxed: a flag that is seen soon
    stopping_.store(true, std::memory_order_relaxed);
  }

  /// Forgets what the session watches and queued: on DISCARD, EXEC, RESET and disconnection.
  void abandon_transaction(Session& session);

 private:
  /// One request of the window, looked up. spec is the subcommand where there is one, else the
  /// command itself; nullptr if the name (command == nullptr) or the subcommand is unknown.
  struct Prepared {
    const CommandSpec* command = nullptr;
    const CommandSpec* spec = nullptr;
    std::uint32_t first_hash = 0;  // in hashes_
    std::uint32_t hash_count = 0;
  };
  using Args = std::span<const std::string_view>;

  // Requests that are prepared together. Enough for every line fill buffer of a core to be busy
  // (10 to 16 on current x86-64), few enough that what is prefetched still lies in a 32 KiB L1 when
  // its turn comes: 64 x (a bucket of one line + an item of one or two lines).
  static constexpr std::size_t kWindow = 64;
  static constexpr std::size_t kWindowKeys = 256;

  std::size_t prepare(const Session& session, const resp::RequestBatch& batch, std::size_t begin);
  void hash_keys(Prepared& prepared, Args args, std::size_t& used);
  void execute(Context& context, const Prepared& prepared);
  void dispatch(Context& context, const Prepared& prepared);
  void queue(Context& context);
  void refuse(Context& context, std::string_view error);
  void refuse_unfit(Context& context, const Prepared& prepared);

  engine::Keyspace& keyspace_;
  Services& services_;
  std::atomic<bool> stopping_{false};
  std::array<Prepared, kWindow> prepared_;
  std::array<std::uint64_t, kWindowKeys> hashes_;
};

}  // namespace nidus::command
