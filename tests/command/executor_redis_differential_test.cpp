// SPDX-License-Identifier: Apache-2.0

// The same random requests to redis-server and to our commands: every reply must be the same bytes.
// Requests are drawn from patterns; most are sound, some are not. Each round goes to redis-server
// in one pipeline and to the executor as one batch, in RESP2 and RESP3. Skipped where no
// redis-server is installed.
//
// Left out: what expires during the test (expiries are far away or long past).

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "../support/redis_server.hpp"
#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace std::string_literals;
using testing::bulk;
using Request = std::vector<std::string>;

// A word in capitals stands for itself; the lower-case ones are drawn (see draw()).
constexpr const char* kStringPatterns[] = {
    "GET key",
    "GET key",
    "SET key value",
    "SET key value",
    "SET key value setopt",
    "SET key value setopt setopt",
    "SET key value setopt setopt setopt",
    "SETNX key value",
    "SETEX key span value",
    "PSETEX key span value",
    "GETSET key value",
    "GETDEL key",
    "GETEX key",
    "GETEX key PERSIST",
    "GETEX key getopt",
    "GETEX key getopt getopt",
    "MGET key key key",
    "MSET key value key value",
    "MSET key value key",
    "MSETNX key value key value",
    "APPEND key value",
    "STRLEN key",
    "GETRANGE key int int",
    "GETRANGE key small small",
    "SUBSTR key small small",
    "SETRANGE key small value",
    "SETRANGE key int value",
    "INCR key",
    "DECR key",
    "INCRBY key int",
    "INCRBY key small",
    "DECRBY key int",
    "INCRBYFLOAT key float",
    "SET key int",
    "SET key float",
    "LCS key key lcsopt",
    "LCS key key",
    "LCS key key IDX lcsopt",
    "LCS key key IDX MINMATCHLEN small WITHMATCHLEN",
    "MSET key word key word",
    "LCS key key LEN",
    "PEXPIRETIME key",
    "EXISTS key key",
    "DEL key",
};
constexpr const char* kBitPatterns[] = {
    "SETBIT key bit binary",
    "SETBIT key int int",
    "GETBIT key bit",
    "GETBIT key int",
    "BITCOUNT key",
    "BITCOUNT key small small",
    "BITCOUNT key small small unit",
    "BITCOUNT key int int unit",
    "BITCOUNT key small",
    "BITPOS key binary",
    "BITPOS key binary small",
    "BITPOS key binary small small",
    "BITPOS key binary small small unit",
    "BITPOS key int int int unit",
    "BITOP bitop key key",
    "BITOP bitop key key key",
    "BITOP NOT key key",
    "BITFIELD key field",
    "BITFIELD key field field field",
    "BITFIELD key OVERFLOW overflow field OVERFLOW overflow field field",
    "BITFIELD key SET type bit fieldint",
    "BITFIELD_RO key field",
    "BITFIELD_RO key GET type bit",
    "SET key value",
    "APPEND key value",
    "GET key",
    "STRLEN key",
    "PEXPIRETIME key",
    "SET key value PXAT 4000000000001",
    "MSET key word key word",
    "DEL key",
};
constexpr const char* kTransactionPatterns[] = {
    "MULTI",
    "EXEC",
    "DISCARD",
    "WATCH key",
    "UNWATCH",
    "EXEC",
    "EXEC now",
    "MULTI",
    "nosuch key",
    "SET key value",
    "INCR key",
    "GET key",
    "SETBIT key bit binary",
    "MGET key key",
    "MSET key value key value",
    "APPEND key value",
    "GETSET key value",
    "SELECT small",
    "SELECT 0",
};

// Times from now on: refused, or so long that nothing expires during the test.
constexpr const char* kSpans[] = {"0",      "-1", "abc", "9223372036854775807", "9223372036854775",
                                  "1000000"};

/// Two answers to PEXPIRETIME may differ by what passed between the two servers' clocks.
bool agree(const Request& request, const std::string& theirs, const std::string& ours) {
  if (theirs == ours) return true;
  if (request.front() != "PEXPIRETIME" || theirs[0] != ':' || ours[0] != ':') return false;
  const long long apart = std::stoll(theirs.substr(1)) - std::stoll(ours.substr(1));
  return apart > -10'000 && apart < 10'000 && std::stoll(ours.substr(1)) > 10'000;
}

