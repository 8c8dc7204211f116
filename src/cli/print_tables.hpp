// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints what an experiment returned: as text for people, as JSON or CSV for programs.

#include <ostream>

#include <CLI/CLI.hpp>

#include "lab/table.hpp"

namespace nidus::cli {

/// The flags --json and --csv of a command.
struct TableFormat {
  bool json = false, csv = false;
  void add_flags(CLI::App& command);
};

/// JSON is one object: a table is an array of objects, or an object if it is a record. In CSV each
/// table has its header line; an empty line stands between two.
void print(const lab::Tables& tables, const TableFormat& format, std::ostream& out);

}  // namespace nidus::cli
