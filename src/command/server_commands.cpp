// SPDX-License-Identifier: Apache-2.0

// Commands that run the server: CONFIG, FLUSHALL, FLUSHDB, TIME, SHUTDOWN, DEBUG, INFO, and
// the questions that clients ask of every Redis server whatever it supports (ROLE, CLUSTER, MODULE
// LIST, FUNCTION FLUSH). What the server cannot do says so in its error.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "command/arguments.hpp"
#include "command/info.hpp"
#include "command/introspection.hpp"
#include "command/registry.hpp"
#include "command/server_debug.hpp"

namespace nidus::command {
namespace {

std::string lower_case(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded;
}

void config_get(Context& context) {
  const std::vector<std::string_view> patterns(context.args.begin() + 2, context.args.end());
  std::vector<std::pair<std::string, std::string>> found;
  context.services.config_get(patterns, [&](std::string_view name, std::string_view value) {
    found.emplace_back(name, value);
  });
  context.reply.map(found.size());
  for (const auto& [name, value] : found) {
    context.reply.bulk(name);
    context.reply.bulk(value);
  }
}

void config_set(Context& context) {
  if (context.args.size() % 2 != 0) return context.reply.error(kSyntaxError);
  std::vector<std::pair<std::string_view, std::string_view>> values;
  for (std::size_t i = 2; i < context.args.size(); i += 2) {
    const std::string_view name = context.arg(i);
    const std::string folded = lower_case(name);
    const bool twice = std::any_of(values.begin(), values.end(),
                                   [&](const auto& seen) { return is_word(seen.first, folded); });
    if (twice) {
      return context.reply.error("ERR CONFIG SET failed (possibly related to argument '" +
                                 std::string(name) + "') - duplicate parameter");
    }
    values.emplace_back(name, context.arg(i + 1));
  }
  const Expected<void> done = context.services.config_set(values);
  if (!done) return context.reply.error("ERR " + done.error().message);
  context.reply.ok();
}

void config_resetstat(Context& context) {
  context.services.reset_stats();
  context.keyspace.reset_stats();
  context.reply.ok();
}

void config_rewrite(Context& context) {
  context.reply.error(
      "ERR CONFIG REWRITE is not supported: the configuration file is never written by the server; "
      "nidus serve --print-config shows the settings in force");
}

// FLUSHALL and FLUSHDB take ASYNC or SYNC. Both empty the database at once and leave the freeing of
// memory to the background, so the word only has to be right.
bool read_flush_mode(Context& context) {
  const auto& args = context.args;
  if (args.size() == 1) return true;
  if (args.size() == 2 && (is_word(args[1], "async") || is_word(args[1], "sync"))) return true;
  context.reply.error(kSyntaxError);
  return false;
}

void flush_all(Context& context) {
  if (!read_flush_mode(context)) return;
  for (int i = 0; i < engine::kDatabases; ++i) context.keyspace.database(i).clear();
  context.reply.ok();
}

void flush_database(Context& context) {
  if (!read_flush_mode(context)) return;
  context.db->clear();
  context.reply.ok();
}

void time_command(Context& context) {
  const std::int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count();
  context.reply.array(2);
  context.reply.bulk_integer(us / 1'000'000);
  context.reply.bulk_integer(us % 1'000'000);
}

// On success there is no reply: the connection ends.
void shutdown(Context& context) {
  bool save = false, nosave = false, abort = false;
  for (std::size_t i = 1; i < context.args.size(); ++i) {
    const std::string_view word = context.arg(i);
    if (is_word(word, "save")) {
      save = true;
    } else if (is_word(word, "nosave")) {
      nosave = true;
    } else if (is_word(word, "abort")) {
      abort = true;
    } else if (!is_word(word, "now") && !is_word(word, "force")) {
      return context.reply.error(kSyntaxError);
    }
  }
  if ((save && nosave) || (abort && context.args.size() > 2)) {
    return context.reply.error(kSyntaxError);
  }
  // A shutdown that has begun no longer serves commands, so there is never one to abort.
  if (abort) return context.reply.error("ERR No shutdown in progress.");
  if (save) {
    return context.reply.error(
        "ERR SHUTDOWN SAVE is not supported: data lives in memory only; use SHUTDOWN NOSAVE");
  }
  context.session.close_after_reply = true;
  context.services.shut_down();
}

void role(Context& context) {
  context.reply.array(3);
  context.reply.bulk("master");
  context.reply.integer(0);  // the replication offset: nothing is replicated
  context.reply.array(0);
}

void module_list(Context& context) { context.reply.array(0); }

// There are no functions, so all of them are gone.
void function_flush(Context& context) { context.reply.ok(); }

void cluster_disabled(Context& context) {
  context.reply.error("ERR This instance has cluster support disabled");
}

void nothing_is_saved(Context& context) {
  std::string name(context.spec->name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  context.reply.error("ERR " + name +
                      " is not supported: data lives in memory only, nothing is saved to disk");
}

constexpr std::uint32_t kAdminFlags = kAdmin | kNoScript | kLoading | kStale;
constexpr std::uint32_t kAlways = kLoading | kStale;

constexpr CommandSpec kConfig[] = {
    {.name = "get",
     .arity = -3,
     .flags = kAdminFlags,
     .group = "server",
     .since = "2.0.0",
     .complexity = "Grows with the number of parameters.",
     .summary = "Names and values of the parameters that match a pattern.",
     .syntax = "parameter [parameter ...]",
     .handler = config_get},
    {.name = "help",
     .arity = 2,
     .flags = kAlways,
     .group = "server",
     .since = "5.0.0",
     .complexity = "Constant.",
     .summary = "Lists the subcommands.",
     .handler = container_help},
    {.name = "resetstat",
     .arity = 2,
     .flags = kAdminFlags,
     .group = "server",
     .since = "2.0.0",
     .complexity = "Constant.",
     .summary = "Sets the counters that INFO reports back to zero.",
     .handler = config_resetstat},
    {.name = "rewrite",
     .arity = 2,
     .flags = kAdminFlags,
     .group = "server",
     .since = "2.8.0",
     .complexity = "Constant.",
     .summary = "Not supported: the server never writes its configuration file.",
     .handler = config_rewrite},
    {.name = "set",
     .arity = -4,
     .flags = kAdminFlags,
     .group = "server",
     .since = "2.0.0",
     .complexity = "Grows with the number of parameters.",
     .summary = "Sets parameters of the running server, all of them or none.",
     .syntax = "parameter value [parameter value ...]",
     .handler = config_set},
};

constexpr CommandSpec kModule[] = {
    {.name = "help",
     .arity = 2,
     .flags = kAlways,
     .group = "server",
     .since = "5.0.0",
     .complexity = "Constant.",
     .summary = "Lists the subcommands.",
     .handler = container_help},
    {.name = "list",
     .arity = 2,
     .flags = kAdmin | kNoScript,
     .group = "server",
     .since = "4.0.0",
     .complexity = "Constant.",
     .summary = "Loaded modules: there are none, the list is empty.",
     .handler = module_list},
};

constexpr CommandSpec kFunction[] = {
    {.name = "flush",
     .arity = -2,
     .flags = kWrite | kNoScript,
     .group = "scripting",
     .since = "7.0.0",
     .complexity = "Constant.",
     .summary = "Deletes all functions: there are none, so it always succeeds.",
     .syntax = "[ASYNC | SYNC]",
     .handler = function_flush},
    {.name = "help",
     .arity = 2,
     .flags = kAlways,
     .group = "scripting",
     .since = "7.0.0",
     .complexity = "Constant.",
     .summary = "Lists the subcommands.",
     .handler = container_help},
};

constexpr CommandSpec kCommands[] = {
    {.name = "asking",
     .arity = 1,
     .flags = kFast,
     .group = "cluster",
     .since = "3.0.0",
     .complexity = "Constant.",
     .summary = "Answers that cluster support is disabled.",
     .handler = cluster_disabled},
    {.name = "bgrewriteaof",
     .arity = 1,
     .flags = kAdmin | kNoScript,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Constant.",
     .summary = "Not supported: there is no append-only file.",
     .handler = nothing_is_saved},
    {.name = "bgsave",
     .arity = -1,
     .flags = kAdmin | kNoScript,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Constant.",
     .summary = "Not supported: nothing is saved to disk.",
     .syntax = "[SCHEDULE]",
     .handler = nothing_is_saved},
    {.name = "cluster",
     .arity = -2,
     .group = "cluster",
     .since = "3.0.0",
     .complexity = "Constant.",
     .summary = "Answers that cluster support is disabled.",
     .syntax = "subcommand [argument ...]",
     .handler = cluster_disabled},
    {.name = "config",
     .arity = -2,
     .group = "server",
     .since = "2.0.0",
     .complexity = "Depends on the subcommand.",
     .summary = "Reads and changes the configuration of the running server.",
     .subcommands = kConfig},
    {.name = "debug",
     .arity = -2,
     .flags = kAdminFlags,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Depends on the subcommand.",
     .summary = "Aids for tests; refused unless enable-debug-command allows it.",
     .syntax = "subcommand [argument ...]",
     .handler = debug_command},
    {.name = "flushall",
     .arity = -1,
     .flags = kWrite | kWholeDatabase,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Grows with the index's segments; items are freed in the background.",
     .summary = "Removes every key of every database.",
     .syntax = "[ASYNC | SYNC]",
     .handler = flush_all},
    {.name = "flushdb",
     .arity = -1,
     .flags = kWrite | kWholeDatabase,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Grows with the index's segments; items are freed in the background.",
     .summary = "Removes every key of the selected database.",
     .syntax = "[ASYNC | SYNC]",
     .handler = flush_database},
    {.name = "function",
     .arity = -2,
     .group = "scripting",
     .since = "7.0.0",
     .complexity = "Depends on the subcommand.",
     .summary = "Server-side functions are not supported; FLUSH succeeds.",
     .subcommands = kFunction},
    {.name = "info",
     .arity = -1,
     .flags = kAlways,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Constant.",
     .summary = "Figures of the server, by section, as text.",
     .syntax = "[section [section ...]]",
     .handler = info_command},
    {.name = "lastsave",
     .arity = 1,
     .flags = kFast | kAlways,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Constant.",
     .summary = "Not supported: nothing is saved to disk.",
     .handler = nothing_is_saved},
    {.name = "module",
     .arity = -2,
     .group = "server",
     .since = "4.0.0",
     .complexity = "Depends on the subcommand.",
     .summary = "Modules are not supported; LIST is empty.",
     .subcommands = kModule},
    {.name = "readonly",
     .arity = 1,
     .flags = kFast | kAlways,
     .group = "cluster",
     .since = "3.0.0",
     .complexity = "Constant.",
     .summary = "Answers that cluster support is disabled.",
     .handler = cluster_disabled},
    {.name = "readwrite",
     .arity = 1,
     .flags = kFast | kAlways,
     .group = "cluster",
     .since = "3.0.0",
     .complexity = "Constant.",
     .summary = "Answers that cluster support is disabled.",
     .handler = cluster_disabled},
    {.name = "role",
     .arity = 1,
     .flags = kFast | kNoScript | kAlways,
     .group = "server",
     .since = "2.8.12",
     .complexity = "Constant.",
     .summary = "The server's part in replication: always a master without replicas.",
     .handler = role},
    {.name = "save",
     .arity = 1,
     .flags = kAdmin | kNoScript | kNoMulti,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Constant.",
     .summary = "Not supported: nothing is saved to disk.",
     .handler = nothing_is_saved},
    {.name = "shutdown",
     .arity = -1,
     .flags = kAdminFlags | kNoMulti,
     .group = "server",
     .since = "1.0.0",
     .complexity = "Constant.",
     .summary = "Finishes the requests that have arrived and ends the server.",
     .syntax = "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]",
     .handler = shutdown},
    {.name = "time",
     .arity = 1,
     .flags = kFast | kAlways,
     .group = "server",
     .since = "2.6.0",
     .complexity = "Constant.",
     .summary = "The server's clock: Unix seconds, and microseconds within the second.",
     .handler = time_command},
};

}  // namespace

std::span<const CommandSpec> server_commands() { return kCommands; }

}  // namespace nidus::command
