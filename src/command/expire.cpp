// SPDX-License-Identifier: Apache-2.0

// Commands on a key's expiry: setting it by four commands that differ in unit and base, asking for
// it, removing it. They extend the table of keys.cpp's generic group.

#include <optional>
#include <string>

#include "command/arguments.hpp"
#include "command/registry.hpp"
#include "engine/keyspace.hpp"

namespace nidus::command {
namespace {

using engine::Item;
using engine::kNoExpiry;
using engine::Millis;

/// When may the expiry be set?
struct Conditions {
  bool if_none = false;     // NX
  bool if_any = false;      // XX
  bool if_later = false;    // GT
  bool if_earlier = false;  // LT

  bool hold(Millis current, Millis fresh) const {
    // A key that never expires has kNoExpiry, later than every expiry.
    if (if_none && current != kNoExpiry) return false;
    if (if_any && current == kNoExpiry) return false;
    if (if_later && fresh <= current) return false;
    return !if_earlier || fresh < current;
  }
};

/// Reads the options from args[3] on; otherwise the error is replied.
std::optional<Conditions> conditions_argument(Context& context) {
  Conditions conditions;
  for (std::size_t i = 3; i < context.args.size(); ++i) {
    const std::string_view option = context.arg(i);
    if (is_word(option, "nx")) {
      conditions.if_none = true;
    } else if (is_word(option, "xx")) {
      conditions.if_any = true;
    } else if (is_word(option, "gt")) {
      conditions.if_later = true;
    } else if (is_word(option, "lt")) {
      conditions.if_earlier = true;
    } else {
      // As a C string, as redis prints it: up to a NUL.
      context.reply.error("ERR Unsupported option " +
                          std::string(option.substr(0, option.find('\0'))));
      return std::nullopt;
    }
  }
  if (conditions.if_none && (conditions.if_any || conditions.if_later || conditions.if_earlier)) {
    context.reply.error("ERR NX and XX, GT or LT options at the same time are not compatible");
    return std::nullopt;
  }
  if (conditions.if_later && conditions.if_earlier) {
    context.reply.error("ERR GT and LT options at the same time are not compatible");
    return std::nullopt;
  }
  return conditions;
}

void set_expiry(Context& context, TimeUnit unit, TimeBase base) {
  const std::optional<Conditions> conditions = conditions_argument(context);
  if (!conditions) return;
  const std::optional<std::int64_t> value = integer_argument(context, 2);
  if (!value) return;
  const std::optional<Millis> expires_at = expiry_from(*value, unit, base, context.now);
  if (!expires_at) return reply_invalid_expiry(context);

  engine::Entry entry = context.db->lock(context.key(1), context.now);
  if (entry.item() == nullptr || !conditions->hold(entry.item()->expires_at(), *expires_at)) {
    return context.reply.integer(0);
  }
  if (*expires_at <= context.now) {
    entry.erase();
  } else if (!succeeded(context, entry.set_expiry(*expires_at))) {
    return;
  }
  context.reply.integer(1);
}

void expire(Context& context) { set_expiry(context, TimeUnit::kSeconds, TimeBase::kRelative); }
void expireat(Context& context) { set_expiry(context, TimeUnit::kSeconds, TimeBase::kAbsolute); }
void pexpire(Context& context) {
  set_expiry(context, TimeUnit::kMilliseconds, TimeBase::kRelative);
}
void pexpireat(Context& context) {
  set_expiry(context, TimeUnit::kMilliseconds, TimeBase::kAbsolute);
}

/// -2: no such key; -1: it never expires; otherwise the time, seconds to the nearest.
void get_expiry(Context& context, TimeUnit unit, TimeBase base) {
  const Item* item = context.db->find(context.key(1), context.now, engine::Touch::kNo);
  if (item == nullptr) return context.reply.integer(-2);
  if (!item->has_expiry()) return context.reply.integer(-1);
  const Millis at = item->expires_at();
  const Millis time = base == TimeBase::kRelative ? at - context.now : at;
  // Not (time + 500) / 1000: the last expiry there is would overflow.
  context.reply.integer(unit == TimeUnit::kSeconds ? time / 1000 + (time % 1000 >= 500 ? 1 : 0)
                                                   : time);
}

void ttl(Context& context) { get_expiry(context, TimeUnit::kSeconds, TimeBase::kRelative); }
void pttl(Context& context) { get_expiry(context, TimeUnit::kMilliseconds, TimeBase::kRelative); }
void expiretime(Context& context) { get_expiry(context, TimeUnit::kSeconds, TimeBase::kAbsolute); }
void pexpiretime(Context& context) {
  get_expiry(context, TimeUnit::kMilliseconds, TimeBase::kAbsolute);
}

void persist(Context& context) {
  engine::Entry entry = context.db->lock(context.key(1), context.now);
  if (entry.item() == nullptr || !entry.item()->has_expiry()) return context.reply.integer(0);
  if (succeeded(context, entry.set_expiry(kNoExpiry))) context.reply.integer(1);
}

constexpr std::string_view kConstant = "O(1)";
constexpr std::string_view kGroup = "generic";
constexpr KeyRange kFirst = {1, 1, 1};

constexpr CommandSpec kExpire[] = {
    {.name = "expire",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kConstant,
     .summary = "Lets a key expire after some seconds; a time that is over removes it.",
     .syntax = "key seconds [NX | XX | GT | LT]",
     .handler = expire},
    {.name = "expireat",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "1.2.0",
     .complexity = kConstant,
     .summary = "Lets a key expire at a Unix time in seconds; a time that is over removes it.",
     .syntax = "key unix-time-seconds [NX | XX | GT | LT]",
     .handler = expireat},
    {.name = "expiretime",
     .arity = 2,
     .flags = kReadonly | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "7.0.0",
     .complexity = kConstant,
     .summary = "Tells at which Unix time in seconds a key expires.",
     .syntax = "key",
     .handler = expiretime},
    {.name = "persist",
     .arity = 2,
     .flags = kWrite | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "2.2.0",
     .complexity = kConstant,
     .summary = "Lets a key live on for ever.",
     .syntax = "key",
     .handler = persist},
    {.name = "pexpire",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "2.6.0",
     .complexity = kConstant,
     .summary = "Lets a key expire after some milliseconds; a time that is over removes it.",
     .syntax = "key milliseconds [NX | XX | GT | LT]",
     .handler = pexpire},
    {.name = "pexpireat",
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "2.6.0",
     .complexity = kConstant,
     .summary = "Lets a key expire at a Unix time in milliseconds; a time that is over removes it.",
     .syntax = "key unix-time-milliseconds [NX | XX | GT | LT]",
     .handler = pexpireat},
    {.name = "pexpiretime",
     .arity = 2,
     .flags = kReadonly | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "7.0.0",
     .complexity = kConstant,
     .summary = "Tells at which Unix time in milliseconds a key expires.",
     .syntax = "key",
     .handler = pexpiretime},
    {.name = "pttl",
     .arity = 2,
     .flags = kReadonly | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "2.6.0",
     .complexity = kConstant,
     .summary = "Tells how many milliseconds a key has left.",
     .syntax = "key",
     .handler = pttl},
    {.name = "ttl",
     .arity = 2,
     .flags = kReadonly | kFast,
     .keys = kFirst,
     .group = kGroup,
     .since = "1.0.0",
     .complexity = kConstant,
     .summary = "Tells how many seconds a key has left.",
     .syntax = "key",
     .handler = ttl},
};

}  // namespace

std::span<const CommandSpec> expire_commands() { return kExpire; }

}  // namespace nidus::command
