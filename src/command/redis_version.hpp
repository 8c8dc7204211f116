// SPDX-License-Identifier: Apache-2.0
#pragma once

// The release of Redis whose commands and replies these are: HELLO, INFO and LOLWUT name it, because
// clients switch features on and off by it.

#include <string_view>

namespace nidus::command {

inline constexpr std::string_view kRedisVersion = "7.2.4";

}  // namespace nidus::command
