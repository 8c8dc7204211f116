// SPDX-License-Identifier: Apache-2.0

// SCAN: the keys of a database in steps. The engine's cursor gives the guarantee (every key that is
// there throughout is named at least once); here are the options and the filters.

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "command/arguments.hpp"
#include "command/registry.hpp"
#include "engine/keyspace.hpp"
#include "resp/glob.hpp"

namespace nidus::command {
namespace {

using engine::Item;

/// A cursor as Redis reads one: what strtoul takes whole, without a blank in front.
std::optional<std::uint64_t> cursor_argument(Context& context, std::size_t i) {
  const std::string text(context.arg(i));
  char* end = nullptr;
  errno = 0;
  const std::uint64_t cursor = std::strtoull(text.c_str(), &end, 10);
  const bool blank_first = !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) != 0;
  if (blank_first || *end != '\0' || errno == ERANGE) {
    context.reply.error("ERR invalid cursor");
    return std::nullopt;
  }
  return cursor;
}

struct Options {
  std::size_t count = 10;
  std::string_view pattern = "*";
  bool strings = true;  // TYPE names the one type there is, or is not given
};

/// Reads the options from args[2] on; otherwise the error is replied.
std::optional<Options> options_argument(Context& context) {
  Options options;
  for (std::size_t i = 2; i < context.args.size(); i += 2) {
    const std::string_view option = context.arg(i);
    const bool has_value = i + 1 < context.args.size();
    if (has_value && is_word(option, "count")) {
      const std::optional<std::int64_t> count = integer_argument(context, i + 1);
      if (!count) return std::nullopt;
      if (*count < 1) {
        context.reply.error(kSyntaxError);
        return std::nullopt;
      }
      options.count = static_cast<std::size_t>(*count);
    } else if (has_value && is_word(option, "match")) {
      options.pattern = context.arg(i + 1);
    } else if (has_value && is_word(option, "type")) {
      options.strings = is_word(context.arg(i + 1), "string");
    } else {
      context.reply.error(kSyntaxError);
      return std::nullopt;
    }
  }
  return options;
}

void scan(Context& context) {
  const std::optional<std::uint64_t> cursor = cursor_argument(context, 1);
  if (!cursor) return;
  const std::optional<Options> options = options_argument(context);
  if (!options) return;
  const resp::Glob glob(options->pattern);
  std::vector<const Item*> found;
  const std::uint64_t next =
      context.db->scan(*cursor, options->count, context.now, [&](const Item& item) {
        if (options->strings && (glob.matches_everything() || glob.matches(item.key()))) {
          found.push_back(&item);
        }
      });
  context.reply.array(2);
  context.reply.bulk(std::to_string(next));
  context.reply.array(found.size());
  for (const Item* item : found) context.reply.bulk(item->key());
}

constexpr CommandSpec kScan[] = {
    {.name = "scan",
     .arity = -2,
     .flags = kReadonly | kWholeDatabase,
     .keys = {},
     .group = "generic",
     .since = "2.8.0",
     .complexity = "O(1) a call, O(keys of the database) for all of an iteration",
     .summary = "Lists the keys in steps; each reply gives the cursor of the next, 0 at the end.",
     .syntax = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
     .handler = scan},
};

}  // namespace

std::span<const CommandSpec> scan_commands() { return kScan; }

}  // namespace nidus::command
