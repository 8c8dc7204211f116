// SPDX-License-Identifier: Apache-2.0

// Derives what COMMAND tells of a spec from its flags, group and key range (command_facts.hpp).

#include "command/command_facts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "command/registry.hpp"

namespace nidus::command {
namespace {

// Flags that Redis shows, in the order in which it shows them.
constexpr std::array kShownFlags = {
    std::pair<Flag, std::string_view>{kWrite, "write"},
    std::pair<Flag, std::string_view>{kReadonly, "readonly"},
    std::pair<Flag, std::string_view>{kDenyOom, "denyoom"},
    std::pair<Flag, std::string_view>{kAdmin, "admin"},
    std::pair<Flag, std::string_view>{kNoScript, "noscript"},
    std::pair<Flag, std::string_view>{kBlocking, "blocking"},
    std::pair<Flag, std::string_view>{kLoading, "loading"},
    std::pair<Flag, std::string_view>{kStale, "stale"},
    std::pair<Flag, std::string_view>{kFast, "fast"},
    std::pair<Flag, std::string_view>{kNoAuth, "no_auth"},
    std::pair<Flag, std::string_view>{kNoMulti, "no_multi"},
    std::pair<Flag, std::string_view>{kMovableKeys, "movablekeys"},
};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Categories that neither the group nor the flags imply: commands of the server group that work on
// the keys, and those that may cost or reveal much without being of the admin kind.
constexpr std::string_view kKeyspaceCommands[] = {
    "dbsize",      "flushall",    "flushdb",         "object|encoding",
    "object|freq", "object|help", "object|idletime", "object|refcount"};
constexpr std::string_view kDangerousCommands[] = {"flushall", "flushdb", "info", "keys"};
constexpr std::string_view kConnectionCommands[] = {"asking", "readonly", "readwrite"};
constexpr std::string_view kPlainContainers[] = {"object", "client"};

/// How a command uses its keys, where neither "RO access" nor "RW access update" is right.
struct KeyUse {
  std::string_view command;
  std::string_view keys;         // the flags of its keys, or of the first one alone if
  std::string_view others = {};  // the others' differ
};
constexpr KeyUse kKeyUses[] = {
    {"append", "RW insert"},
    {"bitfield", "RW access update variable_flags"},
    {"bitop", "OW update", "RO access"},
    {"copy", "RO access", "OW update"},
    {"del", "RM delete"},
    {"exists", "RO"},
    {"expire", "RW update"},
    {"expireat", "RW update"},
    {"getdel", "RW access delete"},
    {"memory|usage", "RO"},
    {"mset", "OW update"},
    {"msetnx", "OW insert"},
    {"object|encoding", "RO"},
    {"object|freq", "RO"},
    {"object|idletime", "RO"},
    {"object|refcount", "RO"},
    {"persist", "RW update"},
    {"pexpire", "RW update"},
    {"pexpireat", "RW update"},
    {"psetex", "OW update"},
    {"rename", "RW access delete", "OW update"},
    {"renamenx", "RW access delete", "OW insert"},
    {"set", "RW access update variable_flags"},
    {"setex", "OW update"},
    {"setnx", "OW insert"},
    {"setrange", "RW update"},
    {"strlen", "RO"},
    {"touch", "RO"},
    {"type", "RO"},
    {"unlink", "RM delete"},
    {"watch", "RO"},
};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    made.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return made;
}

}  // namespace

std::string NamedCommand::full_name() const {
  if (container == nullptr) return std::string(spec->name);
  return std::string(container->name) + "|" + std::string(spec->name);
}

NamedCommand find_by_full_name(std::string_view name) {
  const std::size_t bar = name.find('|');
  const CommandSpec* first = find_command(name.substr(0, bar));
  if (first == nullptr || bar == std::string_view::npos) return {first, nullptr};
  return {find_subcommand(*first, name.substr(bar + 1)), first};
}

NamedCommand find_for_request(std::span<const std::string_view> args) {
  if (args.empty()) return {};
  const CommandSpec* first = find_command(args[0]);
  if (first == nullptr || first->subcommands.empty() || args.size() == 1) return {first, nullptr};
  return {find_subcommand(*first, args[1]), first};
}

void for_each_command(const std::function<void(const NamedCommand&)>& visit) {
  for (const CommandSpec* spec : all_commands()) {
    visit({spec, nullptr});
    for (const CommandSpec& sub : spec->subcommands) visit({&sub, spec});
  }
}

std::vector<std::string_view> flag_names(const CommandSpec& spec) {
  std::vector<std::string_view> names;
  for (const auto& [flag, name] : kShownFlags) {
    if ((spec.flags & flag) != 0) names.push_back(name);
  }
  return names;
}

std::vector<std::string_view> acl_categories(const NamedCommand& command) {
  const CommandSpec& spec = *command.spec;
  const std::string name = command.full_name();
  const auto has = [&](std::uint32_t flag) { return (spec.flags & flag) != 0; };
  const bool plain = !spec.subcommands.empty() && is_one_of(name, kPlainContainers);
  std::vector<std::string_view> categories;
  const auto add_if = [&](bool yes, std::string_view category) {
    if (yes) categories.push_back(category);
  };
  add_if((!plain && spec.group == "generic" && spec.name != "help") ||
             is_one_of(name, kKeyspaceCommands),
         "@keyspace");
  add_if(has(kReadonly), "@read");
  add_if(has(kWrite), "@write");
  add_if(spec.group == "string", "@string");
  add_if(spec.group == "bitmap", "@bitmap");
  const bool is_admin = has(kAdmin) || name == "role";
  add_if(is_admin, "@admin");
  add_if(has(kFast), "@fast");
  add_if(!has(kFast), "@slow");
  add_if(has(kBlocking), "@blocking");
  add_if(is_admin || is_one_of(name, kDangerousCommands), "@dangerous");
  add_if((!plain && spec.group == "connection") || name.starts_with("command") ||
             is_one_of(name, kConnectionCommands),
         "@connection");
  add_if(spec.group == "transactions", "@transaction");
  add_if(command.container != nullptr && spec.group == "scripting", "@scripting");
  return categories;
}

std::vector<KeySpec> key_specs(const NamedCommand& command) {
  const CommandSpec& spec = *command.spec;
  if (spec.keys.first == 0) return {};
  const std::string name = command.full_name();
  const auto* use = std::find_if(std::begin(kKeyUses), std::end(kKeyUses),
                                 [&](const KeyUse& one) { return one.command == name; });
  if (use == std::end(kKeyUses)) {
    const bool writes = (spec.flags & kWrite) != 0;
    return {{spec.keys, words(writes ? "RW access update" : "RO access")}};
  }
  if (use->others.empty()) return {{spec.keys, words(use->keys)}};
  const int first = spec.keys.first;
  return {{{first, first, 1}, words(use->keys)},
          {{first + 1, spec.keys.last, 1}, words(use->others)}};
}

std::vector<std::size_t> key_positions(const CommandSpec& spec, std::size_t args) {
  std::vector<std::size_t> positions;
  if (spec.keys.first <= 0) return positions;
  const long last = spec.keys.last < 0 ? static_cast<long>(args) + spec.keys.last : spec.keys.last;
  for (long i = spec.keys.first; i <= last && i < static_cast<long>(args); i += spec.keys.step) {
    positions.push_back(static_cast<std::size_t>(i));
  }
  return positions;
}

}  // namespace nidus::command
