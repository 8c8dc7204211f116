// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an experiment returns: tables, which the command line prints as text, JSON or CSV.

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace nidus::lab {

/// A number that does not apply is the empty string.
using Cell = std::variant<std::string, std::int64_t, double>;

struct Column {
  std::string name;  // snake_case, with its unit: the key in JSON
  int decimals = 0;  // of the doubles, in text
};

struct Table {
  std::string name;   // snake_case: the key in JSON
  std::string title;  // above it in text
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  bool is_record = false;  // always one row: an object in JSON
};

using Tables = std::vector<Table>;

inline Cell count(std::size_t n) { return static_cast<std::int64_t>(n); }

/// Called as the steps of long work are done.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

}  // namespace nidus::lab
