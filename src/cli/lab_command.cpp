// SPDX-License-Identifier: Apache-2.0

// `nidus lab`: the list of experiments and their flags. See lab_command.hpp.

#include "cli/lab_command.hpp"

#include <iostream>
#include <string>

#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace nidus::cli {

LabCommand::LabCommand(CLI::App& parent)
    : app_(parent.add_subcommand("lab", "Run experiments on the algorithms")) {
  app_->require_subcommand(1);
  app_->footer("Example: nidus lab ring balance");
  CLI::App* ring = app_->add_subcommand("ring", "Placements of keys on nodes");
  ring->require_subcommand(1);
  ring->footer("Example: nidus lab ring placements --nodes 100");
  add(*ring, "balance", "Load against tokens a node: the 1/sqrt(v) law", lab::ring_balance);
  add(*ring, "churn", "What moves when nodes come and go, 3 to 100", lab::ring_churn);
  add(*ring, "placements", "All placements: time, memory, balance, movement", lab::ring_placements);
  add(*ring, "slots", "What 16384 hash slots add to imbalance and movement", lab::ring_slots);
  add(*ring, "worked", "The textbook's ring, by hand", lab::ring_worked);
}

void LabCommand::add(CLI::App& subject, const char* name, const char* help, Experiment experiment) {
  CLI::App* command = subject.add_subcommand(name, help);
  command->add_option("--nodes", ring_.nodes, "Nodes")
      ->option_text("N")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--keys", ring_.keys, "Keys")
      ->option_text("N")
      ->check(CLI::Range(1, 100'000'000));
  command->add_option("--rings", ring_.rings, "Sets of names to average over")
      ->option_text("N")
      ->check(CLI::Range(1, 100'000));
  command->add_option("--vnodes", ring_.model.tokens, "Tokens of a node [1024]")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--seed", ring_.seed, "Seed of all that is random [1]")->option_text("N");
  format_.add_flags(*command);
  command->footer("Example: nidus lab ring " + std::string(name) + " --json");
  command->callback([this, experiment] { chosen_ = experiment; });
}

int LabCommand::run() {
  const auto tables = chosen_(ring_, terminal_progress());
  if (!tables) return report(kUsageError, tables.error().message);
  print(*tables, format_, std::cout);
  std::cout << std::flush;
  return std::cout ? kSuccess : report(kFailure, "cannot write to standard output");
}

}  // namespace nidus::cli
