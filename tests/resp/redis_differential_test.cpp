// SPDX-License-Identifier: Apache-2.0

// The same bytes to redis-server and to our parser, matcher and numbers. Starts the installed
// redis-server on a Unix socket of its own; where none is installed the tests are skipped.
//
// Left out, because there redis-server's answer depends on how the bytes happen to arrive: NUL in a
// line, and lines too long.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../support/redis_server.hpp"
#include "feeding.hpp"
#include "resp/glob.hpp"
#include "resp/number.hpp"
#include "resp/writer.hpp"

namespace nidus::resp {
namespace {

using namespace std::string_literals;
using testing::encode;
using testing::Outcome;
using testing::parse_at_once;
using testing::Request;

using nidus::testing::RedisServer;

class RespRedisDifferential : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer; }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override {
    if (!server_->running()) GTEST_SKIP() << "redis-server is not installed";
    const char* given = std::getenv("NIDUS_TEST_SEED");
    const unsigned seed =
        given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
    random_.seed(seed);
    RecordProperty("seed", std::to_string(seed));
    seed_ = "NIDUS_TEST_SEED=" + std::to_string(seed);
    exchange(encode({"FLUSHALL"}));
  }

  static std::string exchange(const std::string& bytes) { return server_->exchange(bytes); }

  std::size_t below(std::size_t n) { return random_() % n; }
  std::string text_of(const std::string& alphabet, std::size_t max_size) {
    std::string text(below(max_size + 1), ' ');
    for (char& c : text) c = alphabet[below(alphabet.size())];
    return text;
  }

  /// Redis' reply as a list of strings.
  static Request list(const std::string& reply) {
    // An array of bulks is framed as a request is.
    const Outcome outcome = parse_at_once(reply);
    return outcome.requests.empty() ? Request{} : outcome.requests.front();
  }

  void expect_same_reading(const std::string& stream);

  static RedisServer* server_;
  std::mt19937 random_;
  std::string seed_;
};

RedisServer* RespRedisDifferential::server_ = nullptr;

/// What redis-server would do with the requests we read: RPUSH is modelled, all else is an error.
void RespRedisDifferential::expect_same_reading(const std::string& stream) {
  SCOPED_TRACE(seed_);
  SCOPED_TRACE("stream: " + stream);
  exchange(encode({"FLUSHALL"}));
  const std::string replies = exchange(stream);
  const Outcome ours = parse_at_once(stream);
  std::map<std::string, Request> lists;
  std::size_t at = 0;
  for (const Request& request : ours.requests) {
    const std::size_t end = replies.find("\r\n", at);
    ASSERT_NE(end, std::string::npos) << "we read more requests: " << ours;
    const std::string reply = replies.substr(at, end - at);
    if (request.size() >= 3 && glob_match("rpush", request[0], true)) {
      Request& values = lists[request[1]];
      values.insert(values.end(), request.begin() + 2, request.end());
      EXPECT_EQ(reply, ":" + std::to_string(values.size()));
    } else {
      EXPECT_EQ(reply.substr(0, 5), "-ERR ");
    }
    at = end + 2;
  }
  OutputBuffer error;
  if (!ours.error.empty()) Writer(error).error("ERR " + ours.error);
  EXPECT_EQ(replies.substr(at), error.view());
  for (const auto& [key, values] : lists) {
    EXPECT_EQ(list(exchange(encode({"LRANGE", key, "0", "-1"}))), values);
  }
}

TEST_F(RespRedisDifferential, SplitsInlineRequestsAlike) {
  for (int i = 0; i < 1500; ++i) {
    const std::string line = text_of("  \t\v\f\r\"\"''\\\\abnrtxAF09\xff", 24);
    expect_same_reading("RPUSH l " + line + (below(2) == 0 ? "\r\n" : "\n") + "RPUSH l end\r\n");
  }
}

TEST_F(RespRedisDifferential, ReadsDamagedStreamsAlike) {
  for (int i = 0; i < 3000; ++i) {
    std::string stream;
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      Request request{"RPUSH", "l"};
      for (std::size_t args = 1 + below(12); args > 0; --args) {
        request.push_back(below(8) == 0 ? std::string(below(150), 'x')
                                        : text_of("\r\n*$ \"'-+019a", 12));
      }
      stream += encode(request);
    }
    for (std::size_t n = below(3); n > 0; --n) {
      const std::size_t at = below(stream.size());
      const std::string insertions[] = {"\r\n", "*0\r\n", "*-1\r\n", "$", "9", "-", "0"};
      switch (below(3)) {
        case 0:
          stream[at] = "\r\n*$-+0159 \"'a"[below(14)];
          break;
        case 1:
          stream.erase(at, 1);
          break;
        default:
          stream.insert(at, insertions[below(std::size(insertions))]);
      }
    }
    expect_same_reading(stream);
  }
}

