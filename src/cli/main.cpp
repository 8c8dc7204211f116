// SPDX-License-Identifier: Apache-2.0

// The executable nidus: its subcommands, and what is said about a command line that is wrong.

#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

#include "cli/lab_command.hpp"
#include "cli/report.hpp"
#include "cli/ring_command.hpp"
#include "cli/serve_command.hpp"
#include "server/config_table.hpp"

namespace nidus::cli {
namespace {

/// What is said about the first argument that no one knows, and what to try instead.
std::string about_unknown(const CLI::App& app) {
  std::string first;
  for (const std::string& argument : app.remaining(true)) {
    const bool is_flag = argument.starts_with("-");
    if (first.empty() || (is_flag && !first.starts_with("-"))) first = argument;
  }
  const std::string name = first.substr(0, first.find('='));
  const std::string message = "unknown argument '" + name + "'";
  if (!name.starts_with("--")) return message + "; see `nidus help`";
  const std::string_view similar = server::similar_option(name.substr(2));
  if (similar.empty()) return message + "; see `nidus help`";
  return message + "; did you mean --" + std::string(similar) + "?";
}

int print_version(bool as_json) {
  if (as_json) {
    std::cout << "{\"version\":\"" NIDUS_VERSION "\"}\n";
  } else {
    std::cout << "nidus " NIDUS_VERSION "\n";
  }
  return kSuccess;
}

int print_help(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) {
    // App::help() would explain the command that was parsed, which is "help".
    std::cout << app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
    return kSuccess;
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() != topic) continue;
    std::cout << command->help(app.get_name());
    return kSuccess;
  }
  return report(kUsageError, "there is no command '" + topic + "'; see `nidus help`");
}

int run(int argc, char** argv) {
  CLI::App app("A key-value server built on cuckoo hashing, for Redis clients.", "nidus");
  app.footer("Example: nidus serve --port 7000 --memory-limit 512mb --policy lru");
  app.set_version_flag("--version", "nidus " NIDUS_VERSION);
  app.require_subcommand(0, 1);  // none is reported below, after words that are no command
  app.get_formatter()->column_width(44);
  ServeCommand serve(app);
  RingCommand ring(app);
  LabCommand lab(app);
  bool version_as_json = false;
  CLI::App* version = app.add_subcommand("version", "Print the version");
  version->add_flag("--json", version_as_json, "As JSON");
  version->footer("Example: nidus version --json");
  std::string topic;
  CLI::App* help = app.add_subcommand("help", "Explain a command");
  help->add_option("command", topic, "The command");
  help->footer("Example: nidus help serve");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return report(kUsageError, about_unknown(app));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == kSuccess) return app.exit(error);  // --help, --version
    return report(kUsageError, std::string(error.what()) + "; see `nidus help`");
  }
  if (app.get_subcommands().empty()) {
    return report(kUsageError, "a command is missing; see `nidus help`");
  }
  if (version->parsed()) return print_version(version_as_json);
  if (help->parsed()) return print_help(app, topic);
  if (ring.chosen()) return ring.run();
  if (lab.chosen()) return lab.run();
  std::error_code unknown;  // INFO then shows an empty path
  return serve.run(std::filesystem::read_symlink("/proc/self/exe", unknown).string());
}

}  // namespace
}  // namespace nidus::cli

int main(int argc, char** argv) {
  try {
    return nidus::cli::run(argc, argv);
  } catch (const std::exception& error) {
    return nidus::cli::report(nidus::cli::kFailure, error.what());
  }
}
