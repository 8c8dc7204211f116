// SPDX-License-Identifier: Apache-2.0

// OBJECT and MEMORY: what one key or the whole keyspace is made of. None of these reads counts as a
// use of the key.

#include <algorithm>
#include <string>

#include "command/arguments.hpp"
#include "command/info.hpp"
#include "command/introspection.hpp"
#include "engine/score.hpp"
#include "resp/number.hpp"

namespace nidus::command {
namespace {

using engine::Item;
using engine::Policy;

// Redis embeds values up to this size in the object's own allocation and calls them embstr.
constexpr std::size_t kEmbeddedBytes = 44;
// Redis shares one object for each integer from 0 to here, and counts its references as endless.
constexpr std::int64_t kSharedIntegers = 10'000;
constexpr std::int64_t kSharedReferences = 2147483647;
// An item's place in its bucket.
constexpr std::size_t kSlotBytes = 8;

const Item* find_quietly(Context& context) {
  return context.db->find(context.key(2), context.now, engine::Touch::kNo);
}

bool is_lru(Policy policy) {
  return policy == Policy::kAllKeysLru || policy == Policy::kVolatileLru;
}

// Redis shares integers unless a memory limit needs a last use or a frequency for each key.
bool shares_integers(engine::Keyspace& keyspace) {
  const Policy policy = keyspace.policy();
  return keyspace.memory().limit() == 0 || (!engine::is_lfu(policy) && !is_lru(policy));
}

// SAMPLES n, which only matters for values with parts; false: the error is replied.
bool read_samples(Context& context) {
  for (std::size_t i = 3; i < context.args.size(); i += 2) {
    if (!is_word(context.arg(i), "samples") || i + 1 == context.args.size()) {
      context.reply.error(kSyntaxError);
      return false;
    }
    const std::optional<std::int64_t> samples = integer_argument(context, i + 1);
    if (!samples) return false;
    if (*samples < 0) {
      context.reply.error(kSyntaxError);
      return false;
    }
  }
  return true;
}

struct Figures {
  resp::Writer& reply;
  void integer(std::string_view name, std::size_t value) {
    reply.bulk(name);
    reply.integer(static_cast<std::int64_t>(value));
  }
  void quotient(std::string_view name, double scale, std::size_t part, std::size_t whole) {
    reply.bulk(name);
    reply.real(whole == 0 ? 0 : scale * static_cast<double>(part) / static_cast<double>(whole));
  }
};

}  // namespace

void object_encoding(Context& context) {
  const Item* item = find_quietly(context);
  if (item == nullptr) return context.reply.null();
  const std::string_view value = item->value();
  if (resp::parse_int64(value)) return context.reply.bulk("int");
  context.reply.bulk(value.size() <= kEmbeddedBytes ? "embstr" : "raw");
}

void object_freq(Context& context) {
  const Item* item = find_quietly(context);
  if (item == nullptr) return context.reply.null();
  if (!engine::is_lfu(context.keyspace.policy())) {
    return context.reply.error(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
        "that when switching between policies at runtime LRU and LFU data will take some time to "
        "adjust.");
  }
  context.reply.integer(engine::frequency(item->access(), context.now));
}

void object_idletime(Context& context) {
  const Item* item = find_quietly(context);
  if (item == nullptr) return context.reply.null();
  if (engine::is_lfu(context.keyspace.policy())) {
    return context.reply.error(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
        "switching between policies at runtime LRU and LFU data will take some time to adjust.");
  }
  context.reply.integer(engine::idle_ms(item->access(), context.now) / 1000);
}

void object_refcount(Context& context) {
  const Item* item = find_quietly(context);
  if (item == nullptr) return context.reply.null();
  const std::optional<std::int64_t> number = resp::parse_int64(item->value());
  const bool shared =
      number && *number >= 0 && *number < kSharedIntegers && shares_integers(context.keyspace);
  context.reply.integer(shared ? kSharedReferences : 1);
}

void memory_usage(Context& context) {
  if (!read_samples(context)) return;
  const Item* item = find_quietly(context);
  if (item == nullptr) return context.reply.null();
  context.reply.integer(static_cast<std::int64_t>(item->allocated_bytes() + kSlotBytes));
}

void memory_stats(Context& context) {
  const ServerInfo server = context.services.server_info();
  const MemoryUse memory = memory_use(context.keyspace, server);
  const std::size_t used = memory.total();
  const std::size_t peak = std::max(used, context.keyspace.memory().peak_bytes());
  std::size_t keys = 0, databases = 0;
  for (int i = 0; i < engine::kDatabases; ++i) {
    const std::size_t size = context.keyspace.database(i).size();
    keys += size;
    databases += size > 0 ? 1 : 0;
  }
  context.reply.map(18 + databases);
  Figures out{context.reply};
  out.integer("peak.allocated", peak);
  out.integer("total.allocated", used);
  out.integer("startup.allocated", 0);
  out.integer("replication.backlog", 0);
  out.integer("clients.slaves", 0);
  out.integer("clients.normal", memory.clients);
  out.integer("aof.buffer", 0);
  for (int i = 0; i < engine::kDatabases; ++i) {
    const std::size_t size = context.keyspace.database(i).size();
    if (size == 0 || databases == 0) continue;
    --databases;
    context.reply.bulk("db." + std::to_string(i));
    context.reply.map(1);
    out.integer("keys.count", size);
  }
  // A database that another thread empties in between still owes its place in the map.
  for (; databases > 0; --databases) out.integer("db.emptied", 0);
  out.integer("overhead.total", used - memory.items);
  out.integer("keys.count", keys);
  out.integer("keys.bytes-per-key", keys == 0 ? 0 : (memory.items + memory.index) / keys);
  out.integer("dataset.bytes", memory.items);
  out.quotient("dataset.percentage", 100, memory.items, used);
  out.quotient("peak.percentage", 100, used, peak);
  out.integer("allocator.resident", server.resident_bytes);
  out.quotient("fragmentation", 1, server.resident_bytes, used);
  out.integer("nidus.items", memory.items);
  out.integer("nidus.index", memory.index);
  out.integer("nidus.retired", memory.retired);
}

void memory_unsupported(Context& context) {
  std::string name(context.spec->name);
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  context.reply.error("ERR MEMORY " + name +
                      " is not supported: see MEMORY STATS and the memory section of INFO");
}

}  // namespace nidus::command
