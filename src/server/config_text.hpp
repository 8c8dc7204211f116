// SPDX-License-Identifier: Apache-2.0
#pragma once

// How values of settings are written: sizes ("64mb"), durations ("30s"), lists, yes and no. The
// option table (config_table.cpp) builds its types from these; they know nothing of names.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/config.hpp"

namespace nidus::server {

/// For whom a value is written: a person ("64mb"), a TOML file ("\"64mb\""), CONFIG GET
/// ("67108864").
enum class Form { kText, kToml, kRedis };

/// A size in bytes: digits and a unit in any case: b; k m g t (powers of 1000); kb mb gb tb (of
/// 1024).
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// The largest unit of 1024 that divides the size: "64mb", "1500b" as "1500".
std::string format_bytes(std::uint64_t bytes);

/// A duration: digits and ms, s, m, h or d; without a unit seconds, as in Redis.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
std::string format_duration(std::chrono::milliseconds duration);
/// Whole seconds, as CONFIG GET shows them.
std::string format_seconds(std::chrono::milliseconds duration);

/// Decimal digits and nothing else.
std::optional<std::uint64_t> parse_unsigned(std::string_view text, int base = 10);

/// yes no, true false, on off, in any case.
std::optional<bool> parse_flag(std::string_view text);

/// Words between spaces and commas.
std::vector<std::string> split_words(std::string_view text);

/// nidus: "HARD SOFT TIME", e.g. "1gb 256mb 60s". Redis: "normal 0 0 0 [replica ...] [pubsub ...]".
std::optional<OutputLimit> parse_output_limit(std::string_view text);
std::string format_output_limit(const OutputLimit& limit, Form form);

std::string lower_case(std::string_view text);
/// As a TOML basic string, with its quotes.
std::string toml_string(std::string_view text);

}  // namespace nidus::server
