// SPDX-License-Identifier: Apache-2.0
#pragma once

// The types that options have: each reads and writes one kind of value and says, to people and to
// Redis clients, what it expects. Used by the table alone (config_table.cpp).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/score.hpp"
#include "server/config.hpp"
#include "server/config_text.hpp"

namespace nidus::server::types {

inline std::string quoted_for(Form form, std::string text) {
  return form == Form::kToml ? toml_string(text) : text;
}

struct Text {
  static constexpr std::string_view kUnit = "TEXT";
  static std::optional<std::string> parse(std::string_view text) {
    // A NUL ends a path or a password early for the system's calls.
    if (text.find('\0') != std::string_view::npos) return std::nullopt;
    return std::string(text);
  }
  static std::string format(const std::string& value, Form form) { return quoted_for(form, value); }
  static std::string expects() { return "text without NUL bytes"; }
  static std::string redis_complaint() { return "argument must not contain NUL bytes"; }
};

struct Words {
  static constexpr std::string_view kUnit = "LIST";
  static std::optional<std::vector<std::string>> parse(std::string_view text) {
    auto words = split_words(text);
    if (words.empty()) return std::nullopt;
    return words;
  }
  static std::string format(const std::vector<std::string>& value, Form form) {
    const bool toml = form == Form::kToml;
    std::string out = toml ? "[" : "";
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i != 0) out += toml ? ", " : " ";
      out += toml ? toml_string(value[i]) : value[i];
    }
    return toml ? out + "]" : out;
  }
  static std::string expects() { return "one or more words"; }
  static std::string redis_complaint() { return "argument must not be empty"; }
};

struct YesNo {
  static constexpr std::string_view kUnit = "yes|no";
  static std::optional<bool> parse(std::string_view text) { return parse_flag(text); }
  static std::string format(bool value, Form form) {
    if (form == Form::kToml) return value ? "true" : "false";
    return value ? "yes" : "no";
  }
  static std::string expects() { return "yes or no"; }
  static std::string redis_complaint() { return "argument must be 'yes' or 'no'"; }
};

template <class T, std::uint64_t kLeast, std::uint64_t kMost>
struct Integer {
  static constexpr std::string_view kUnit = "NUMBER";
  static std::optional<T> parse(std::string_view text) {
    const auto number = parse_unsigned(text);
    if (!number || *number < kLeast || *number > kMost) return std::nullopt;
    return static_cast<T>(*number);
  }
  static std::string format(T value, Form) { return std::to_string(value); }
  static std::string range(const std::string& between) {
    return std::to_string(kLeast) + between + std::to_string(kMost);
  }
  static std::string expects() { return "a number from " + range(" to "); }
  static std::string redis_complaint() {
    return "argument must be between " + range(" and ") + " inclusive";
  }
};

struct Port {
  static constexpr std::string_view kUnit = "PORT";
  static std::optional<int> parse(std::string_view text) {
    if (lower_case(text) == "any") return kAnyPort;
    return Integer<int, 0, 65535>::parse(text);
  }
  static std::string format(int value, Form form) {
    return value == kAnyPort ? quoted_for(form, "any") : std::to_string(value);
  }
  static std::string expects() { return "a port from 1 to 65535, 0 for none, or any"; }
  static std::string redis_complaint() { return "argument must be between 0 and 65535 inclusive"; }
};

template <std::uint64_t kLeast>
struct Bytes {
  static constexpr std::string_view kUnit = "SIZE";
  static std::optional<std::size_t> parse(std::string_view text) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // sums of two stay in 63 bits
    const auto bytes = parse_bytes(text);
    if (!bytes || *bytes < kLeast || *bytes > kMost) return std::nullopt;
    return static_cast<std::size_t>(*bytes);
  }
  static std::string format(std::size_t value, Form form) {
    if (form == Form::kRedis) return std::to_string(value);
    return quoted_for(form, format_bytes(value));
  }
  static std::string expects() {
    const std::string size = "a size such as 512mb";
    return kLeast == 0 ? size : size + ", at least " + format_bytes(kLeast);
  }
  static std::string redis_complaint() { return "argument must be a memory value"; }
};

struct Duration {
  static constexpr std::string_view kUnit = "DURATION";
  static std::optional<std::chrono::milliseconds> parse(std::string_view text) {
    return parse_duration(text);
  }
  static std::string format(std::chrono::milliseconds value, Form form) {
    return form == Form::kRedis ? format_seconds(value) : quoted_for(form, format_duration(value));
  }
  static std::string expects() { return "a duration such as 30s, 500ms or 5m"; }
  static std::string redis_complaint() { return "argument couldn't be parsed into an integer"; }
};

