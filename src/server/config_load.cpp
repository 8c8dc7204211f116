// SPDX-License-Identifier: Apache-2.0

// Reads the three sources of settings, each in turn over the one before; see config_load.hpp.

#include "server/config_load.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include <toml++/toml.h>
#include <unistd.h>

#include "server/config_table.hpp"

namespace nidus::server {
namespace {

constexpr std::string_view kPrefix = "NIDUS_";
constexpr std::string_view kConfigVariable = "NIDUS_CONFIG";

/// Variables of the project's own tests and tools, which a server started by them inherits.
bool is_of_the_tools(std::string_view variable) {
  return variable.starts_with("NIDUS_TEST_") || variable == "NIDUS_CACHE_DIR";
}

/// One source's settings on their way into the Config.
class Layer {
 public:
  Layer(LoadedConfig& loaded, Source source) : loaded_(loaded), source_(source) {}

  /// `where` begins every error: "nidus.toml:3", "NIDUS_PORT", "--port".
  Expected<void> set(const std::string& where, std::string_view name, std::string_view value) {
    const Option* option = find_option(name);
    if (option == nullptr) return unknown(where, name);
    if (!seen_.insert(option->name).second) {
      return fail(where + ": " + std::string(option->name) + " is set twice; remove one");
    }
    if (!option->parse(loaded_.config, value)) {
      const std::string shown = option->secret ? "the value" : "'" + std::string(value) + "'";
      return fail(where + ": " + std::string(option->name) + ": " + shown + " is not " +
                  option->expects() + hint(value));
    }
    loaded_.sources[option->name] = source_;
    return {};
  }

 private:
  static tl::unexpected<Error> unknown(const std::string& where, std::string_view name) {
    const std::string_view similar = similar_option(name);
    std::string message = where + ": unknown setting '" + std::string(name) + "'";
    if (similar.empty()) return fail(message + "; `nidus serve --help` lists all settings");
    return fail(message + "; did you mean '" + std::string(similar) + "'?");
  }

  // Kubernetes gives each pod NIDUS_PORT=tcp://... once a service is called nidus.
  static std::string hint(std::string_view value) {
    if (!value.starts_with("tcp://")) return "";
    return "; it looks like Kubernetes' link to a service called nidus: set enableServiceLinks: "
           "false in the pod";
  }

  LoadedConfig& loaded_;
  Source source_;
  std::set<std::string_view> seen_;
};

/// A TOML value as the text that the option's type reads; nullopt for tables, dates and floats.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "yes" : "no";
  const auto* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::string joined;
  for (const toml::node& element : *list) {
    const auto* text = element.as_string();
    if (text == nullptr) return std::nullopt;
    joined += (joined.empty() ? "" : " ") + text->get();
  }
  return joined;
}

Expected<std::string> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  std::string text;
  char part[4096];
  std::size_t got = 1;
  while (file && got > 0) {
    got = std::fread(part, 1, sizeof part, file.get());
    text.append(part, got);
  }
  if (!file || std::ferror(file.get()) != 0) {
    return fail(path + ": cannot read the configuration file: " + std::strerror(errno));
  }
  return text;
}

Expected<void> load_file(const std::string& path, LoadedConfig& loaded) {
  const auto text = read_file(path);
  if (!text) return tl::make_unexpected(text.error());
  toml::table table;
  try {
    table = toml::parse(*text, path);
  } catch (const toml::parse_error& error) {
    return fail(path + ":" + std::to_string(error.source().begin.line) + ": " +
                std::string(error.description()));
  }
  Layer layer(loaded, Source::kFile);
  // The table is sorted by name; errors should come in the order of the file.
  std::map<std::pair<toml::source_index, toml::source_index>, std::string_view> by_place;
  for (const auto& [key, node] : table) {
    by_place[{key.source().begin.line, key.source().begin.column}] = key.str();
  }
  for (const auto& [place, key] : by_place) {
    const std::string where = path + ":" + std::to_string(place.first);
    const auto value = text_of(*table.get(key));
    const Option* option = find_option(key);
    if (option != nullptr && !value) {
      return fail(where + ": " + std::string(key) + " must be " + option->expects());
    }
    if (auto set = layer.set(where, key, value.value_or("")); !set) return set;
  }
  loaded.file = path;
  return {};
}

Expected<void> load_environment(const NamedValues& variables, LoadedConfig& loaded) {
  Layer layer(loaded, Source::kEnvironment);
  for (const auto& [variable, value] : variables) {
    if (variable == kConfigVariable || is_of_the_tools(variable)) continue;
    std::string name = lower_case(std::string_view(variable).substr(kPrefix.size()));
    for (char& c : name) c = c == '_' ? '-' : c;
    if (auto set = layer.set(variable, name, value); !set) return set;
  }
  return {};
}

Expected<void> load_flags(const NamedValues& flags, LoadedConfig& loaded) {
  Layer layer(loaded, Source::kFlag);
  for (const auto& [name, value] : flags) {
    if (auto set = layer.set("--" + name, name, value); !set) return set;
  }
  return {};
}

/// What no single option can know.
Expected<void> check_together(const Config& config) {
  if (config.port == kNoPort && config.unix_socket.empty()) {
    return fail("port is 0 and unix-socket is empty: nothing to listen on; set one of them");
  }
  if (config.port > 0 && config.port == config.http_port) {
    return fail("port and http-port are both " + std::to_string(config.port) +
                "; give HTTP another port, or 0 for none");
  }
  return {};
}

}  // namespace

Expected<LoadedConfig> load_config(const LoadRequest& request) {
  LoadedConfig loaded;
  std::string file = request.file;
  for (const auto& [variable, value] : request.environment) {
    if (file.empty() && variable == kConfigVariable) file = value;
  }
  Expected<void> done;
  if (!file.empty()) done = load_file(file, loaded);
  if (done) done = load_environment(request.environment, loaded);
  if (done) done = load_flags(request.flags, loaded);
  if (done) done = check_together(loaded.config);
  if (!done) return tl::make_unexpected(done.error());
  return loaded;
}

NamedValues nidus_environment() {
  NamedValues found;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !text.starts_with(kPrefix)) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

std::string print_config(const LoadedConfig& loaded) {
  const Config defaults;
  std::string out = "# Settings of `nidus serve`, as a file for --config.\n";
  std::string_view section;
  for (const Option& option : options()) {
    if (option.section != section) {
      section = option.section;
      out.append("\n# ").append(section).append("\n");
    }
    const std::string value = option.format(loaded.config, Form::kToml);
    const bool hidden = option.secret && value != option.format(defaults, Form::kToml);
    out.append("# ").append(option.help).append(".\n");
    out.append(hidden ? "# set, and not shown: " : "").append(option.name).append(" = ");
    out.append(hidden ? "..." : value).append("\n");
  }
  return out;
}

}  // namespace nidus::server
