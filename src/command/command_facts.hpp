// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a CommandSpec implies, in Redis' words: flag names, ACL categories, which arguments are
// keys. COMMAND and docs/commands.md read the table through these.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/spec.hpp"

namespace nidus::command {

/// A command as users name it; `container` is null for a command of its own.
struct NamedCommand {
  const CommandSpec* spec = nullptr;
  const CommandSpec* container = nullptr;
  /// "get", "config|get"
  std::string full_name() const;
};

/// Finds "get" or "config|get" in any case; spec is null if there is none.
NamedCommand find_by_full_name(std::string_view name);
/// Finds the command of a request, its subcommand included; spec is null if there is none.
NamedCommand find_for_request(std::span<const std::string_view> args);
/// Every command and after each container its subcommands, sorted by name.
void for_each_command(const std::function<void(const NamedCommand&)>& visit);

/// Redis' names of the spec's flags, in Redis' order: "write", "denyoom", ...
std::vector<std::string_view> flag_names(const CommandSpec& spec);
/// Redis' ACL categories with their "@", in Redis' order.
std::vector<std::string_view> acl_categories(const NamedCommand& command);
/// Keys of one command that it uses alike.
struct KeySpec {
  KeyRange keys;
  std::vector<std::string_view> flags;  // Redis' words: "RO", "access", ...
};
/// None for a command without keys; two where the first key is used unlike the others (RENAME).
std::vector<KeySpec> key_specs(const NamedCommand& command);

/// Indices of the keys of a request that fits the arity.
std::vector<std::size_t> key_positions(const CommandSpec& spec, std::size_t args);

}  // namespace nidus::command