/// The bytes of the first reply in `replies`.
std::size_t reply_bytes(std::string_view replies) {
  const std::size_t line = replies.find("\r\n");
  if (line == std::string_view::npos) return replies.size();
  const long n = std::strtol(replies.data() + 1, nullptr, 10);
  std::size_t end = line + 2;
  if (replies[0] == '$' && n >= 0) return end + static_cast<std::size_t>(n) + 2;
  if (replies[0] == '*' || replies[0] == '%') {
    for (long i = 0; i < (replies[0] == '%' ? 2 * n : n); ++i)
      end += reply_bytes(replies.substr(end));
  }
  return end;
}

class ExecutorRedisDifferential : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new nidus::testing::RedisServer; }
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
    seed_ = "NIDUS_TEST_SEED=" + std::to_string(seed);
  }

  std::size_t below(std::size_t n) { return random_() % n; }
  template <std::size_t n>
  std::string one_of(const char* const (&words)[n]) {
    return words[below(n)];
  }

  std::string bytes(std::size_t at_most) {
    std::string drawn(below(at_most + 1), '\0');
    for (char& c : drawn) c = static_cast<char>(below(4) == 0 ? 0xff * below(2) : random_());
    return drawn;
  }
  std::string integer_text() {
    return one_of({"0", "1", "-1", "10", "100", "-100", "01", "-0", "+1", " 1", "", "abc", "1.5",
                   "9223372036854775807", "-9223372036854775808", "9223372036854775808",
                   "4294967295999", "9223372036854775", "9223372036854776"});
  }
  std::string float_text() {
    return one_of(
        {"0",   "1.5",  "-1.5", "0.1",    "1e5", "3.0e3", "-0",  "1e-3", "123456789.123456789",
         "inf", "-inf", "nan",  "1e4000", " 1",  "1 ",    "abc", "",     "0x10",
         ".5",  "5."});
  }
  std::string small() { return std::to_string(static_cast<int>(below(60)) - 30); }

  /// Appends what a word of a pattern stands for.
  void draw(const std::string& word, Request& request);
  Request make(const std::string& pattern);

  template <std::size_t n>
  void compare(const char* const (&patterns)[n], int rounds, std::size_t requests, int protocol);

  static inline nidus::testing::RedisServer* server_ = nullptr;
  std::mt19937_64 random_;
  std::string seed_;
};

void ExecutorRedisDifferential::draw(const std::string& word, Request& request) {
  const auto put = [&](std::initializer_list<std::string> words) {
    request.insert(request.end(), words);
  };
  if (word == "key") return put({"k" + std::to_string(below(5))});
  if (word == "int") return put({below(3) == 0 ? small() : integer_text()});
  if (word == "fieldint") {
    // Not -2^63: redis-server saturates it to the largest integer of a signed field instead of the
    // smallest (its difference to the maximum overflows there).
    std::string text = integer_text();
    return put({text == "-9223372036854775808" ? small() : text});
  }
  if (word == "float") return put({float_text()});
  if (word == "span") return put({one_of(kSpans)});
  if (word == "small") return put({small()});
  if (word == "bit") return put({std::to_string(below(300))});
  if (word == "binary") return put({std::to_string(below(2))});
  if (word == "word")
    return put({one_of({"ohmytext", "mynewtext", "abcabcabc", "cabbac", "aaaa"})});
  if (word == "unit") return put({one_of({"BIT", "bit", "BYTE", "byte", "bits"})});
  if (word == "bitop") return put({one_of({"AND", "or", "Xor", "NOT", "NAND"})});
  if (word == "overflow") return put({one_of({"WRAP", "sat", "FAIL", "FAIL", "none"})});
  if (word == "lcsopt") return put({one_of({"LEN", "IDX", "WITHMATCHLEN", "MINMATCHLEN", "x"})});
  if (word == "type") {
    const std::string bits = std::to_string(below(66));
    return put({below(20) == 0 ? "u" : (below(2) == 0 ? "u" : "i") + bits});
  }
  if (word == "value") {
    const std::size_t kind = below(4);
    return put({kind == 0   ? bytes(40)
                : kind == 1 ? integer_text()
                : kind == 2 ? float_text()
                            : small()});
  }
  if (word == "field") {
    const std::string verb = one_of({"GET", "SET", "INCRBY", "incrby"});
    const std::string offset = (below(3) == 0 ? "#" : "") + std::to_string(below(80));
    put({verb});
    draw("type", request);
    put({offset});
    if (verb != "GET") draw("fieldint", request);
    return;
  }
  if (word == "setopt" || word == "getopt") {
    if (below(2) == 0) {
      return put({one_of({"EXAT", "PXAT"}), one_of({"4000000000", "9223372036854775",
                                                    "4000000000001", "1", "0", "-1", "x"})});
    }
    return put(
        {one_of({"NX", "XX", "GET", "KEEPTTL", "nx", "xx", "get", "PERSIST", "EX", "junk"})});
  }
  put({word});
}

