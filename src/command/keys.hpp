// SPDX-License-Identifier: Apache-2.0
#pragma once

// Databases named by an argument: SELECT, COPY and MOVE read them, and EXEC must know beforehand
// which ones its queue will reach.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "command/context.hpp"

namespace nidus::command {

/// The number of a database, or nothing if the text is none.
std::optional<int> parse_database(std::string_view text);

/// The database that args[i] names; otherwise the error is replied.
std::optional<int> database_argument(Context& context, std::size_t i);

/// The second database that this COPY or MOVE writes, where it names one; nothing for every other
/// command and for arguments that the command will refuse.
std::optional<int> second_database(const CommandSpec& spec, std::span<const std::string_view> args);

}  // namespace nidus::command
