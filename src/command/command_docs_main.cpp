// SPDX-License-Identifier: Apache-2.0

// The program behind the target command_docs: writes docs/commands.md, to the file given or to
// standard output.

#include <cstdio>
#include <fstream>
#include <string>

#include "command/command_docs.hpp"

int main(int count, char** arguments) {
  const std::string page = nidus::command::command_page();
  if (count > 2) {
    std::fprintf(stderr, "usage: %s [FILE]\n", arguments[0]);
    return 2;
  }
  if (count == 1) {
    return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
  }
  std::ofstream file(arguments[1], std::ios::binary | std::ios::trunc);
  file << page << std::flush;
  if (!file) {
    std::fprintf(stderr, "%s: cannot be written\n", arguments[1]);
    return 1;
  }
  return 0;
}
