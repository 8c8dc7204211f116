// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one table of options: each setting's name, its name in Redis, its help, its type and whether
// it may change while the server runs. Everything else is derived: the flag is --NAME, the key in
// the TOML file is NAME, the environment variable NIDUS_NAME (upper case, _ for -), and each place
// takes the Redis name too. --help, --print-config, CONFIG GET and CONFIG SET walk this table.

#include <span>
#include <string>
#include <string_view>

#include "server/config.hpp"
#include "server/config_text.hpp"

namespace nidus::server {

struct Option {
  std::string_view section;  // heading in --help and --print-config
  std::string_view name;
  std::string_view redis_name;  // empty: Redis has none
  std::string_view help;
  bool changeable = false;  // by CONFIG SET
  bool secret = false;      // never printed, never logged
  std::string_view unit;    // in --help: SIZE, DURATION, NUMBER, ...

  /// Takes the value or returns false and leaves the Config as it was.
  bool (*parse)(Config& config, std::string_view text) = nullptr;
  std::string (*format)(const Config& config, Form form) = nullptr;
  /// What the value must be, for people: "a size such as 512mb".
  std::string (*expects)() = nullptr;
  /// The same in Redis' words: "argument must be a memory value".
  std::string (*redis_complaint)() = nullptr;
};

/// All options, section by section.
std::span<const Option> options();

/// The option of this name or Redis name, in any case, or nullptr.
const Option* find_option(std::string_view name);

/// The option's name that is nearest to a misspelt one, or empty.
std::string_view similar_option(std::string_view name);

/// NIDUS_MEMORY_LIMIT for memory-limit.
std::string environment_name(std::string_view option_name);

std::string_view log_level_name(LogLevel level);

}  // namespace nidus::server
