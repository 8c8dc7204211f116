// SPDX-License-Identifier: Apache-2.0

// The syntax lines of the table become COMMAND DOCS' arguments; and docs/commands.md is what the
// table says.

#include "command/command_docs.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "command/command_facts.hpp"
#include "command/command_syntax.hpp"

namespace nidus::command {
namespace {

// A tree as one line: [] optional, + multiple, name:type, token=, () inner arguments.
std::string drawn(const std::vector<SyntaxArgument>& arguments) {
  std::string text;
  for (const SyntaxArgument& argument : arguments) {
    if (!text.empty()) text += " ";
    std::string one = argument.token.empty() ? "" : argument.token + "=";
    one += argument.name + ":" + argument.type;
    if (!argument.arguments.empty()) one += "(" + drawn(argument.arguments) + ")";
    if (argument.multiple) one += "+";
    text += argument.optional ? "[" + one + "]" : one;
  }
  return text;
}
std::string drawn(std::string_view syntax) { return drawn(parse_syntax(syntax)); }

TEST(CommandSyntax, WordsTokensAndAlternatives) {
  EXPECT_EQ(drawn(""), "");
  EXPECT_EQ(drawn("key value"), "key:key value:string");
  EXPECT_EQ(drawn("key [NX | XX] [GET] [EX seconds | KEEPTTL]"),
            "key:key [nx:oneof(NX=nx:pure-token XX=xx:pure-token)] [GET=get:pure-token] "
            "[seconds:oneof(EX=seconds:integer KEEPTTL=keepttl:pure-token)]");
  EXPECT_EQ(drawn("<ASYNC | SYNC> pattern"),
            "async:oneof(ASYNC=async:pure-token SYNC=sync:pure-token) pattern:pattern");
}

TEST(CommandSyntax, ABracketThatRepeatsWhatStandsBeforeItMakesItMultiple) {
  EXPECT_EQ(drawn("key [key ...]"), "key:key+");
  EXPECT_EQ(drawn("key value [key value ...]"), "key:block(key:key value:string)+");
  EXPECT_EQ(drawn("[section [section ...]]"), "[section:string+]");
  EXPECT_EQ(drawn("key [field ...]"), "key:key [field:string+]");
}

TEST(CommandSyntax, ATokenTakesTheWordsBehindIt) {
  EXPECT_EQ(drawn("key [SAMPLES count]"), "key:key [SAMPLES=count:integer]");
  EXPECT_EQ(drawn("[GET encoding offset]"), "[GET=encoding:block(encoding:string offset:integer)]");
}

TEST(CommandSyntax, OddLinesEndInATreeToo) {
  for (const char* line : {"[", "]", "|", "a | b", "[[a", "a ]] b", "...", "[...]", "< >"}) {
    parse_syntax(line);
  }
  EXPECT_EQ(drawn("a | b"), "a:string b:string");
}

TEST(CommandSyntax, EveryLineOfTheTableHasBalancedBrackets) {
  for_each_command([](const NamedCommand& command) {
    int depth = 0;
    for (const char c : command.spec->syntax) {
      depth += (c == '[' || c == '<') ? 1 : (c == ']' || c == '>') ? -1 : 0;
      EXPECT_GE(depth, 0) << command.full_name();
    }
    EXPECT_EQ(depth, 0) << command.full_name();
  });
}

TEST(CommandPage, IsWhatTheTableSays) {
  std::ifstream file(NIDUS_COMMAND_PAGE, std::ios::binary);
  ASSERT_TRUE(file) << "docs/commands.md is missing";
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == command_page()) << "docs/commands.md is stale; refresh it with\n"
                                               "  cmake --build build/dev --target command_docs";
}

}  // namespace
}  // namespace nidus::command
