// SPDX-License-Identifier: Apache-2.0
#pragma once

// The subcommand `nidus lab`: experiments on the library's algorithms, by subject and name.

#include <CLI/CLI.hpp>

#include "cli/print_tables.hpp"
#include "lab/ring.hpp"

namespace nidus::cli {

class LabCommand {
 public:
  explicit LabCommand(CLI::App& parent);

  bool chosen() const { return app_->parsed(); }
  /// Returns the exit status; errors are on standard error.
  int run();

 private:
  using Experiment = Expected<lab::Tables> (*)(const lab::RingLab&, const lab::Progress&);

  void add(CLI::App& subject, const char* name, const char* help, Experiment experiment);

  CLI::App* app_;
  lab::RingLab ring_;
  Experiment chosen_ = nullptr;
  TableFormat format_;
};

}  // namespace nidus::cli
