// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one table of all commands, and its look-up by name in any case. Families of commands
// (strings.cpp, bits.cpp, keys.cpp, ...) each give their part of the table beside their handlers.

#include <span>
#include <string_view>

#include "command/spec.hpp"

namespace nidus::command {

std::span<const CommandSpec> string_commands();
std::span<const CommandSpec> bitmap_commands();
std::span<const CommandSpec> key_commands();
std::span<const CommandSpec> expire_commands();
std::span<const CommandSpec> scan_commands();
std::span<const CommandSpec> connection_commands();
std::span<const CommandSpec> transaction_commands();
std::span<const CommandSpec> server_commands();
std::span<const CommandSpec> introspection_commands();  // COMMAND, MEMORY, OBJECT, NIDUS.EXPLAIN

/// The command of this name in any case, or nullptr. Cost: one hash, one compare; no allocation.
const CommandSpec* find_command(std::string_view name);

/// The subcommand of this name in any case, or nullptr.
const CommandSpec* find_subcommand(const CommandSpec& container, std::string_view name);

/// Every command, sorted by name.
std::span<const CommandSpec* const> all_commands();

/// Does a request of this many arguments (name included) fit the command's arity?
inline bool arity_fits(const CommandSpec& spec, std::size_t args) {
  const auto n = static_cast<long>(args);
  return spec.arity >= 0 ? n == spec.arity : n >= -static_cast<long>(spec.arity);
}

}  // namespace nidus::command
