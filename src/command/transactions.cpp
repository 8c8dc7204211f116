// SPDX-License-Identifier: Apache-2.0

// MULTI, EXEC, DISCARD, WATCH, UNWATCH. The executor puts requests aside; EXEC runs them here as
// one: it first holds every key that the queue names and every key watched, then looks whether a
// watched key has changed, then runs the queue. Nobody sees or makes a change in between.
//
// Lock order: as KeyLocks; the registry of watches below them.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/arguments.hpp"
#include "command/executor.hpp"
#include "command/keys.hpp"
#include "command/registry.hpp"
#include "engine/keyspace.hpp"
#include "engine/watch.hpp"

namespace nidus::command {
namespace {

using engine::Database;
using engine::KeyLocks;
using engine::KeyRef;
using engine::Touch;
using Args = std::vector<std::string_view>;

void views_of(const QueuedRequest& request, Args& out) {
  out.assign(request.args.begin(), request.args.end());
}

/// What a queue will read and write.
struct Reach {
  std::vector<KeyLocks::Target> keys;
  bool everything = false;  // a command of it names no keys and touches many
};

/// Adds the keys of one request that will run in `database`.
void add_keys(Context& context, const CommandSpec& spec, const Args& args, int database,
              Reach& reach) {
  if (spec.keys.first == 0) return;
  const std::optional<int> second = second_database(spec, args);
  const std::size_t end = keys_end(spec, args.size());
  for (auto i = static_cast<std::size_t>(spec.keys.first); i < end;
       i += static_cast<std::size_t>(spec.keys.step)) {
    const std::uint64_t hash = context.keyspace.hash(args[i]);
    reach.keys.push_back({&context.keyspace.database(database), hash});
    if (second) reach.keys.push_back({&context.keyspace.database(*second), hash});
  }
}

Reach reach_of(Context& context, const std::vector<QueuedRequest>& queue) {
  Reach reach;
  Args args;
  int database = context.session.database;
  for (const QueuedRequest& request : queue) {
    views_of(request, args);
    // SELECT within the transaction counts for what follows it.
    if (request.spec->name == "select") database = parse_database(args[1]).value_or(database);
    if ((request.spec->flags & kWholeDatabase) != 0) reach.everything = true;
    add_keys(context, *request.spec, args, database, reach);
  }
  for (const WatchedKey& watched : context.session.watched) {
    reach.keys.push_back({&context.keyspace.database(watched.database), watched.hash});
  }
  return reach;
}

/// Holds them for the life of `locks`.
void lock(Context& context, const Reach& reach, std::optional<KeyLocks>& locks) {
  if (reach.everything) {
    std::array<Database*, engine::kDatabases> all;
    for (int i = 0; i < engine::kDatabases; ++i) {
      all[static_cast<std::size_t>(i)] = &context.keyspace.database(i);
    }
    locks.emplace(std::span<Database* const>(all));
  } else if (!reach.keys.empty()) {
    locks.emplace(std::span<const KeyLocks::Target>(reach.keys));
  }
}

/// Has a watched key been written, or has one expired since? Requires: the locks are held.
bool watched_key_changed(Context& context) {
  const Session& session = context.session;
  if (session.watch_flag == nullptr) return false;
  if (session.watch_flag->dirty()) return true;
  for (const WatchedKey& watched : session.watched) {
    if (watched.absent_when_watched) continue;
    // A write would have marked the flag: a key that is gone has expired.
    Database& database = context.keyspace.database(watched.database);
    if (database.find({watched.key, watched.hash}, context.now, Touch::kNo) == nullptr) return true;
  }
  return false;
}

/// Room for what the queue may store. Before the locks: evicting takes locks of its own.
bool make_room_for(Context& context, const std::vector<QueuedRequest>& queue) {
  for (const QueuedRequest& request : queue) {
    if ((request.spec->flags & kDenyOom) == 0) continue;
    const auto first = static_cast<std::size_t>(request.spec->keys.first);
    const std::uint64_t hash =
        first > 0 ? context.keyspace.hash(request.args[first]) : context.first_key_hash;
    return context.keyspace.make_room(*context.db, hash, context.now);
  }
  return true;
}

void run_queue(Context& context, const std::vector<QueuedRequest>& queue) {
  context.reply.array(queue.size());
  Args args;
  for (const QueuedRequest& request : queue) {
    views_of(request, args);
    Context inner = context;
    inner.db = &context.keyspace.database(context.session.database);
    inner.spec = request.spec;
    inner.args = args;
    inner.in_exec = true;
    context.executor.run_one(inner);
  }
}

void exec(Context& context) {
  Session& session = context.session;
  if (!session.in_multi) return context.reply.error("ERR EXEC without MULTI");
  if (session.multi_failed) {
    context.executor.abandon_transaction(session);
    return context.reply.error("EXECABORT Transaction discarded because of previous errors.");
  }
  const std::vector<QueuedRequest> queue = std::move(session.queue);
  if (!make_room_for(context, queue)) {
    context.executor.abandon_transaction(session);
    return context.reply.error("EXECABORT Transaction discarded because of: " +
                               std::string(kOutOfMemoryError));
  }
  std::optional<KeyLocks> locks;
  lock(context, reach_of(context, queue), locks);
  const bool changed = watched_key_changed(context);
  context.executor.abandon_transaction(session);
  if (changed) return context.reply.null_array();
  run_queue(context, queue);
}

void multi(Context& context) {
  if (context.session.in_multi) return context.reply.error("ERR MULTI calls can not be nested");
  context.session.in_multi = true;
  context.reply.ok();
}

void discard(Context& context) {
  if (!context.session.in_multi) return context.reply.error("ERR DISCARD without MULTI");
  context.executor.abandon_transaction(context.session);
  context.reply.ok();
}

void watch_key(Context& context, KeyRef key) {
  Session& session = context.session;
  const int database = context.db->number();
  for (const WatchedKey& watched : session.watched) {
    if (watched.database == database && watched.key == key.bytes) return;
  }
  // The entry removes an expired key, before its removal could look like a change.
  const engine::Entry entry = context.db->lock(key, context.now);
  context.keyspace.watches().watch(database, key.bytes, key.hash, session.watch_flag);
  session.watched.push_back({database, std::string(key.bytes), key.hash, entry.item() == nullptr});
}

void watch(Context& context) {
  Session& session = context.session;
  if (session.in_multi) return context.reply.error("ERR WATCH inside MULTI is not allowed");
  if (session.watch_flag == nullptr) session.watch_flag = std::make_shared<engine::WatchFlag>();
  for (std::size_t i = 1; i < context.args.size(); ++i) watch_key(context, context.key(i));
  context.reply.ok();
}

// Within EXEC the watches are gone already and the queue is EXEC's own: nothing is left to abandon.
void unwatch(Context& context) {
  context.executor.abandon_transaction(context.session);
  context.reply.ok();
}

constexpr std::string_view kConstant = "O(1)";
constexpr std::string_view kGroup = "transactions";
constexpr std::uint32_t kFlags = kNoScript | kLoading | kStale;

constexpr CommandSpec kTransactions[] = {
    {.name = "discard",
     .arity = 1,
     .flags = kFlags | kFast | kRunsInMulti,
     .keys = {},
     .group = kGroup,
     .since = "2.0.0",
     .complexity = "O(commands queued)",
     .summary = "Drops the transaction begun with MULTI, and what is watched.",
     .syntax = "",
     .handler = discard},
    {.name = "exec",
     .arity = 1,
     .flags = kFlags | kRunsInMulti,
     .keys = {},
     .group = kGroup,
     .since = "1.2.0",
     .complexity = "That of the commands queued",
     .summary = "Runs the commands queued since MULTI as one, unless a watched key has changed.",
     .syntax = "",
     .handler = exec},
    {.name = "multi",
     .arity = 1,
     .flags = kFlags | kFast | kRunsInMulti,
     .keys = {},
     .group = kGroup,
     .since = "1.2.0",
     .complexity = kConstant,
     .summary = "Begins a transaction: the commands that follow wait for EXEC.",
     .syntax = "",
     .handler = multi},
    {.name = "unwatch",
     .arity = 1,
     .flags = kFlags | kFast,
     .keys = {},
     .group = kGroup,
     .since = "2.2.0",
     .complexity = "O(keys watched)",
     .summary = "Forgets every key that the client watches.",
     .syntax = "",
     .handler = unwatch},
    {.name = "watch",
     .arity = -2,
     .flags = kFlags | kFast | kRunsInMulti,
     .keys = {1, -1, 1},
     .group = kGroup,
     .since = "2.2.0",
     .complexity = "O(number of keys)",
     .summary = "Lets the next EXEC fail if one of the keys has been changed by then.",
     .syntax = "key [key ...]",
     .handler = watch},
};

}  // namespace

std::span<const CommandSpec> transaction_commands() { return kTransactions; }

}  // namespace nidus::command
