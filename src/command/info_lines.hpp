// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds INFO's text line by line: "# Title", "name:value", sizes with their readable twin.

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace nidus::command {

/// A size as Redis writes it for people: "512B", "1.00K", "23.54G".
inline std::string human_bytes(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + "B";
  double value = static_cast<double>(bytes);
  const char* unit = "BKMGTP";
  while (value >= 1024 && unit[1] != '\0') {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.2f%c", value, *unit);
  return text;
}

class InfoLines {
 public:
  void title(std::string_view name) {
    if (!text_.empty()) text_ += "\r\n";
    text_.append("# ").append(name).append("\r\n");
  }
  void field(std::string_view name, std::string_view value) {
    text_.append(name).append(":").append(value).append("\r\n");
  }
  template <std::integral Number>
  void field(std::string_view name, Number value) {
    field(name, std::string_view(std::to_string(value)));
  }
  void decimal(std::string_view name, double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    field(name, std::string_view(text));
  }
  /// The size as a number and, in name_human, for people.
  void bytes(std::string_view name, std::size_t value) {
    field(name, value);
    field(std::string(name) + "_human", std::string_view(human_bytes(value)));
  }
  void percent(std::string_view name, std::size_t part, std::size_t whole) {
    char text[64];
    std::snprintf(text, sizeof text, "%.2f%%", 100 * quotient(part, whole));
    field(name, std::string_view(text));
  }
  void ratio(std::string_view name, std::size_t part, std::size_t whole) {
    decimal(name, quotient(part, whole), 2);
  }

  std::string take() { return std::exchange(text_, {}); }

 private:
  static double quotient(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }

  std::string text_;
};

}  // namespace nidus::command
