// SPDX-License-Identifier: Apache-2.0

// `nidus serve`: one flag for each row of the option table, by its name and its Redis name, and the
// flags that are about the settings as a whole. See serve_command.hpp.

#include "cli/serve_command.hpp"

#include <deque>
#include <iostream>
#include <utility>
#include <vector>

#include "cli/report.hpp"
#include "server/config_load.hpp"
#include "server/config_table.hpp"
#include "server/serve.hpp"

namespace nidus::cli {

using server::Form;
using server::Option;

struct ServeCommand::Flags {
  std::string file;
  bool check = false, print = false;
  struct Given {
    const Option* option;
    std::vector<std::string> words;
  };
  std::deque<Given> given;  // CLI11 keeps references
};

namespace {

constexpr const char* kFooter =
    "Sizes take b k kb m mb g gb t tb (kb = 1024), durations ms s m h d (no unit: seconds).\n"
    "Settings: defaults < file (--config, NIDUS_CONFIG) < environment (NIDUS_MEMORY_LIMIT=64mb) < "
    "flags.\n"
    "Example: nidus serve --port 7000 --memory-limit 512mb --policy lru";

std::string flag_names(const Option& option) {
  std::string names = "--" + std::string(option.name);
  if (!option.redis_name.empty() && option.redis_name != option.name) {
    names += ",--" + std::string(option.redis_name);
  }
  return names;
}

std::string help_of(const Option& option) {
  const std::string value = option.format(server::Config(), Form::kText);
  return std::string(option.help) + (value.empty() ? "" : " [" + value + "]");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

ServeCommand::ServeCommand(CLI::App& parent)
    : app_(parent.add_subcommand("serve", "Serve the Redis protocol")),
      flags_(std::make_unique<Flags>()) {
  app_->footer(kFooter);
  app_->add_option("--config", flags_->file, "TOML file of settings")
      ->option_text("FILE")
      ->group("Settings");
  app_->add_flag("--check-config", flags_->check, "Check the settings and exit")->group("Settings");
  app_->add_flag("--print-config", flags_->print, "Print the settings as a TOML file and exit")
      ->group("Settings");
  for (const Option& option : server::options()) {
    Flags::Given& given = flags_->given.emplace_back(Flags::Given{&option, {}});
    auto* flag = app_->add_option(flag_names(option), given.words, help_of(option));
    flag->option_text(std::string(option.unit))->group(std::string(option.section));
    if (option.unit != "LIST") flag->expected(1);
  }
}

ServeCommand::~ServeCommand() = default;

bool ServeCommand::chosen() const { return app_->parsed(); }

int ServeCommand::run(const std::string& executable) {
  server::LoadRequest request{flags_->file, server::nidus_environment(), {}};
  for (const Flags::Given& given : flags_->given) {
    if (app_->count("--" + std::string(given.option->name)) == 0) continue;
    request.flags.emplace_back(given.option->name, joined(given.words));
  }
  const auto loaded = server::load_config(request);
  if (!loaded) return report(kUsageError, loaded.error().message);
  if (flags_->print) std::cout << server::print_config(*loaded) << std::flush;
  if (flags_->print || flags_->check) {
    return std::cout ? kSuccess : report(kFailure, "cannot write to standard output");
  }
  const auto status = server::serve(*loaded, executable, std::cout);
  return status ? *status : report(kFailure, status.error().message);
}

}  // namespace nidus::cli
