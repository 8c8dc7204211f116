// SPDX-License-Identifier: Apache-2.0

// Inline requests: a table of lines and the arguments redis-server 7.0.15 splits them into.

#include "resp/inline_request.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "feeding.hpp"

namespace nidus::resp {
namespace {

using namespace std::string_literals;
using testing::Outcome;
using testing::parse_at_once;
using testing::parse_in_pieces;
using testing::Request;

struct Case {
  std::string line;
  std::optional<Request> args;  // none: unbalanced quotes
};

const Case kCases[] = {
    {"PING", {{"PING"}}},
    {"  set  k\tv  ", {{"set", "k", "v"}}},
    {"", {{}}},
    {" \t ", {{}}},
    {"\v\fa\v\f", {{"a\v\f"}}},  // they separate, but do not end an argument
    {"a\rb", {{"a", "b"}}},
    {R"("a b" 'c d')", {{"a b", "c d"}}},
    {R"("" '')", {{"", ""}}},
    {R"(foo"bar")", {{"foobar"}}},
    {R"(foo'b ar' x)", {{"foob ar", "x"}}},
    {R"("\n\r\t\a\b\\\"\q")", {{"\n\r\t\a\b\\\"q"}}},
    {R"("\x41\x00\xfF\xg1\x4")", {{"A\0\xffxg1x4"s}}},
    {R"('\n\x41\'\\n')", {{"\\n\\x41'\\\\n"}}},
    {R"(\n a\b)", {{"\\n", "a\\b"}}},
    {R"("it's" 'say "x"')", {{"it's", "say \"x\""}}},
    {"\"a\"\t'b'\v", {{"a", "b"}}},
    {"set k a\0b"s, {{"set", "k", "a\0b"s}}},
    {"\xff\x80 \xe4", {{"\xff\x80", "\xe4"}}},
    {R"("abc)", std::nullopt},
    {R"('abc)", std::nullopt},
    {R"(abc")", std::nullopt},
    {R"("abc"d)", std::nullopt},
    {R"('abc'd)", std::nullopt},
    {R"("a""b")", std::nullopt},
    {R"("abc\")", std::nullopt},
    {R"("abc\)", std::nullopt},
    {R"('abc\')", std::nullopt},
    {R"('abc\\')", std::nullopt},  // the second backslash escapes the quote
    {R"(ok "\x41" 'bad)", std::nullopt},
};

TEST(RespInline, SplitsLinesAsRedisDoes) {
  for (const Case& c : kCases) {
    RequestBatch batch;
    ASSERT_EQ(split_inline(c.line, batch), c.args.has_value()) << c.line;
    if (!c.args || c.args->empty()) {
      EXPECT_EQ(batch.size(), 0u) << c.line;
      continue;
    }
    ASSERT_EQ(batch.size(), 1u) << c.line;
    EXPECT_EQ(Request(batch[0].begin(), batch[0].end()), *c.args) << c.line;
  }
}

// Under AddressSanitizer: each line, and each line cut short, ends where its memory ends.
TEST(RespInline, ReadsNothingBehindTheLine) {
  for (const Case& c : kCases) {
    for (std::size_t size = 0; size <= c.line.size(); ++size) {
      const std::vector<char> exact(c.line.begin(),
                                    c.line.begin() + static_cast<std::ptrdiff_t>(size));
      RequestBatch batch;
      const bool balanced = split_inline({exact.data(), size}, batch);
      EXPECT_EQ(balanced, parse_at_once(c.line.substr(0, size) + "\n").error.empty());
    }
  }
}

TEST(RespInline, ReadsLinesFromTheStreamAtAnySplit) {
  for (const Case& c : kCases) {
    for (const std::string end : {"\r\n", "\n"}) {
      const std::string bytes = c.line + end + "*1\r\n$4\r\nPING\r\n";
      Outcome expected;
      if (c.args) {
        if (!c.args->empty()) expected.requests.push_back(*c.args);
        expected.requests.push_back({"PING"});
        expected.consumed = bytes.size();
      } else {
        expected.error = "Protocol error: unbalanced quotes in request";
      }
      EXPECT_EQ(parse_at_once(bytes), expected) << bytes;
      for (const std::size_t piece : {1, 2, 3, 7}) {
        EXPECT_EQ(parse_in_pieces(bytes, piece), expected) << bytes;
      }
    }
  }
}

TEST(RespInline, RefusesALineWithoutEnd) {
  const std::string line(64 * 1024, 'a');
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1000}}) {
    EXPECT_EQ(parse_in_pieces(line, piece).error, "");
    EXPECT_EQ(parse_in_pieces(line + "\n", piece).requests.size(), 1u);
    EXPECT_EQ(parse_in_pieces(line + "a", piece).error, "Protocol error: too big inline request");
    EXPECT_EQ(parse_in_pieces(line + "a\n", piece).error, "Protocol error: too big inline request");
  }
}

TEST(RespInline, CopiesAnArgumentOnlyWhenItsBytesChange) {
  const std::string line = R"(set "a b" 'c' d"e" "\x41")";
  RequestBatch batch;
  ASSERT_TRUE(split_inline(line, batch));
  const auto inside = [&](Arg arg) {
    return arg.data() >= line.data() && arg.data() <= line.data() + line.size();
  };
  EXPECT_TRUE(inside(batch[0][0]));
  EXPECT_TRUE(inside(batch[0][1]));
  EXPECT_TRUE(inside(batch[0][2]));
  EXPECT_FALSE(inside(batch[0][3]));
  EXPECT_FALSE(inside(batch[0][4]));
}

TEST(RespInline, HoldsMemoryInProportionToTheLine) {
  std::string line;
  while (line.size() < 60'000) line += "\"\\a\" ";
  RequestBatch batch;
  ASSERT_TRUE(split_inline(line, batch));
  EXPECT_EQ(batch[0].size(), line.size() / 5);
  EXPECT_LE(batch.capacity_bytes(), 10 * line.size());
}

TEST(RespInline, KeepsDecodedArgumentsWhileTheBatchGrows) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += "SET \"\\x41" + std::to_string(i) + "\" v\r\n";
  const Outcome outcome = parse_at_once(bytes);
  ASSERT_EQ(outcome.requests.size(), 5000u);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(outcome.requests[i][1], "A" + std::to_string(i));
}

}  // namespace
}  // namespace nidus::resp
