// SPDX-License-Identifier: Apache-2.0

// See print_tables.hpp.

#include "cli/print_tables.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace nidus::cli {
namespace {

using lab::Cell;
using lab::Table;

std::string shown(const Cell& cell, int decimals) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  std::ostringstream out;
  out << std::fixed << std::setprecision(decimals) << std::get<double>(cell);
  return out.str();
}

std::string heading(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  const std::size_t at = name.find("percent");
  if (at != std::string::npos) name.replace(at, 7, "%");
  return name;
}

bool is_text(const Table& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
}

void print_text(const Table& table, std::ostream& out) {
  if (!table.title.empty()) out << table.title << "\n\n";
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& column : table.columns) lines[0].push_back(heading(column.name));
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(shown(row[i], table.columns[i].decimals));
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string written;
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : lines) width = std::max(width, other[i].size());
      const std::string padding(width - line[i].size(), ' ');
      written += i == 0 ? "" : "  ";
      written += is_text(table, i) ? line[i] + padding : padding + line[i];
    }
    written.erase(written.find_last_not_of(' ') + 1);
    text += written + "\n";
  }
  out << text;
}

boost::json::value to_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return text->empty() ? boost::json::value(nullptr) : boost::json::value(*text);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  return std::get<double>(cell);
}

boost::json::value to_json(const Table& table) {
  boost::json::array rows;
  for (const auto& row : table.rows) {
    boost::json::object object;
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i].name] = to_json(row[i]);
    if (table.is_record) return object;
    rows.push_back(std::move(object));
  }
  return rows;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string safe = "\"";
  for (const char c : text) safe += c == '"' ? "\"\"" : std::string(1, c);
  return safe + "\"";
}

void print_csv(const Table& table, std::ostream& out) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out << (i == 0 ? "" : ",") << table.columns[i].name;
  }
  out << "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "" : ",") << quoted(shown(row[i], std::max(6, table.columns[i].decimals)));
    }
    out << "\n";
  }
}

}  // namespace

void TableFormat::add_flags(CLI::App& command) {
  auto* as_json = command.add_flag("--json", json, "As JSON");
  command.add_flag("--csv", csv, "As CSV, an empty line between two tables")->excludes(as_json);
}

void print(const lab::Tables& tables, const TableFormat& format, std::ostream& out) {
  if (format.json) {
    boost::json::object object;
    for (const Table& table : tables) object[table.name] = to_json(table);
    out << boost::json::serialize(object) << "\n";
    return;
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) out << "\n";
    format.csv ? print_csv(tables[i], out) : print_text(tables[i], out);
  }
}

}  // namespace nidus::cli
