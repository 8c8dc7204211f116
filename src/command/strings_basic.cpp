// SPDX-License-Identifier: Apache-2.0

// GET, SET and the commands that read or write one whole value. GET and a SET without options are
// the hot path of the server: a look-up or one write, and the reply; nothing else.

#include "command/arguments.hpp"
#include "command/strings_handlers.hpp"

namespace nidus::command {
namespace {

using engine::Entry;
using engine::Item;
using engine::kNoExpiry;
using engine::Millis;

/// How SET and GETEX name their expiry.
struct ExpiryWord {
  std::string_view word;
  TimeUnit unit;
  TimeBase base;
};
constexpr ExpiryWord kExpiryWords[] = {
    {"ex", TimeUnit::kSeconds, TimeBase::kRelative},
    {"px", TimeUnit::kMilliseconds, TimeBase::kRelative},
    {"exat", TimeUnit::kSeconds, TimeBase::kAbsolute},
    {"pxat", TimeUnit::kMilliseconds, TimeBase::kAbsolute},
};

const ExpiryWord* find_expiry_word(std::string_view arg) {
  for (const ExpiryWord& candidate : kExpiryWords) {
    if (is_word(arg, candidate.word)) return &candidate;
  }
  return nullptr;
}

/// The options of SET (NX XX GET KEEPTTL and an expiry) and GETEX (PERSIST and an expiry).
struct Options {
  bool nx = false, xx = false, get = false, keep_ttl = false, persist = false;
  const ExpiryWord* expiry = nullptr;
  std::size_t expiry_at = 0;  // index of the number

  bool take_expiry(std::span<const std::string_view> args, std::size_t& i);
  bool take_set_word(std::string_view arg);
};

/// An expiry with its number. The same word may come twice, and the last counts; two different ones
/// exclude each other, KEEPTTL and PERSIST.
bool Options::take_expiry(std::span<const std::string_view> args, std::size_t& i) {
  const ExpiryWord* const found = find_expiry_word(args[i]);
  if (found == nullptr || i + 1 == args.size() || keep_ttl || persist) return false;
  if (expiry != nullptr && expiry != found) return false;
  expiry = found;
  expiry_at = ++i;
  return true;
}

bool Options::take_set_word(std::string_view arg) {
  if (is_word(arg, "nx") && !xx) return nx = true;
  if (is_word(arg, "xx") && !nx) return xx = true;
  if (is_word(arg, "get")) return get = true;
  if (is_word(arg, "keepttl") && expiry == nullptr) return keep_ttl = true;
  return false;
}

void store(Context& context, Millis expires_at, std::string_view value) {
  Entry entry = context.db->lock(context.key(1), context.now);
  if (succeeded(context, entry.set(value, expires_at))) context.reply.ok();
}

__attribute__((noinline)) void set_with_options(Context& context) {
  Options options;
  for (std::size_t i = 3; i < context.args.size(); ++i) {
    if (!options.take_set_word(context.arg(i)) && !options.take_expiry(context.args, i)) {
      return context.reply.error(kSyntaxError);
    }
  }
  Millis expires_at = kNoExpiry;
  if (options.expiry != nullptr) {
    const auto given = positive_expiry_argument(context, options.expiry_at, options.expiry->unit,
                                                options.expiry->base);
    if (!given) return;
    expires_at = *given;
  }
  Entry entry = context.db->lock(context.key(1), context.now);
  const Item* const old = entry.item();
  const bool refused = (options.nx && old != nullptr) || (options.xx && old == nullptr);
  if (!refused) {
    if (options.keep_ttl && old != nullptr) expires_at = old->expires_at();
    if (!succeeded(context, entry.set(context.arg(2), expires_at))) return;
  }
  // The old item outlives its replacement until this thread's next quiescent state.
  if (options.get) return reply_value(context, old);
  refused ? context.reply.null() : context.reply.ok();
}

void set_expiring(Context& context, TimeUnit unit) {
  const auto expires_at = positive_expiry_argument(context, 2, unit, TimeBase::kRelative);
  if (expires_at) store(context, *expires_at, context.arg(3));
}

}  // namespace

void get(Context& context) { reply_value(context, context.db->find(context.key(1), context.now)); }

void set(Context& context) {
  if (context.args.size() > 3) [[unlikely]] {
    return set_with_options(context);
  }
  store(context, kNoExpiry, context.arg(2));
}

void setnx(Context& context) {
  Entry entry = context.db->lock(context.key(1), context.now);
  if (entry.item() != nullptr) return context.reply.integer(0);
  if (succeeded(context, entry.set(context.arg(2), kNoExpiry))) context.reply.integer(1);
}

void setex(Context& context) { set_expiring(context, TimeUnit::kSeconds); }
void psetex(Context& context) { set_expiring(context, TimeUnit::kMilliseconds); }

void getset(Context& context) {
  Entry entry = context.db->lock(context.key(1), context.now);
  const Item* const old = entry.item();
  if (succeeded(context, entry.set(context.arg(2), kNoExpiry))) reply_value(context, old);
}

void getdel(Context& context) {
  Entry entry = context.db->lock(context.key(1), context.now);
  reply_value(context, entry.item());
  if (entry.item() != nullptr) entry.erase();
}

void getex(Context& context) {
  Options options;
  for (std::size_t i = 2; i < context.args.size(); ++i) {
    if (is_word(context.arg(i), "persist") && options.expiry == nullptr) {
      options.persist = true;
    } else if (!options.take_expiry(context.args, i)) {
      return context.reply.error(kSyntaxError);
    }
  }
  if (context.args.size() == 2) return get(context);
  Entry entry = context.db->lock(context.key(1), context.now);
  const Item* const item = entry.item();
  // As in Redis, a missing key is answered before the expiry is looked at.
  if (item == nullptr) return context.reply.null();
  if (options.persist) {
    if (item->has_expiry() && !succeeded(context, entry.set_expiry(kNoExpiry))) return;
    return reply_value(context, item);
  }
  const auto expires_at = positive_expiry_argument(context, options.expiry_at, options.expiry->unit,
                                                   options.expiry->base);
  if (!expires_at) return;
  if (*expires_at <= context.now) {
    entry.erase();
  } else if (!succeeded(context, entry.set_expiry(*expires_at))) {
    return;
  }
  reply_value(context, item);
}

}  // namespace nidus::command
