// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the two files of the connection commands share: CLIENT's subcommands for the table, and the
// rule for names, which HELLO and CLIENT SETNAME both apply.

#include <span>
#include <string_view>

#include "command/context.hpp"

namespace nidus::command {

/// CLIENT's subcommands (connection_client.cpp).
std::span<const CommandSpec> client_subcommands();

/// Names the session; false if the name has blanks or control bytes, and the error is replied.
bool set_client_name(Context& context, std::string_view name);

/// Only bytes from '!' to '~', so that a name cannot break the lines of CLIENT LIST.
bool is_plain_text(std::string_view text);

}  // namespace nidus::command
