// SPDX-License-Identifier: Apache-2.0

// Writes docs/commands.md (command_docs.hpp): a table a group, a row a command or subcommand.

#include "command/command_docs.hpp"

#include <algorithm>
#include <string_view>

#include "command/command_facts.hpp"
#include "command/registry.hpp"

namespace nidus::command {
namespace {

struct Group {
  std::string_view name, title, opening;
};
constexpr Group kGroups[] = {
    {"string", "Strings", "Every value is a string of bytes, up to 512 MiB."},
    {"bitmap", "Bits",
     "The bits of a string value, from the most significant of its first byte on."},
    {"generic", "Keys", "Keys, their expiry, and iteration over them."},
    {"transactions", "Transactions", "EXEC is atomic for every other client."},
    {"connection", "Connection", "What a client says about itself."},
    {"server", "Server", "Figures, configuration, and the commands that run the server."},
    {"scripting", "Functions", "Scripts and functions are not supported."},
    {"cluster", "Cluster", "This server is a single node: these say so."},
};

constexpr std::string_view kHead =
    "<!-- Generated from the table of commands; do not edit.\n"
    "     To refresh it: cmake --build build/dev --target command_docs -->\n"
    "\n"
    "# Commands\n"
    "\n"
    "Replies and errors are those of Redis 7. A command that is not in these tables is answered "
    "with\n"
    "`ERR unknown command`. *Since* is the version of Redis that brought the command; the "
    "commands\n"
    "named `NIDUS.*` are our own and give the version of nidus. *Flags* are what `COMMAND INFO` "
    "says.\n";

std::string upper(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return made;
}

// A bar would end the cell, even within code.
std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '|') made += '\\';
    made += c;
  }
  return made;
}

std::string row(const NamedCommand& command) {
  const CommandSpec& spec = *command.spec;
  std::string name = upper(spec.name);
  if (command.container != nullptr) name = upper(command.container->name) + " " + name;
  if (!spec.syntax.empty()) name.append(" ").append(spec.syntax);
  std::string flags;
  for (const std::string_view flag : flag_names(spec)) {
    if (!flags.empty()) flags += ", ";
    flags += flag;
  }
  return "| `" + escaped(name) + "` | " + escaped(spec.summary) + " | " + escaped(spec.complexity) +
         " | " + std::string(spec.since) + " | " + flags + " |\n";
}

// A container without a handler of its own is only the head of its subcommands.
bool has_row(const NamedCommand& command) { return command.spec->handler != nullptr; }

}  // namespace

std::string command_page() {
  std::string page(kHead);
  for (const Group& group : kGroups) {
    std::string rows;
    for_each_command([&](const NamedCommand& command) {
      if (command.spec->group == group.name && has_row(command)) rows += row(command);
    });
    if (rows.empty()) continue;
    page.append("\n## ").append(group.title).append("\n\n").append(group.opening);
    page.append("\n\n| Command | What it does | Cost | Since | Flags |\n|---|---|---|---|---|\n");
    page.append(rows);
  }
  return page;
}

}  // namespace nidus::command
