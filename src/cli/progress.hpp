// SPDX-License-Identifier: Apache-2.0
#pragma once

// Long work on a terminal: how far it is and what remains, on standard error; nothing elsewhere.

#include <chrono>
#include <cstdio>

#include <unistd.h>

#include "lab/table.hpp"

namespace nidus::cli {

/// One line that is overwritten, and gone when the work is done.
inline lab::Progress terminal_progress() {
  if (isatty(STDERR_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return [](auto, auto) {};
  const auto start = std::chrono::steady_clock::now();
  return [start](std::size_t done, std::size_t all) {
    if (done == all) {
      std::fputs("\r\x1b[K", stderr);
      return;
    }
    const double passed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double rate = static_cast<double>(done) / passed;
    std::fprintf(stderr, "\r\x1b[K%zu of %zu, %.1f a second, %.0f s left", done, all, rate,
                 static_cast<double>(all - done) / rate);
  };
}

}  // namespace nidus::cli
