// SPDX-License-Identifier: Apache-2.0

// MGET, MSET, MSETNX: several values in one request, all of one moment. MGET reads through
// find_batch(), which fetches the lines of all keys in parallel; the writers hold the locks of all
// keys.

#include <boost/container/small_vector.hpp>
#include <string>

#include "command/arguments.hpp"
#include "command/strings_handlers.hpp"

namespace nidus::command {
namespace {

using engine::Entry;
using engine::Item;
using engine::KeyRef;
using engine::kNoExpiry;

// Keys of one MGET that need no allocation.
constexpr std::size_t kInlineKeys = 64;

/// Key, value, key, value ...: an even number behind the name.
bool has_pairs(Context& context) {
  if (context.args.size() % 2 == 1) return true;
  std::string text = "ERR wrong number of arguments for '";
  context.reply.error(text.append(context.spec->name).append("' command"));
  return false;
}

/// Requires: the keys are locked, or there is only one. What was stored before an error stays.
bool store_pairs(Context& context) {
  for (std::size_t i = 1; i < context.args.size(); i += 2) {
    Entry entry = context.db->lock(context.key(i), context.now);
    if (!succeeded(context, entry.set(context.arg(i + 1), kNoExpiry))) return false;
  }
  return true;
}

}  // namespace

void mget(Context& context) {
  const std::size_t n = context.args.size() - 1;
  boost::container::small_vector<KeyRef, kInlineKeys> keys;
  keys.reserve(n);
  for (std::size_t i = 1; i <= n; ++i) keys.push_back(context.key(i));
  boost::container::small_vector<const Item*, kInlineKeys> items(n, boost::container::default_init);
  context.db->find_batch(keys, context.now, items);
  context.reply.array(n);
  for (const Item* const item : items) reply_value(context, item);
}

void mset(Context& context) {
  if (!has_pairs(context)) return;
  const CommandLocks locks(context);
  if (store_pairs(context)) context.reply.ok();
}

void msetnx(Context& context) {
  if (!has_pairs(context)) return;
  const CommandLocks locks(context);
  for (std::size_t i = 1; i < context.args.size(); i += 2) {
    if (context.db->find(context.key(i), context.now, engine::Touch::kNo) != nullptr) {
      return context.reply.integer(0);
    }
  }
  if (store_pairs(context)) context.reply.integer(1);
}

}  // namespace nidus::command
