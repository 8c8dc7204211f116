// SPDX-License-Identifier: Apache-2.0

// Glob patterns: a table, random patterns against the definition, and patterns made to be slow.

#include "resp/glob.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "glob_oracle.hpp"

namespace nidus::resp {
namespace {

using namespace std::string_literals;

struct Case {
  std::string pattern;
  std::string text;
  bool matches;
};

TEST(RespGlob, MatchesAsRedisDoes) {
  const Case cases[] = {
      {"", "", true},
      {"", "a", false},
      {"*", "", true},
      {"**", "", false},
      {"*", "anything", true},
      {"h?llo", "hello", true},
      {"h?llo", "hllo", false},
      {"h*llo", "hllo", true},
      {"h*llo", "heeeello", true},
      {"h*llo", "heeeell", false},
      {"h[ae]llo", "hallo", true},
      {"h[ae]llo", "hillo", false},
      {"h[^e]llo", "hallo", true},
      {"h[^e]llo", "hello", false},
      {"h[a-b]llo", "hbllo", true},
      {"h[b-a]llo", "hallo", true},
      {"h[a-b]llo", "hcllo", false},
      {"a\\*c", "a*c", true},
      {"a\\*c", "abc", false},
      {"[\\]]", "]", true},
      {"[a\\-z]", "-", true},
      {"[a\\-z]", "b", false},
      {"[]", "]", false},
      {"[]a]", "a", false},
      {"[abc", "c", true},
      {"[abc", "d", false},
      {"[^", "x", true},
      {"[", "[", false},
      {"[a-", "-", true},
      {"[a-]", "b", false},  // an unclosed class; the range goes from `]` to `a`
      {"[a-]", "_", true},
      {"a\\", "a\\", true},
      {"abc**", "abc", true},
      {"abc?", "abc", false},
      {"*abc", "ababc", true},
      {"*a*b*c*", "xxaxxbxxcxx", true},
      {"*a*b*c*", "xxaxxcxxbxx", false},
      {"*?", "a", true},
      {"?*?", "a", false},
      {"a*\\*", "ab*", true},
      {"a\0*"s, "a\0b"s, true},
      {"a"s, "a\0"s, false},
      {"[\x01-\xff]", "\xff", true},  // signed: -1 to 1
      {"[\x01-\xff]", "a", false},
      {"[\x80-\xff]", "\xc0", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(glob_match(c.pattern, c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(RespGlob, IgnoresCaseWhenAsked) {
  EXPECT_TRUE(glob_match("MAX*", "maxmemory", true));
  EXPECT_TRUE(glob_match("max*", "MAXMEMORY", true));
  EXPECT_FALSE(glob_match("MAX*", "maxmemory"));
  EXPECT_TRUE(glob_match("[A-C]", "b", true));
  EXPECT_TRUE(glob_match("[ABC]", "b", true));
  EXPECT_FALSE(glob_match("[\\B]", "b", true));  // an escaped byte in a class is exact
  EXPECT_TRUE(glob_match("\\B", "b", true));
}

TEST(RespGlob, KnowsTrivialPatterns) {
  EXPECT_TRUE(Glob("*").matches_everything());
  EXPECT_FALSE(Glob("**").matches_everything());
  EXPECT_TRUE(Glob("user:1").is_literal());
  for (const char* pattern : {"a*", "a?", "[a", "\\a"}) EXPECT_FALSE(Glob(pattern).is_literal());
}

RC_GTEST_PROP(RespGlob, AgreesWithTheDefinition, ()) {
  const auto pattern =
      *rc::gen::container<std::string>(rc::gen::elementOf("**??[[]]^-\\abcABC\x80\xff\0"s));
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf("abcABC-]^\\\x80\xff\0"s));
  const bool ignore_case = *rc::gen::arbitrary<bool>();
  const std::string short_pattern = pattern.substr(0, 14);
  const std::string short_text = text.substr(0, 12);
  RC_ASSERT(glob_match(short_pattern, short_text, ignore_case) ==
            testing::GlobOracle(ignore_case).matches(short_pattern, short_text));
}

// Long classes are compiled to bitmaps; they must hold what short ones hold.
RC_GTEST_PROP(RespGlob, CompilesLongClassesToTheSameBytes, ()) {
  std::string inside = *rc::gen::container<std::string>(
      200, rc::gen::oneOf(rc::gen::elementOf("--\\az AZ_"s), rc::gen::arbitrary<char>()));
  if (*rc::gen::arbitrary<bool>()) inside.insert(inside.begin(), '^');
  const std::string pattern = "[" + inside + (*rc::gen::arbitrary<bool>() ? "]" : "");
  const bool ignore_case = *rc::gen::arbitrary<bool>();
  const Glob glob(pattern, ignore_case);
  const testing::GlobOracle oracle(ignore_case);
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    RC_ASSERT(glob.matches(text) == oracle.matches(pattern, text));
  }
}

// With recursion or retries at every star these take longer than the universe; the bound is
// generous.
TEST(RespGlob, GivesUpBehindAThousandStarsAsRedisDoes) {
  const std::string text(2000, 'a');
  for (const std::size_t stars : {std::size_t{1000}, std::size_t{1001}}) {
    std::string pattern;
    for (std::size_t i = 0; i < stars; ++i) pattern += "*a";
    EXPECT_EQ(glob_match(pattern, text), stars == 1000) << stars;
    EXPECT_EQ(glob_match(pattern + "*", text), stars == 1000) << stars;
  }
}

TEST(RespGlob, StaysQuickOnPatternsMadeToBeSlow) {
  const auto start = std::chrono::steady_clock::now();
  std::string stars;
  for (int i = 0; i < 1000; ++i) stars += "a*";
  EXPECT_FALSE(glob_match(stars + "b", std::string(100'000, 'a')));
  EXPECT_TRUE(glob_match(stars, std::string(100'000, 'a')));
  EXPECT_FALSE(glob_match(stars, std::string(999, 'a')));
  std::string questions;
  for (int i = 0; i < 1000; ++i) questions += "*?";
  EXPECT_TRUE(glob_match(questions, std::string(1000, 'a')));
  EXPECT_FALSE(glob_match(questions, std::string(999, 'a')));
  const std::string many = "*[" + std::string(40'000, 'x') + "]y";
  EXPECT_FALSE(glob_match(many, std::string(1'000'000, 'x')));
  std::string ranges = "*[";
  for (int i = 0; i < 1'000'000; ++i) ranges += "a-z";
  EXPECT_FALSE(glob_match(ranges + "]0", std::string(1'000'000, 'x')));
  EXPECT_FALSE(glob_match(std::string(1'000'000, '*') + "b", std::string(1'000'000, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace nidus::resp
