// SPDX-License-Identifier: Apache-2.0
#pragma once

// How every subcommand ends: the exit status, and its error on standard error.

#include <iostream>
#include <string_view>

namespace nidus::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;     // the machine refused: a port in use, a full disk
inline constexpr int kUsageError = 2;  // the command line or the settings are wrong

inline int report(int status, std::string_view error) {
  std::cerr << "nidus: " << error << std::endl;
  return status;
}

}  // namespace nidus::cli