TEST_F(RespRedisDifferential, RefusesTheSameHeaders) {
  for (const std::string& number : {"0"s,
                                    "-0"s,
                                    "-1"s,
                                    "-9223372036854775808"s,
                                    "-9223372036854775809"s,
                                    "00"s,
                                    "01"s,
                                    "1"s,
                                    "+1"s,
                                    " 1"s,
                                    "1 "s,
                                    "1a"s,
                                    ""s,
                                    "-"s,
                                    "2147483647"s,
                                    "2147483648"s,
                                    "4294967297"s,
                                    "536870912"s,
                                    "536870913"s,
                                    "9223372036854775807"s,
                                    "9223372036854775808"s,
                                    "18446744073709551617"s}) {
    // Counts between our limit and Redis' are refused by us alone.
    if (number != "2147483647" && number != "536870912" && number != "536870913") {
      expect_same_reading("*" + number + "\r\nRPUSH l a\r\n");
    }
    expect_same_reading("*3\r\n$5\r\nRPUSH\r\n$" + number + "\r\nl\r\n$1\r\na\r\n");
  }
  expect_same_reading("*1\r\n\r\n");
  expect_same_reading("*1\r\n\xff\r\n");
  expect_same_reading("*1\rX$1\rYa??RPUSH l a\r\n");
}

TEST_F(RespRedisDifferential, MatchesTheSameKeys) {
  std::set<std::string> keys;
  for (int i = 0; i < 400; ++i) {
    std::string key = text_of("abcABC-]^\\[*\x80\xff\0"s, 6);
    if (keys.insert(key).second) exchange(encode({"SET", key, ""}));
  }
  for (int i = 0; i < 1500; ++i) {
    SCOPED_TRACE(seed_);
    const std::string pattern = text_of("***??[[[]]]^--\\abcABC\x80\xff"s, 12);
    std::set<std::string> expected;
    for (const std::string& key : keys) {
      if (glob_match(pattern, key)) expected.insert(key);
    }
    const Request got = list(exchange(encode({"KEYS", pattern})));
    EXPECT_EQ(std::set<std::string>(got.begin(), got.end()), expected) << "pattern " << pattern;
  }
}

TEST_F(RespRedisDifferential, TakesTheSameTextsForIntegers) {
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(seed_);
    std::string text = text_of("0123456789", 21);
    if (below(3) == 0) text.insert(0, "-");
    if (below(4) == 0) text.insert(below(text.size() + 1), text_of(" +-0a.\n", 1));
    const std::string reply = exchange(encode({"SETRANGE", "k" + std::to_string(i), "0", text}) +
                                       encode({"DECRBY", "k" + std::to_string(i), "0"}));
    // SETRANGE keeps the bytes as they are; an empty one sets nothing, and then 0 is counted from.
    const std::optional<std::int64_t> value = text.empty() ? 0 : parse_int64(text);
    const std::string second = reply.substr(reply.find('\n') + 1);
    EXPECT_EQ(second, value ? ":" + std::to_string(*value) + "\r\n"
                            : "-ERR value is not an integer or out of range\r\n")
        << text;
  }
}

TEST_F(RespRedisDifferential, AddsTheSameFloats) {
  for (int i = 0; i < 1500; ++i) {
    SCOPED_TRACE(seed_);
    std::string text =
        text_of("0123456789", 12) + (below(2) == 0 ? "." : "") + text_of("0123456789", 12);
    if (below(3) == 0) text.insert(0, "-");
    if (below(3) == 0) text += "e" + std::to_string(static_cast<int>(below(60)) - 30);
    if (below(5) == 0) text.insert(below(text.size() + 1), text_of(" +-.exinfap\n", 2));
    const std::string reply =
        exchange(encode({"SET", "f", "10.5"}) + encode({"INCRBYFLOAT", "f", text}));
    const std::string second = reply.substr(reply.find('\n') + 1);
    const std::optional<long double> value = parse_long_double(text);
    if (!value) {
      EXPECT_EQ(second, "-ERR value is not a valid float\r\n") << text;
    } else if (*value - *value != 0) {
      EXPECT_EQ(second, "-ERR increment would produce NaN or Infinity\r\n") << text;
    } else {
      const std::string sum = format_long_double(10.5L + *value);
      EXPECT_EQ(second, "$" + std::to_string(sum.size()) + "\r\n" + sum + "\r\n") << text;
    }
  }
}

}  // namespace
}  // namespace nidus::resp
