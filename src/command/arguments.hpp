// SPDX-License-Identifier: Apache-2.0
#pragma once

// What handlers share: reading arguments by Redis' rules, arithmetic on expiries that cannot
// overflow, the errors that many commands give, and the locks of commands that write several keys.
// Helpers whose result can be "no" have then written the error reply: the handler just returns.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "command/context.hpp"
#include "engine/keyspace.hpp"

namespace nidus::command {

inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kOutOfMemoryError =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kNoPlaceError =
    "ERR no place for this key: too many keys with the same hash";
inline constexpr std::string_view kValueTooBig =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

/// Is `arg` this word, in any case? `word` is lower case.
bool is_word(std::string_view arg, std::string_view word);

/// The integer at args[i]; otherwise the error is replied.
std::optional<std::int64_t> integer_argument(Context& context, std::size_t i,
                                             std::string_view error = kNotAnInteger);

enum class TimeUnit { kSeconds, kMilliseconds };
enum class TimeBase { kRelative, kAbsolute };

/// The expiry in Unix ms, or nothing if it does not fit. Negative values are legal here (EXPIRE
/// deletes with them). Never kNoExpiry.
std::optional<engine::Millis> expiry_from(std::int64_t value, TimeUnit unit, TimeBase base,
                                          engine::Millis now);

/// The expiry at args[i] for SET, GETEX and their like, which take positive times only; otherwise
/// the error is replied.
std::optional<engine::Millis> positive_expiry_argument(Context& context, std::size_t i,
                                                       TimeUnit unit, TimeBase base);

/// Replies "ERR invalid expire time in '<command>' command".
void reply_invalid_expiry(Context& context);

/// True for kOk; otherwise the error is replied.
bool succeeded(Context& context, engine::WriteStatus status);

/// False if a value of this many bytes is too big; the error is then replied.
bool value_fits(Context& context, std::uint64_t bytes);

/// What the arguments take: about what a write may add.
inline std::size_t argument_bytes(const Context& context) {
  std::size_t bytes = 0;
  for (const std::string_view arg : context.args) bytes += arg.size();
  return bytes;
}

/// Makes room for a command that may grow memory; false if there is none, and OOM is then replied.
/// Call it before any lock is taken: evicting takes locks of its own.
inline bool make_room(Context& context) {
  if (context.keyspace.memory().limit() == 0) return true;
  if (context.keyspace.make_room(*context.db, context.first_key_hash, context.now,
                                 argument_bytes(context))) {
    return true;
  }
  context.reply.error(kOutOfMemoryError);
  return false;
}

/// The value of an item as a bulk; null when there is no item.
inline void reply_value(Context& context, const engine::Item* item) {
  if (item == nullptr) return context.reply.null();
  context.reply.bulk(item->value());
}

/// The index in args behind the last key that the spec names, for this number of arguments.
std::size_t keys_end(const CommandSpec& spec, std::size_t args);

/// Exclusive access to all keys that the command's spec names, in the session's database, for the
/// life of this object. Within EXEC nothing is taken: EXEC holds the locks of all its requests.
class CommandLocks {
 public:
  explicit CommandLocks(Context& context);

 private:
  std::optional<engine::KeyLocks> locks_;
};

}  // namespace nidus::command
