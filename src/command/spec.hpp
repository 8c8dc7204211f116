// SPDX-License-Identifier: Apache-2.0
#pragma once

// Commands are data. One CommandSpec a command gives its name, arity, flags, key positions and
// documentation, beside the function that runs it; dispatch, COMMAND, COMMAND DOCS, the arity
// check and docs/commands.md all read this one table (registry.hpp).

#include <cstdint>
#include <span>
#include <string_view>

namespace nidus::command {

struct Context;

/// Runs one command: exactly one reply, unless the client asked for none.
using Handler = void (*)(Context&);

enum Flag : std::uint32_t {
  kWrite = 1u << 0,
  kReadonly = 1u << 1,
  kDenyOom = 1u << 2,  // may grow memory: refused when the memory limit cannot be kept
  kAdmin = 1u << 3,
  kNoAuth = 1u << 4,  // allowed before authentication
  kFast = 1u << 5,
  kNoMulti = 1u << 6,  // refused inside MULTI
  kNoScript = 1u << 7,
  kLoading = 1u << 8,  // allowed while a data set is being loaded
  kStale = 1u << 9,
  kBlocking = 1u << 10,
  kMovableKeys = 1u << 11,
  kWholeDatabase = 1u << 12,  // touches keys it does not name (FLUSHDB, KEYS): a transaction that
                              // holds it locks the whole database
  kRunsInMulti = 1u << 13,    // EXEC, DISCARD, MULTI, WATCH, QUIT, RESET: run, never queued
};

/// Which arguments are keys: from first to last (negative: counted from the end) by step.
/// first == 0: none.
struct KeyRange {
  int first = 0;
  int last = 0;
  int step = 0;
};

struct CommandSpec {
  std::string_view name;  // lower case
  int arity = 0;          // as Redis counts: with the name; negative: at least
  std::uint32_t flags = 0;
  KeyRange keys = {};
  std::string_view group;  // "string", "generic", "bitmap", "connection", "transactions", "server"
  std::string_view since;  // of Redis, or of nidus for NIDUS.*
  std::string_view complexity;  // as a sentence
  std::string_view summary;
  std::string_view syntax = {};  // arguments, e.g. "key value [NX | XX] [GET] [EX seconds | ...]"
  Handler handler = nullptr;
  std::span<const CommandSpec> subcommands = {};  // a container command has these instead
};

}  // namespace nidus::command
