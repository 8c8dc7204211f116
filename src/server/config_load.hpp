// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a Config comes from: defaults < TOML file < environment (NIDUS_*) < flags. Every name must
// be known and every value sound, wherever it comes from: an error says where (file and line,
// variable or flag), what, and what to do. `--print-config` writes the result back as a TOML file.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/base/error.hpp>

#include "server/config.hpp"

namespace nidus::server {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct LoadRequest {
  std::string file;         // path; empty: NIDUS_CONFIG, or no file
  NamedValues environment;  // the NIDUS_* variables; see nidus_environment()
  NamedValues flags;        // without the leading dashes
};

enum class Source { kDefault, kFile, kEnvironment, kFlag };

struct LoadedConfig {
  Config config;
  std::string file;                            // the file that was read, or empty
  std::map<std::string_view, Source> sources;  // by option name; absent: kDefault

  Source source(std::string_view option_name) const {
    const auto found = sources.find(option_name);
    return found == sources.end() ? Source::kDefault : found->second;
  }
};

/// Errors: the first unknown name, bad value, doubly set option or unreadable file.
Expected<LoadedConfig> load_config(const LoadRequest& request);

/// The variables of this process whose names begin with NIDUS_.
NamedValues nidus_environment();

/// A commented TOML file that gives this Config. A password is not printed.
std::string print_config(const LoadedConfig& loaded);

}  // namespace nidus::server
