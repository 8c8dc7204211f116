// SPDX-License-Identifier: Apache-2.0
#pragma once

// The subcommand `nidus serve`: its flags come from the option table, its work is server/serve.hpp.

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace nidus::cli {

class ServeCommand {
 public:
  explicit ServeCommand(CLI::App& parent);
  ~ServeCommand();

  /// True if the command line chose this subcommand.
  bool chosen() const;
  /// Runs it. Returns the exit status: 0 after a drain, 1 if the machine refused something, 2 for
  /// a mistake in the settings; errors are on standard error.
  int run(const std::string& executable);

 private:
  struct Flags;
  CLI::App* app_;
  std::unique_ptr<Flags> flags_;
};

}  // namespace nidus::cli
