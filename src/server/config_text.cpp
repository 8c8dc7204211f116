// SPDX-License-Identifier: Apache-2.0

// The reading and writing of settings' values; see config_text.hpp. All arithmetic is checked: a
// size or a time that does not fit is refused, never wrapped.

#include "server/config_text.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace nidus::server {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kKibi = 1024;
constexpr std::array<Unit, 10> kByteUnits{{{"", 1},
                                           {"b", 1},
                                           {"k", 1000},
                                           {"kb", kKibi},
                                           {"m", 1000 * 1000},
                                           {"mb", kKibi* kKibi},
                                           {"g", 1000 * 1000 * 1000},
                                           {"gb", kKibi* kKibi* kKibi},
                                           {"t", 1000ull * 1000 * 1000 * 1000},
                                           {"tb", kKibi* kKibi* kKibi* kKibi}}};
constexpr std::array<Unit, 6> kTimeUnits{
    {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

template <class Units>
std::optional<std::uint64_t> parse_with_unit(std::string_view text, const Units& units) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_unsigned(text.substr(0, digits));
  if (!number) return std::nullopt;
  const std::string name = lower_case(text.substr(digits));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(*number, unit.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

/// "LIMITS" of the class "normal" among Redis' triples; the other classes have no clients here.
std::optional<OutputLimit> parse_redis_output_limit(const std::vector<std::string>& words) {
  if (words.size() % 4 != 0) return std::nullopt;
  std::optional<OutputLimit> normal;
  for (std::size_t i = 0; i < words.size(); i += 4) {
    const std::string name = lower_case(words[i]);
    if (name != "normal" && name != "slave" && name != "replica" && name != "pubsub") {
      return std::nullopt;
    }
    const auto hard = parse_bytes(words[i + 1]), soft = parse_bytes(words[i + 2]);
    const auto time = parse_duration(words[i + 3]);
    if (!hard || !soft || !time) return std::nullopt;
    if (name == "normal") normal = OutputLimit{*hard, *soft, *time};
  }
  return normal;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  return parse_with_unit(text, kByteUnits);
}

std::string format_bytes(std::uint64_t bytes) {
  for (std::size_t i = kByteUnits.size(); i-- > 0;) {
    const Unit& unit = kByteUnits[i];
    if (unit.factor % kKibi != 0 || bytes < unit.factor || bytes % unit.factor != 0) continue;
    return std::to_string(bytes / unit.factor).append(unit.name);
  }
  return std::to_string(bytes);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  // A hundred years: far beyond any use, and clocks can still be added to it.
  constexpr std::uint64_t kLongestMs = 100ull * 366 * 86'400'000;
  const auto ms = parse_with_unit(text, kTimeUnits);
  if (!ms || *ms > kLongestMs) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(*ms));
}

std::string format_duration(std::chrono::milliseconds duration) {
  const auto ms = static_cast<std::uint64_t>(duration.count());
  if (ms == 0) return "0s";
  std::string_view name;
  std::uint64_t factor = 0;
  for (const Unit& unit : kTimeUnits) {
    if (unit.name.empty() || unit.factor < factor || ms % unit.factor != 0) continue;
    name = unit.name;
    factor = unit.factor;
  }
  return std::to_string(ms / factor).append(name);
}

std::string format_seconds(std::chrono::milliseconds duration) {
  return std::to_string(duration.count() / 1000);
}

std::optional<bool> parse_flag(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "yes" || word == "true" || word == "on") return true;
  if (word == "no" || word == "false" || word == "off") return false;
  return std::nullopt;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kBetween = " ,\t";
  for (std::size_t at = 0; (at = text.find_first_not_of(kBetween, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<OutputLimit> parse_output_limit(std::string_view text) {
  const std::vector<std::string> words = split_words(text);
  if (words.size() != 3) return parse_redis_output_limit(words);
  const auto hard = parse_bytes(words[0]), soft = parse_bytes(words[1]);
  const auto time = parse_duration(words[2]);
  if (!hard || !soft || !time) return std::nullopt;
  return OutputLimit{*hard, *soft, *time};
}

std::string format_output_limit(const OutputLimit& limit, Form form) {
  if (form != Form::kRedis) {
    const std::string text = format_bytes(limit.hard_bytes) + " " + format_bytes(limit.soft_bytes) +
                             " " + format_duration(limit.soft_time);
    return form == Form::kToml ? toml_string(text) : text;
  }
  return "normal " + std::to_string(limit.hard_bytes) + " " + std::to_string(limit.soft_bytes) +
         " " + format_seconds(limit.soft_time) + " slave 0 0 0 pubsub 0 0 0";
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append("\\").append(1, c);
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      out.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      out.append(1, c);
    }
  }
  return out.append("\"");
}

}  // namespace nidus::server
