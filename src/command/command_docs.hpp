// SPDX-License-Identifier: Apache-2.0
#pragma once

// docs/commands.md, made from the table of commands, so that the page cannot disagree with the
// server. The target command_docs writes it; a test compares it.

#include <string>

namespace nidus::command {

/// The whole page.
std::string command_page();

}  // namespace nidus::command
