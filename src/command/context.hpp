// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a handler gets: its arguments (views into the connection's buffer), the database, the
// client's session, the place for its reply, and the time of the batch. Handlers copy what they
// keep. See executor.hpp for who makes a Context.

#include <cstdint>
#include <span>
#include <string_view>

#include "command/services.hpp"
#include "command/session.hpp"
#include "command/spec.hpp"
#include "engine/keyspace.hpp"
#include "resp/writer.hpp"

namespace nidus::command {

class Executor;

struct Context {
  engine::Keyspace& keyspace;
  engine::Database* db;  // the session's database
  Session& session;
  Services& services;
  Executor& executor;
  const CommandSpec* spec;
  std::span<const std::string_view> args;  // args[0] is the command's name
  resp::Writer& reply;
  engine::Millis now;                // Unix ms, taken once a batch
  std::uint64_t first_key_hash = 0;  // valid when spec->keys.first > 0
  bool in_exec = false;              // runs inside EXEC: its KeyLocks are held already
  // Hashes of the first keys that the spec names, in order; may be fewer than there are keys.
  std::span<const std::uint64_t> key_hashes = {};

  std::string_view arg(std::size_t i) const { return args[i]; }
  /// The key at args[i] with its hash.
  engine::KeyRef key(std::size_t i) const {
    const auto first = static_cast<std::size_t>(spec->keys.first);
    if (first > 0 && i == first) return {args[i], first_key_hash};
    if (first > 0 && i > first && !key_hashes.empty()) {
      const auto step = static_cast<std::size_t>(spec->keys.step);
      const std::size_t nth = (i - first) / step;
      if (nth * step == i - first && nth < key_hashes.size()) return {args[i], key_hashes[nth]};
    }
    return keyspace.key(args[i]);
  }
};

}  // namespace nidus::command