Request ExecutorRedisDifferential::make(const std::string& pattern) {
  Request request;
  for (std::size_t begin = 0; begin < pattern.size();) {
    const std::size_t end = std::min(pattern.find(' ', begin), pattern.size());
    draw(pattern.substr(begin, end - begin), request);
    begin = end + 1;
  }
  if (below(40) == 0) request.push_back("more");
  if (below(40) == 0 && request.size() > 1) request.pop_back();
  return request;
}

std::string encode(const Request& request) {
  std::string encoded = "*" + std::to_string(request.size()) + "\r\n";
  for (const std::string& arg : request) encoded += bulk(arg);
  return encoded;
}

std::string printable(const std::string& text) { return ::testing::PrintToString(text); }

template <std::size_t n>
void ExecutorRedisDifferential::compare(const char* const (&patterns)[n], int rounds,
                                        std::size_t count, int protocol) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<Request> requests;
    for (std::size_t i = 0; i < count; ++i) requests.push_back(make(patterns[below(n)]));
    // What stands at the end, whatever was replied on the way.
    requests.push_back({"DISCARD"});
    requests.push_back({"SELECT", "0"});
    for (int key = 0; key < 5; ++key) {
      requests.push_back({"GET", "k" + std::to_string(key)});
      requests.push_back({"PEXPIRETIME", "k" + std::to_string(key)});
    }

    std::string input = encode({"FLUSHALL"}) + encode({"HELLO", std::to_string(protocol)});
    for (const Request& request : requests) input += encode(request);
    const std::string all = server_->exchange(input);
    std::string_view theirs = all;
    theirs.remove_prefix(reply_bytes(theirs));
    theirs.remove_prefix(reply_bytes(theirs));

    testing::World world;
    world.now = std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
    testing::Client client(world);
    client.session.protocol = protocol;
    const std::string replies = client.send(requests);
    std::string_view ours = replies;

    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::string their_reply(theirs.substr(0, reply_bytes(theirs)));
      const std::string our_reply(ours.substr(0, reply_bytes(ours)));
      if (!agree(requests[i], their_reply, our_reply)) {
        std::string history;
        for (std::size_t j = i < 12 ? 0 : i - 12; j <= i; ++j) {
          history += ::testing::PrintToString(requests[j]) + "\n";
        }
        FAIL() << seed_ << "\n"
               << history << "redis " << printable(their_reply) << "\nnidus "
               << printable(our_reply);
      }
      theirs.remove_prefix(their_reply.size());
      ours.remove_prefix(our_reply.size());
    }
  }
}

TEST_F(ExecutorRedisDifferential, StringsReplyTheSameBytes) {
  compare(kStringPatterns, 60, 300, 2);
  compare(kStringPatterns, 20, 300, 3);
}

TEST_F(ExecutorRedisDifferential, BitsReplyTheSameBytes) {
  compare(kBitPatterns, 60, 300, 2);
  compare(kBitPatterns, 20, 300, 3);
}

TEST_F(ExecutorRedisDifferential, TransactionsReplyTheSameBytes) {
  compare(kTransactionPatterns, 60, 200, 2);
  compare(kTransactionPatterns, 20, 200, 3);
}

}  // namespace
}  // namespace nidus::command
