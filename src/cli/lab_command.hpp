// SPDX-License-Identifier: Apache-2.0
#pragma once

// The subcommand `nidus lab`: experiments on the library's algorithms, by subject and name.

#include <functional>

#include <CLI/CLI.hpp>

#include "cli/print_tables.hpp"
#include "lab/filter.hpp"
#include "lab/ring.hpp"

namespace nidus::cli {

class LabCommand {
 public:
  explicit LabCommand(CLI::App& parent);

  bool chosen() const { return app_->parsed(); }
  /// Returns the exit status; errors are on standard error.
  int run();

 private:
  template <class Lab>
  using Experiment = Expected<lab::Tables> (*)(const Lab&, const lab::Progress&);

  void add_ring(CLI::App& subject, const char* name, const char* help,
                Experiment<lab::RingLab> experiment);
  void add_filter(CLI::App& subject, const char* name, const char* help,
                  Experiment<lab::FilterLab> experiment);

  CLI::App* app_;
  lab::RingLab ring_;
  lab::FilterLab filter_;
  std::function<Expected<lab::Tables>()> chosen_;
  TableFormat format_;
};

}  // namespace nidus::cli
