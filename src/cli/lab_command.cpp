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
  add_ring(*ring, "balance", "Load against tokens a node: the 1/sqrt(v) law", lab::ring_balance);
  add_ring(*ring, "churn", "What moves when nodes come and go, 3 to 100", lab::ring_churn);
  add_ring(*ring, "placements", "All placements: time, memory, balance, movement",
           lab::ring_placements);
  add_ring(*ring, "slots", "What 16384 hash slots add to imbalance and movement", lab::ring_slots);
  add_ring(*ring, "worked", "The textbook's ring, by hand", lab::ring_worked);
  CLI::App* filter = app_->add_subcommand("filter", "Filters: may this key be there?");
  filter->require_subcommand(1);
  filter->footer("Example: nidus lab filter rates");
  add_filter(*filter, "rates", "Rates measured against the formula", lab::filter_rates);
  add_filter(*filter, "space", "Bits an item against the optimum", lab::filter_space);
  add_filter(*filter, "small", "16 bits and 3 hashes, step by step", lab::filter_small);
  add_filter(*filter, "delete", "Why a Bloom filter cannot erase", lab::filter_delete);
  add_filter(*filter, "pays", "Where a filter in front of a store pays", lab::filter_pays);
}

void LabCommand::add_ring(CLI::App& subject, const char* name, const char* help,
                          Experiment<lab::RingLab> experiment) {
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
  command->callback([this, experiment] {
    chosen_ = [this, experiment] { return experiment(ring_, terminal_progress()); };
  });
}

void LabCommand::add_filter(CLI::App& subject, const char* name, const char* help,
                            Experiment<lab::FilterLab> experiment) {
  CLI::App* command = subject.add_subcommand(name, help);
  command->add_option("--keys", filter_.keys, "Keys")
      ->option_text("N")
      ->check(CLI::Range(1, 100'000'000));
  command->add_option("--probes", filter_.probes, "Absent keys, or look-ups")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--fpr", filter_.fpr, "Rate of false positives [0.01]")
      ->option_text("P")
      ->check(CLI::Range(1e-8, 0.5));
  command->add_option("--seed", filter_.seed, "Seed of all that is random [1]")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  format_.add_flags(*command);
  command->footer("Example: nidus lab filter " + std::string(name) + " --json");
  command->callback([this, experiment] {
    chosen_ = [this, experiment] { return experiment(filter_, terminal_progress()); };
  });
}

int LabCommand::run() {
  const auto tables = chosen_();
  if (!tables) return report(kUsageError, tables.error().message);
  print(*tables, format_, std::cout);
  std::cout << std::flush;
  return std::cout ? kSuccess : report(kFailure, "cannot write to standard output");
}

}  // namespace nidus::cli
