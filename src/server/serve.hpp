// SPDX-License-Identifier: Apache-2.0
#pragma once

// `nidus serve` as one call: the log, the live settings, the server, HTTP; says how to connect and
// serves until it is told to stop.

#include <iosfwd>
#include <string>

#include <nidus/base/error.hpp>

#include "server/config_load.hpp"

namespace nidus::server {

/// Returns the exit status once the server has drained. Writes one line to `out` when clients can
/// connect. Errors: what could not be started, and why.
Expected<int> serve(const LoadedConfig& loaded, const std::string& executable, std::ostream& out);

}  // namespace nidus::server