struct Permissions {
  static constexpr std::string_view kUnit = "OCTAL";
  static std::optional<unsigned> parse(std::string_view text) {
    const auto bits = parse_unsigned(text, 8);
    if (!bits || *bits > 0777) return std::nullopt;
    return static_cast<unsigned>(*bits);
  }
  static std::string format(unsigned value, Form form) {
    std::string digits;
    for (int shift = 6; shift >= 0; shift -= 3)
      digits += static_cast<char>('0' + (value >> shift & 7));
    return quoted_for(form, digits);
  }
  static std::string expects() { return "octal permissions such as 0700"; }
  static std::string redis_complaint() { return "argument must be an octal number up to 777"; }
};

struct OutputLimits {
  static constexpr std::string_view kUnit = "\"HARD SOFT TIME\"";
  static std::optional<OutputLimit> parse(std::string_view text) {
    return parse_output_limit(text);
  }
  static std::string format(const OutputLimit& value, Form form) {
    return format_output_limit(value, form);
  }
  static std::string expects() { return "a hard size, a soft size and a time: 1gb 256mb 60s"; }
  static std::string redis_complaint() { return "Wrong number of arguments or invalid limit"; }
};

/// One of several words. Names gives kNames: {name, value} pairs, the first name of a value being
/// nidus' own, and redis_name(value).
template <class Names>
struct Choice {
  static constexpr std::string_view kUnit = Names::kUnit;
  using Value = typename Names::Value;
  static std::optional<Value> parse(std::string_view text) {
    return Names::parse(lower_case(text));
  }
  static std::string format(Value value, Form form) {
    const std::string_view name =
        form == Form::kRedis ? Names::redis_name(value) : Names::name(value);
    return quoted_for(form, std::string(name));
  }
  static std::string expects() { return "one of " + std::string(Names::kAll); }
  static std::string redis_complaint() {
    return "argument(s) must be one of the following: " + std::string(Names::kAll);
  }
};

struct PolicyNames {
  using Value = engine::Policy;
  static constexpr std::string_view kUnit = "POLICY";
  static constexpr std::string_view kAll =
      "noeviction, lru, lfu, random, ttl, volatile-lru, volatile-lfu, volatile-random, "
      "volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random";
  static std::optional<Value> parse(std::string_view text) { return engine::parse_policy(text); }
  static std::string_view name(Value value) { return engine::policy_name(value); }
  static std::string_view redis_name(Value value) { return engine::policy_name(value); }
};

struct LogLevelNames {
  using Value = LogLevel;
  static constexpr std::string_view kUnit = "LEVEL";
  static constexpr std::string_view kAll = "debug, info, warning, error, verbose, notice";
  static std::optional<Value> parse(std::string_view text) {
    if (text == "debug") return LogLevel::kDebug;
    if (text == "info" || text == "notice" || text == "verbose") return LogLevel::kInfo;
    if (text == "warning") return LogLevel::kWarning;
    if (text == "error") return LogLevel::kError;
    return std::nullopt;
  }
  static std::string_view name(Value value) {
    switch (value) {
      case LogLevel::kDebug:
        return "debug";
      case LogLevel::kInfo:
        return "info";
      case LogLevel::kWarning:
        return "warning";
      case LogLevel::kError:
        return "error";
    }
    return "info";
  }
  /// Redis has no level above warning.
  static std::string_view redis_name(Value value) {
    if (value == LogLevel::kInfo) return "notice";
    return value == LogLevel::kError ? "warning" : name(value);
  }
};

struct DebugCommandNames {
  using Value = DebugCommand;
  static constexpr std::string_view kUnit = "no|local|yes";
  static constexpr std::string_view kAll = "no, local, yes";
  static std::optional<Value> parse(std::string_view text) {
    if (text == "no") return DebugCommand::kNo;
    if (text == "local") return DebugCommand::kLocal;
    if (text == "yes") return DebugCommand::kYes;
    return std::nullopt;
  }
  static std::string_view name(Value value) {
    if (value == DebugCommand::kNo) return "no";
    return value == DebugCommand::kLocal ? "local" : "yes";
  }
  static std::string_view redis_name(Value value) { return name(value); }
};

struct LogFormatNames {
  using Value = LogFormat;
  static constexpr std::string_view kUnit = "text|json";
  static constexpr std::string_view kAll = "text, json";
  static std::optional<Value> parse(std::string_view text) {
    if (text == "text") return LogFormat::kText;
    if (text == "json") return LogFormat::kJson;
    return std::nullopt;
  }
  static std::string_view name(Value value) { return value == LogFormat::kJson ? "json" : "text"; }
  static std::string_view redis_name(Value value) { return name(value); }
};

}  // namespace nidus::server::types
