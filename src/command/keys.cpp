// SPDX-License-Identifier: Apache-2.0

// Commands on keys whatever their value: removing, asking, renaming, copying, moving. Those that
// write several keys hold the locks of all of them, so that nobody sees a half of it.

#include "command/keys.hpp"

#include <array>
#include <limits>
#include <memory>
#include <random>
#include <unordered_set>
#include <vector>

#include "command/arguments.hpp"
#include "command/registry.hpp"
#include "engine/keyspace.hpp"
#include "resp/glob.hpp"
#include "resp/number.hpp"

namespace nidus::command {

using engine::Database;
using engine::Item;
using engine::KeyRef;
using engine::Touch;

std::optional<int> parse_database(std::string_view text) {
  const std::optional<std::int64_t> number = resp::parse_int64(text);
  if (!number || *number < 0 || *number >= engine::kDatabases) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<int> database_argument(Context& context, std::size_t i) {
  const std::optional<std::int64_t> number = integer_argument(context, i);
  if (!number) return std::nullopt;
  const std::optional<int> database = parse_database(context.arg(i));
  if (!database) {
    using Int = std::numeric_limits<int>;
    const bool is_int = *number >= Int::min() && *number <= Int::max();
    context.reply.error(
        is_int ? "ERR DB index is out of range"
               : "ERR value is out of range, value must between -2147483648 and 2147483647");
  }
  return database;
}

namespace {

constexpr std::string_view kNoSuchKey = "ERR no such key";
constexpr std::string_view kSameObject = "ERR source and destination objects are the same";

void del(Context& context) {
  if (context.args.size() == 2) {
    return context.reply.integer(context.db->lock(context.key(1), context.now).erase() ? 1 : 0);
  }
  const CommandLocks locks(context);
  std::int64_t removed = 0;
  for (std::size_t i = 1; i < context.args.size(); ++i) {
    if (context.db->lock(context.key(i), context.now).erase()) ++removed;
  }
  context.reply.integer(removed);
}

/// How many of the keys named are there; a key named twice counts twice.
void count_present(Context& context, Touch touch) {
  if (context.args.size() == 2) {
    const Item* item = context.db->find(context.key(1), context.now, touch);
    return context.reply.integer(item != nullptr ? 1 : 0);
  }
  std::vector<KeyRef> keys;
  keys.reserve(context.args.size() - 1);
  for (std::size_t i = 1; i < context.args.size(); ++i) keys.push_back(context.key(i));
  std::vector<const Item*> items(keys.size());
  context.db->find_batch(keys, context.now, items, touch);
  std::int64_t present = 0;
  for (const Item* item : items) present += item != nullptr ? 1 : 0;
  context.reply.integer(present);
}

void exists(Context& context) { count_present(context, Touch::kNo); }
void touch(Context& context) { count_present(context, Touch::kYes); }

void type(Context& context) {
  const Item* item = context.db->find(context.key(1), context.now, Touch::kNo);
  context.reply.simple(item != nullptr ? "string" : "none");
}

enum class IfTaken { kReplace, kRefuse };
enum class Outcome { kDone, kNoSource, kTaken, kFailed };

struct Place {
  Database* database;
  KeyRef key;
};

/// Gives `to` the value and the expiry of `from`. Requires: the locks of both are held. kFailed:
/// the error is replied. The item read stays valid although its key is written: see Keyspace.
Outcome copy_item(Context& context, Place from, Place to, IfTaken if_taken) {
  const Item* source = from.database->find(from.key, context.now, Touch::kNo);
  if (source == nullptr) return Outcome::kNoSource;
  engine::Entry entry = to.database->lock(to.key, context.now);
  if (if_taken == IfTaken::kRefuse && entry.item() != nullptr) return Outcome::kTaken;
  const auto status = entry.set(source->value(), source->expires_at());
  return succeeded(context, status) ? Outcome::kDone : Outcome::kFailed;
}

/// As copy_item(), and then `from` is gone.
Outcome move_item(Context& context, Place from, Place to, IfTaken if_taken) {
  const Outcome outcome = copy_item(context, from, to, if_taken);
  if (outcome == Outcome::kDone) from.database->lock(from.key, context.now).erase();
  return outcome;
}

/// The locks of two places, unless EXEC holds them.
class PlaceLocks {
 public:
  PlaceLocks(const Context& context, Place a, Place b) {
    if (context.in_exec) return;
    const std::array<engine::KeyLocks::Target, 2> targets{
        {{a.database, a.key.hash}, {b.database, b.key.hash}}};
    locks_.emplace(targets);
  }

 private:
  std::optional<engine::KeyLocks> locks_;
};

Outcome rename_key(Context& context, IfTaken if_taken) {
  const Place from{context.db, context.key(1)};
  const Place to{context.db, context.key(2)};
  const PlaceLocks locks(context, from, to);
  if (from.key.bytes == to.key.bytes) {
    if (context.db->find(from.key, context.now, Touch::kNo) == nullptr) return Outcome::kNoSource;
    return if_taken == IfTaken::kRefuse ? Outcome::kTaken : Outcome::kDone;
  }
  return move_item(context, from, to, if_taken);
}

void rename(Context& context) {
  const Outcome outcome = rename_key(context, IfTaken::kReplace);
  if (outcome == Outcome::kNoSource) return context.reply.error(kNoSuchKey);
  if (outcome != Outcome::kFailed) context.reply.ok();
}

void renamenx(Context& context) {
  const Outcome outcome = rename_key(context, IfTaken::kRefuse);
  if (outcome == Outcome::kNoSource) return context.reply.error(kNoSuchKey);
  if (outcome != Outcome::kFailed) context.reply.integer(outcome == Outcome::kDone ? 1 : 0);
}

void copy_or_move(Context& context, int target, IfTaken if_taken, std::string_view to_name,
                  bool remove_source) {
  const Place from{context.db, context.key(1)};
  const Place to{&context.keyspace.database(target), context.keyspace.key(to_name)};
  if (from.database == to.database && from.key.bytes == to.key.bytes) {
    return context.reply.error(kSameObject);
  }
  const PlaceLocks locks(context, from, to);
  const Outcome outcome = remove_source ? move_item(context, from, to, if_taken)
                                        : copy_item(context, from, to, if_taken);
  if (outcome != Outcome::kFailed) context.reply.integer(outcome == Outcome::kDone ? 1 : 0);
}

void copy(Context& context) {
  int target = context.db->number();
  IfTaken if_taken = IfTaken::kRefuse;
  for (std::size_t i = 3; i < context.args.size(); ++i) {
    if (is_word(context.arg(i), "replace")) {
      if_taken = IfTaken::kReplace;
    } else if (is_word(context.arg(i), "db") && i + 1 < context.args.size()) {
      const std::optional<int> database = database_argument(context, ++i);
      if (!database) return;
      target = *database;
    } else {
      return context.reply.error(kSyntaxError);
    }
  }
  copy_or_move(context, target, if_taken, context.arg(2), false);
}

void move(Context& context) {
  const std::optional<int> target = database_argument(context, 2);
  if (target) copy_or_move(context, *target, IfTaken::kRefuse, context.arg(1), true);
}

void randomkey(Context& context) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  const Item* item = context.db->random_item(random(), context.now);
  // A few tries at random met expired keys only: look for one that has not.
  std::uint64_t cursor = 0;
  while (item == nullptr) {
    cursor =
        context.db->scan(cursor, 64, context.now, [&item](const Item& alive) { item = &alive; });
    if (cursor == 0) break;
  }
  if (item == nullptr) return context.reply.null();
  context.reply.bulk(item->key());
}

void keys(Context& context) {
  const resp::Glob glob(context.arg(1));
  if (glob.is_literal()) {
    const Item* item =
        context.db->find(context.keyspace.key(context.arg(1)), context.now, Touch::kNo);
    context.reply.array(item != nullptr ? 1 : 0);
    if (item != nullptr) context.reply.bulk(item->key());
    return;
  }
  // The iteration may meet a key twice while the table grows; the reply names it once.
  constexpr std::size_t kStep = 1024;
  std::unordered_set<std::string_view> found;
  std::uint64_t cursor = 0;
  do {
    cursor = context.db->scan(cursor, kStep, context.now, [&](const Item& item) {
      if (glob.matches(item.key())) found.insert(item.key());
    });
  } while (cursor != 0);
  context.reply.array(found.size());
  for (const std::string_view key : found) context.reply.bulk(key);
}

void dbsize(Context& context) {
  context.reply.integer(static_cast<std::int64_t>(context.db->size()));
}

constexpr std::string_view kPerKey = "O(number of keys)";
constexpr std::string_view kConstant = "O(1)";
constexpr std::string_view kPerByte = "O(bytes of the value)";
constexpr std::string_view kGroup = "generic";

constexpr CommandSpec kKeys[] = {
    {.name = "copy",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, 2, 1},
     .group = kGroup,
     .since = "6.2.0",
     .complexity = kPerByte,
     .summary = "Gives a second key the value and the expiry of the first.",
     .syntax = "source destination [DB destination-db] [REPLACE]",
     .handler = copy},
    {.name = "dbsize",
     .arity = 1,
     .flags = kReadonly | kFast | kWholeDatabase,
     .keys = {},
     .group = "server",
     .since = "1.0.0",
     .complexity = kConstant,
     .summary = "Counts the keys of the database, expired ones not yet removed included.",
     .syntax = "",
     .handler = dbsize},
    {.name = "del",
     .arity = -2,
     .flags = kWrite,
     .keys = {1, -1, 1},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kPerKey,
     .summary = "Removes keys all at once and tells how many there were.",
     .syntax = "key [key ...]",
     .handler = del},
    {.name = "exists",
     .arity = -2,
     .flags = kReadonly | kFast,
     .keys = {1, -1, 1},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kPerKey,
     .summary = "Counts which of the keys are there, without counting as a use of them.",
     .syntax = "key [key ...]",
     .handler = exists},
    {.name = "keys",
     .arity = 2,
     .flags = kReadonly | kWholeDatabase,
     .keys = {},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = "O(keys of the database)",
     .summary = "Lists every key that matches a pattern. Other clients go on meanwhile.",
     .syntax = "pattern",
     .handler = keys},
    {.name = "move",
     .arity = 3,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kPerByte,
     .summary = "Moves a key to another database, unless that has a key of this name.",
     .syntax = "key db",
     .handler = move},
    {.name = "randomkey",
     .arity = 1,
     .flags = kReadonly | kWholeDatabase,
     .keys = {},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kConstant,
     .summary = "Gives some key of the database.",
     .syntax = "",
     .handler = randomkey},
    {.name = "rename",
     .arity = 3,
     .flags = kWrite,
     .keys = {1, 2, 1},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kPerByte,
     .summary = "Gives a key a new name; a key that bore it is replaced.",
     .syntax = "key newkey",
     .handler = rename},
    {.name = "renamenx",
     .arity = 3,
     .flags = kWrite | kFast,
     .keys = {1, 2, 1},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kPerByte,
     .summary = "Gives a key a new name, unless a key bears it already.",
     .syntax = "key newkey",
     .handler = renamenx},
    {.name = "touch",
     .arity = -2,
     .flags = kReadonly | kFast,
     .keys = {1, -1, 1},
     .group = kGroup,
     .since = "3.2.1",
     .complexity = kPerKey,
     .summary = "Counts as a use of the keys and tells how many are there.",
     .syntax = "key [key ...]",
     .handler = touch},
    {.name = "type",
     .arity = 2,
     .flags = kReadonly | kFast,
     .keys = {1, 1, 1},
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kConstant,
     .summary = "Tells what kind of value a key has: \"string\", or \"none\" if it is not there.",
     .syntax = "key",
     .handler = type},
    {.name = "unlink",
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = {1, -1, 1},
     .group = kGroup,
     .since = "4.0.0",
     .complexity = kPerKey,
     .summary = "Removes keys as DEL does; memory is given back later with either.",
     .syntax = "key [key ...]",
     .handler = del},
};

}  // namespace

std::optional<int> second_database(const CommandSpec& spec,
                                   std::span<const std::string_view> args) {
  if (spec.handler == move) return parse_database(args[2]);
  if (spec.handler != copy) return std::nullopt;
  std::optional<int> database;
  for (std::size_t i = 3; i + 1 < args.size(); ++i) {
    if (is_word(args[i], "db")) database = parse_database(args[++i]);
  }
  return database;
}

std::span<const CommandSpec> key_commands() { return kKeys; }

}  // namespace nidus::command
