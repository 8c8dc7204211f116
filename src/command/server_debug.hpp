// SPDX-License-Identifier: Apache-2.0
#pragma once

// DEBUG: the few aids that tests of clients use (SLEEP, LOG, PROTOCOL), off unless the parameter
// enable-debug-command is "yes", or "local" and the client is on this machine.

#include "command/context.hpp"

namespace nidus::command {

void debug_command(Context& context);

}  // namespace nidus::command
