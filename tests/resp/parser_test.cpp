// SPDX-License-Identifier: Apache-2.0

// Framing of multibulk requests: what is a request, what is ignored, what is an error and in which
// words, and what the parser promises about progress and memory. Each case runs at every split.

#include "resp/parser.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "feeding.hpp"

namespace nidus::resp {
namespace {

using namespace std::string_literals;
using testing::encode;
using testing::Feeder;
using testing::Outcome;
using testing::parse_at_once;
using testing::parse_in_pieces;
using testing::parse_split;
using testing::Request;

// At once, byte by byte, and cut in two at every place.
void expect_at_any_split(const std::string& bytes, const Outcome& expected,
                         const Limits& limits = {}) {
  EXPECT_EQ(parse_at_once(bytes, limits), expected) << bytes;
  EXPECT_EQ(parse_in_pieces(bytes, 1, limits), expected) << bytes;
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    EXPECT_EQ(parse_split(bytes, split, limits), expected) << bytes << " split at " << split;
  }
}

void expect_requests(const std::string& bytes, const std::vector<Request>& requests) {
  expect_at_any_split(bytes, {requests, "", bytes.size()});
}

void expect_error(const std::string& bytes, const std::string& error, const Limits& limits = {}) {
  expect_at_any_split(bytes, {{}, "Protocol error: " + error, 0}, limits);
}

TEST(RespParser, ReadsOneRequest) {
  expect_requests("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", {{"GET", "k"}});
}

TEST(RespParser, SkipsAnEmptyLineBeforeARequest) {
  expect_requests("\r\n*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n", {{"ECHO", "hello"}});
  expect_requests("\n\r\n  \r\n*1\r\n$4\r\nPING\r\n", {{"PING"}});
}

TEST(RespParser, IgnoresEmptyAndNegativeCounts) {
  expect_requests("*0\r\n*1\r\n$4\r\nPING\r\n", {{"PING"}});
  expect_requests("*-1\r\n*1\r\n$4\r\nPING\r\n", {{"PING"}});
  expect_requests("*-9223372036854775808\r\n*0\r\n", {});
}

TEST(RespParser, ReadsAPipelineInOrder) {
  std::string bytes;
  std::vector<Request> requests;
  for (int i = 0; i < 10'000; ++i) {
    requests.push_back({"SET", "key:" + std::to_string(i), std::string(i % 130, 'v')});
    bytes += encode(requests.back());
  }
  const Outcome expected{requests, "", bytes.size()};
  EXPECT_EQ(parse_at_once(bytes), expected);
  EXPECT_EQ(parse_in_pieces(bytes, 16 * 1024), expected);
}

TEST(RespParser, KeepsBinaryArgumentsAsTheyAre) {
  const Request request{"SET", "a\0\r\n*1\r\n"s, "\r\n$-1\r\n\xff\x00"s, ""};
  expect_requests(encode(request), {request});
}

TEST(RespParser, ReadsLengthsOfEveryNumberOfDigits) {
  for (const std::size_t size : {0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 65535, 65536, 100'000}) {
    const Request request{"ECHO", std::string(size, 'x')};
    const std::string bytes = encode(request);
    const Outcome expected{{request}, "", bytes.size()};
    EXPECT_EQ(parse_at_once(bytes), expected);
    EXPECT_EQ(parse_in_pieces(bytes, 4093), expected);
    // The last byte missing: nothing yet.
    EXPECT_EQ(parse_at_once(bytes.substr(0, bytes.size() - 1)), Outcome{});
  }
}

TEST(RespParser, ReadsCountsOfEveryNumberOfDigits) {
  for (const std::size_t count : {1, 9, 10, 11, 99, 100, 1000, 12'345}) {
    const Request request(count, "arg");
    const std::string bytes = encode(request);
    const Outcome expected{{request}, "", bytes.size()};
    EXPECT_EQ(parse_at_once(bytes), expected);
    EXPECT_EQ(parse_in_pieces(bytes, 1021), expected);
  }
}

// redis-server looks neither at the byte behind a CR nor at the two behind an argument.
TEST(RespParser, DoesNotLookAtTheBytesRedisDoesNotLookAt) {
  expect_requests("*1\rX$4\rYPING??*1\r\n$4\r\nECHO\r\n", {{"PING"}, {"ECHO"}});
}

TEST(RespParser, RefusesBadCounts) {
  for (const std::string& count :
       {"2147483648"s, "3000000000"s, "9223372036854775807"s, "9223372036854775808"s,
        "99999999999999999999999999"s, "a"s, "1a"s, " 1"s, "1 "s, "+1"s, "01"s, "00"s, "-0"s, "-"s,
        ""s, "1.0"s, "0x1"s, "1\0"s, "1\n"s}) {
    expect_error("*" + count + "\r\n", "invalid multibulk length");
  }
}

TEST(RespParser, RefusesBadLengths) {
  for (const std::string& size : {"-1"s,
                                  "-2"s,
                                  "536870913"s,
                                  "2147483648"s,
                                  "4294967297"s,
                                  "9223372036854775807"s,
                                  "18446744073709551617"s,
                                  "99999999999999999999999999"s,
                                  "a"s,
                                  "4a"s,
                                  " 4"s,
                                  "4 "s,
                                  "+4"s,
                                  "04"s,
                                  "00"s,
                                  "-0"s,
                                  "-"s,
                                  ""s,
                                  "4\0"s,
                                  "\0004"s}) {
    expect_error("*1\r\n$" + size + "\r\nPING\r\n", "invalid bulk length");
    expect_error("*2\r\n$4\r\nECHO\r\n$" + size + "\r\nPING\r\n", "invalid bulk length");
  }
}

TEST(RespParser, RefusesAnArgumentThatIsNotABulk) {
  expect_error("*1\r\nfoo\r\n", "expected '$', got 'f'");
  expect_error("*1\r\n:1\r\n", "expected '$', got ':'");
  expect_error("*2\r\n$4\r\nECHO\r\n*1\r\n", "expected '$', got '*'");
  expect_error("*1\r\n\r\n", "expected '$', got '\r'");
  expect_error("*1\r\n\xff\r\n", "expected '$', got '\xff'");
}

TEST(RespParser, AnswersRequestsBeforeTheErrorAndNothingBehindIt) {
  const std::string good = encode({"SET", "k", "v"}) + encode({"GET", "k"});
  const std::string bytes = good + "*1\r\n$-1\r\n" + encode({"GET", "k"});
  expect_at_any_split(
      bytes,
      {{{"SET", "k", "v"}, {"GET", "k"}}, "Protocol error: invalid bulk length", good.size()});
}

TEST(RespParser, StaysInErrorUntilReset) {
  Parser parser;
  RequestBatch batch;
  const Limits limits;
  EXPECT_EQ(parser.parse("*x\r\n", limits, batch), ParseStatus::kError);
  EXPECT_EQ(parser.parse("PING\r\n", limits, batch), ParseStatus::kError);
  EXPECT_EQ(parser.error(), "Protocol error: invalid multibulk length");
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(parser.consumed(), 0u);
  parser.reset();
  EXPECT_EQ(parser.parse("PING\r\n", limits, batch), ParseStatus::kOk);
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_EQ(parser.error(), "");
}

// The first 64 KiB + 1 bytes hold no line end. One byte less is a line, if a bad one.
TEST(RespParser, RefusesLinesWithoutEnd) {
  const std::size_t max = 64 * 1024;
  const auto check = [&](const std::string& before, char type, const std::string& too_big,
                         const std::string& in_bounds) {
    const std::string line = type + std::string(max, '1');
    for (const std::size_t piece : {line.size() * 2, std::size_t{1000}}) {
      EXPECT_EQ(parse_in_pieces(before + line, piece).error, "Protocol error: " + too_big);
      EXPECT_EQ(parse_in_pieces(before + line + "\r\n", piece).error, "Protocol error: " + too_big);
      const std::string shorter = before + line.substr(0, max);
      EXPECT_EQ(parse_in_pieces(shorter, piece).error, "");
      EXPECT_EQ(parse_in_pieces(shorter + "\r\n", piece).error, "Protocol error: " + in_bounds);
    }
  };
  check("", '*', "too big mbulk count string", "invalid multibulk length");
  check("*1\r\n", '$', "too big bulk count string", "invalid bulk length");
  check("*1\r\n", 'x', "too big bulk count string", "expected '$', got 'x'");
}

TEST(RespParser, HoldsAnUnauthenticatedClientToTenArgumentsOf16KiB) {
  Limits limits;
  limits.authenticated = false;
  expect_error("*11\r\n", "unauthenticated multibulk length", limits);
  expect_error("*2147483647\r\n", "unauthenticated multibulk length", limits);
  expect_error("*2147483648\r\n", "invalid multibulk length", limits);
  expect_error("*1\r\n$16385\r\n", "unauthenticated bulk length", limits);
  expect_error("*1\r\n$536870912\r\n", "unauthenticated bulk length", limits);
  expect_error("*1\r\n$536870913\r\n", "invalid bulk length", limits);
  expect_error("*1\r\n$-1\r\n", "invalid bulk length", limits);
  const Request largest(10, std::string(16 * 1024, 'x'));
  EXPECT_EQ(parse_at_once(encode(largest), limits).requests, std::vector<Request>{largest});
}

TEST(RespParser, ObeysConfiguredLimits) {
  Limits limits;
  limits.max_args = 3;
  limits.max_bulk_bytes = 4;
  const Request largest(3, "1234");
  expect_at_any_split(encode(largest), {{largest}, "", encode(largest).size()}, limits);
  expect_error(encode(Request(4, "1234")), "invalid multibulk length", limits);
  expect_error(encode({"12345"}), "invalid bulk length", limits);
  expect_error(encode({std::string(12, 'x')}), "invalid bulk length", limits);
}

TEST(RespParser, LimitsMayChangeInMidRequest) {
  Limits before;
  before.authenticated = false;
  Parser parser;
  RequestBatch batch;
  const std::string bytes = encode({"SET", std::string(20'000, 'k')});
  EXPECT_EQ(parser.parse(bytes.substr(0, 10), before, batch), ParseStatus::kOk);
  EXPECT_EQ(parser.parse(bytes, Limits{}, batch), ParseStatus::kOk);
  EXPECT_EQ(batch.size(), 1u);
  // A line limit below what was already looked at.
  batch.clear();
  parser.reset();
  Limits narrow;
  narrow.max_inline_bytes = 2;
  EXPECT_EQ(parser.parse("PINGPING", Limits{}, batch), ParseStatus::kOk);
  EXPECT_EQ(parser.parse("PINGPINGP", narrow, batch), ParseStatus::kError);
}

TEST(RespParser, TakesAtMostSoManyRequestsACall) {
  std::string bytes;
  std::vector<Request> requests;
  for (int i = 0; i < 100; ++i) {
    requests.push_back({"GET", std::to_string(i)});
    bytes += i % 7 == 0 ? "GET " + std::to_string(i) + "\r\n\r\n*0\r\n" : encode(requests.back());
  }
  for (const std::size_t max : {1, 3, 16, 100, 101}) {
    Feeder feeder({}, max);
    feeder.feed(bytes);
    EXPECT_EQ(feeder.outcome(), (Outcome{requests, "", bytes.size()})) << max;
  }
  Parser parser;
  RequestBatch batch;
  parser.parse(bytes, {}, batch, 0);
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(parser.consumed(), 0u);
  parser.parse(bytes, {}, batch, 2);
  parser.parse(std::string_view(bytes).substr(parser.consumed()), {}, batch, 3);
  EXPECT_EQ(batch.size(), 5u) << "max_requests counts from what the batch already holds";
}

TEST(RespParser, NeverCopiesAnArgument) {
  const std::string bytes = encode({"SET", "key", std::string(1000, 'v')}) + "GET 'key'\r\n";
  Parser parser;
  RequestBatch batch;
  const auto all_inside = [&] {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (const Arg arg : batch[i]) {
        EXPECT_GE(arg.data(), bytes.data());
        EXPECT_LE(arg.data() + arg.size(), bytes.data() + bytes.size());
      }
    }
  };
  parser.parse(bytes, {}, batch);
  EXPECT_EQ(batch.size(), 2u);
  all_inside();
  batch.clear();
  parser.parse(std::string(bytes, 0, 500), {}, batch);  // a buffer that is gone when it resumes
  parser.parse(bytes, {}, batch);
  EXPECT_EQ(batch.size(), 2u);
  all_inside();
}

TEST(RespParser, AllocatesNothingOnAClaim) {
  Parser parser;
  RequestBatch batch;
  EXPECT_EQ(parser.parse("*1048576\r\n$536870912\r\n$", {}, batch), ParseStatus::kOk);
  EXPECT_LT(parser.capacity_bytes() + batch.capacity_bytes(), 4096u);
}

TEST(RespParser, HoldsMemoryInProportionToTheBytesReceivedAndGivesItBack) {
  const std::string bytes = encode(Request(300'000, ""));
  Parser parser;
  RequestBatch batch;
  const std::string_view most = std::string_view(bytes).substr(0, bytes.size() - 1);
  for (std::size_t end = 0; end < most.size(); end += 64 * 1024) {
    parser.parse(most.substr(0, end), {}, batch);
    EXPECT_LE(parser.capacity_bytes() + batch.capacity_bytes(), 8 * end + 4096);
  }
  parser.parse(bytes, {}, batch);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].size(), 300'000u);
  batch.clear();
  EXPECT_LT(parser.capacity_bytes(), 4096u);
  EXPECT_LT(batch.capacity_bytes(), 512u * 1024);
}

TEST(RespParser, HintsAtTheBytesAnUnfinishedRequestNeeds) {
  const std::string bytes = encode({"SET", "key", std::string(1000, 'v')});
  Parser parser;
  RequestBatch batch;
  for (std::size_t end = 0; end < bytes.size(); ++end) {
    parser.parse(std::string_view(bytes).substr(0, end), {}, batch);
    const std::size_t hint = parser.needed_bytes_hint();
    EXPECT_GE(hint, end < 4 ? 0 : end);
    EXPECT_LE(hint, end < 4 ? 0 : bytes.size());
    if (end > bytes.size() - 1000) {
      EXPECT_EQ(hint, bytes.size());
    }
  }
  parser.parse(bytes, {}, batch);
  EXPECT_EQ(parser.needed_bytes_hint(), 0u);
  // Behind a finished request it counts from the unfinished one's first byte.
  parser.reset();
  parser.parse(bytes + bytes.substr(0, 100), {}, batch);
  EXPECT_EQ(parser.consumed(), bytes.size());
  EXPECT_EQ(parser.needed_bytes_hint(), bytes.size());
}

// Work in proportion to the bytes: done again from the start at each piece, either of these takes
// minutes instead of milliseconds, so the bound may be generous.
TEST(RespParser, ResumesWithoutDoingTheWorkAgain) {
  const auto seconds_to_parse = [](const std::string& bytes, std::size_t piece) {
    Parser parser;
    RequestBatch batch;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t end = 0; end < bytes.size();) {
      end = std::min(bytes.size(), end + piece);
      parser.parse(std::string_view(bytes).substr(0, end), {}, batch);
    }
    EXPECT_EQ(batch.size(), 1u);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  EXPECT_LT(seconds_to_parse(encode(Request(1024 * 1024, "a")), 16), 10);
  EXPECT_LT(seconds_to_parse(encode({"SET", "k", std::string(32 << 20, '\n')}), 16), 10);
}

}  // namespace
}  // namespace nidus::resp
