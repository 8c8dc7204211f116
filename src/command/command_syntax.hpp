// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a spec's syntax line ("key value [NX | XX] [EX seconds | PX milliseconds]") into the tree
// of arguments that COMMAND DOCS sends, from which redis-cli makes its hints. Pure text in, tree
// out.

#include <string>
#include <string_view>
#include <vector>

namespace nidus::command {

/// One argument in the words of COMMAND DOCS.
struct SyntaxArgument {
  std::string name;
  std::string type;   // key, string, integer, double, pattern, unix-time, pure-token, oneof, block
  std::string token;  // the literal word in front of it, or the pure token itself
  bool optional = false;
  bool multiple = false;
  std::vector<SyntaxArgument> arguments;  // of oneof and block
};

/// The grammar: lower-case words are arguments, upper-case words tokens, [..] is optional, <..>
/// groups, | separates alternatives, "..." repeats what the bracket holds; a bracket that repeats
/// the arguments before it marks them as multiple.
std::vector<SyntaxArgument> parse_syntax(std::string_view syntax);

}  // namespace nidus::command
