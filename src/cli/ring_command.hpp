// SPDX-License-Identifier: Apache-2.0
#pragma once

// The subcommand `nidus ring`: who owns what, and what a change of nodes moves.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/print_tables.hpp"
#include "lab/ring_report.hpp"

namespace nidus::cli {

class RingCommand {
 public:
  explicit RingCommand(CLI::App& parent);

  bool chosen() const { return app_->parsed(); }
  /// Returns the exit status; errors are on standard error.
  int run();

 private:
  Expected<lab::RingQuestion> question() const;
  Expected<lab::Keys> keys() const;

  CLI::App* app_;
  std::string placement_;
  std::vector<std::string> nodes_, add_, remove_, zones_;
  std::string keys_file_, svg_file_;
  std::size_t count_ = 100'000;
  std::size_t replicas_ = 1;
  lab::ModelOptions options_;
  bool list_owners_ = false;
  TableFormat format_;
};

}  // namespace nidus::cli
