// SPDX-License-Identifier: Apache-2.0

// Two clients take turns, at random, on redis-server and on our commands: every reply must be the
// same bytes. What one client watches the other writes, in several databases. Skipped where no
// redis-server is installed.
//
// Left out: replies that depend on the clock to the millisecond, on chance, or on the order in a
// hash table (KEYS is compared as a set); and the last millisecond of all, which stands for "never"
// here, so that one less is told.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../support/redis_server.hpp"
#include "harness.hpp"

namespace nidus::command {
namespace {

using testing::bulk;
using Request = std::vector<std::string>;

/// Where the first reply in `text` from `at` on ends; npos if it is not all there.
std::size_t reply_end(const std::string& text, std::size_t at) {
  const std::size_t line = text.find("\r\n", at);
  if (line == std::string::npos) return line;
  const long n = std::strtol(text.c_str() + at + 1, nullptr, 10);
  std::size_t end = line + 2;
  if (text[at] == '$' && n >= 0) {
    end += static_cast<std::size_t>(n) + 2;
    return end <= text.size() ? end : std::string::npos;
  }
  const long replies = text[at] == '*' ? n : text[at] == '%' ? 2 * n : 0;
  for (long i = 0; i < replies; ++i) {
    end = reply_end(text, end);
    if (end == std::string::npos) return end;
  }
  return end;
}

/// One connection to redis-server.
class RedisClient {
 public:
  explicit RedisClient(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ADD_FAILURE() << "no connection to redis-server";
    }
  }
  ~RedisClient() { close(fd_); }
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  std::string operator()(const Request& request) {
    std::string bytes = "*" + std::to_string(request.size()) + "\r\n";
    for (const std::string& arg : request) bytes += bulk(arg);
    if (send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return {};
    std::string reply;
    while (reply.empty() || reply_end(reply, 0) == std::string::npos) {
      char buffer[16 * 1024];
      const ssize_t n = read(fd_, buffer, sizeof buffer);
      if (n <= 0) break;
      reply.append(buffer, static_cast<std::size_t>(n));
    }
    return reply;
  }

 private:
  int fd_;
};

// A word in capitals stands for itself, others are drawn (see draw()).
constexpr const char* kKeyPatterns[] = {"SET key value",
                                        "SET key value",
                                        "SET key value PXAT far",
                                        "GET key",
                                        "DEL key",
                                        "DEL key key key",
                                        "UNLINK key key",
                                        "EXISTS key",
                                        "EXISTS key key key",
                                        "TYPE key",
                                        "TOUCH key key",
                                        "RENAME key key",
                                        "RENAMENX key key",
                                        "COPY key key",
                                        "COPY key key REPLACE",
                                        "COPY key key DB database",
                                        "COPY key key DB database REPLACE",
                                        "COPY key key option option",
                                        "MOVE key database",
                                        "DBSIZE",
                                        "KEYS pattern",
                                        "SELECT database",
                                        "SELECT 0",
                                        "SELECT 0",
                                        "PEXPIREAT key time",
                                        "PEXPIREAT key time condition",
                                        "EXPIREAT key time condition condition",
                                        "EXPIREAT key time",
                                        "EXPIRE key odd",
                                        "PEXPIRE key odd condition",
                                        "PEXPIRETIME key",
                                        "EXPIRETIME key",
                                        "PERSIST key",
                                        "EXPIRE brief span",
                                        "TTL brief",
                                        "SET brief value",
                                        "TTL key missing",
                                        "SCAN x COUNT odd",
                                        "SCAN 0 option option",
                                        "INCR key"};
constexpr const char* kTransactionPatterns[] = {"MULTI",
                                                "MULTI",
                                                "EXEC",
                                                "EXEC",
                                                "EXEC",
                                                "DISCARD",
                                                "WATCH key",
                                                "WATCH key key",
                                                "UNWATCH",
                                                "SET key value",
                                                "GET key",
                                                "DEL key",
                                                "DEL key key",
                                                "INCR key",
                                                "RENAME key key",
                                                "RENAMENX key key",
                                                "COPY key key REPLACE",
                                                "COPY key key DB database",
                                                "MOVE key database",
                                                "PERSIST key",
                                                "PEXPIREAT key time",
                                                "PEXPIREAT key time condition",
                                                "KEYS pattern",
                                                "DBSIZE",
                                                "SELECT database",
                                                "SELECT 0",
                                                "FLUSHDB",
                                                "PING",
                                                "ECHO value",
                                                "NOSUCH key",
                                                "HELLO 3",
                                                "HELLO 2",
                                                "HELLO odd",
                                                "RESET",
                                                "TYPE key",
                                                "EXISTS key key",
                                                "CLIENT GETNAME",
                                                "CLIENT SETNAME value",
                                                "CLIENT REPLY odd",
                                                "AUTH value",
                                                "AUTH value value"};

class KeysRedisDifferential : public ::testing::Test {
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

  std::string draw(const std::string& word);
  Request make(const std::string& pattern);
  template <std::size_t n>
  void compare(const char* const (&patterns)[n], int rounds, int requests);

  static inline nidus::testing::RedisServer* server_ = nullptr;
  std::mt19937_64 random_;
  std::string seed_;
};

std::string KeysRedisDifferential::draw(const std::string& word) {
  if (word == "key") return "k" + std::to_string(below(5));
  if (word == "brief") return "brief" + std::to_string(below(2));
  if (word == "missing") return below(10) == 0 ? "more" : "";
  if (word == "value") return one_of({"1", "7", "text", ""});
  if (word == "database") return one_of({"0", "1", "1", "2", "16", "-1", "x", "99999999999"});
  if (word == "pattern") return one_of({"*", "k*", "k[0-2]", "k1", "none", "?1", "k\\1"});
  if (word == "far") return one_of({"4000000000000", "4000000000499", "4000000000500"});
  if (word == "time") {
    return one_of({"4000000000000", "4000000000499", "4000000000500", "4000000001", "1", "0", "-1",
                   "9223372036854775", "9223372036854776", "x"});
  }
  if (word == "span") return one_of({"0", "-1", "100", "5000", "1000000000"});
  if (word == "odd") {
    return one_of({"x", "", "9223372036854775807", "9223372036854775", "-9223372036854776",
                   "9223372036854775808", "-1", "01"});
  }
  if (word == "condition") return one_of({"NX", "XX", "GT", "LT", "gt", "none"});
  if (word == "option") return one_of({"REPLACE", "DB", "COUNT", "MATCH", "TYPE", "hash", "0"});
  return word;
}

Request KeysRedisDifferential::make(const std::string& pattern) {
  Request request;
  for (std::size_t begin = 0; begin < pattern.size();) {
    const std::size_t end = std::min(pattern.find(' ', begin), pattern.size());
    const std::string word = pattern.substr(begin, end - begin);
    const std::string drawn = draw(word);
    if (word != "missing" || !drawn.empty()) request.push_back(drawn);
    begin = end + 1;
  }
  if (below(50) == 0) request.push_back("more");
  if (below(50) == 0 && request.size() > 1) request.pop_back();
  return request;
}

/// The same replies in one order: KEYS and a SCAN that ends at once give sets.
std::string in_order(const std::string& reply) {
  if (reply.empty() || reply[0] != '*') return reply;
  std::vector<std::string> parts;
  std::size_t at = reply.find("\r\n") + 2;
  std::string sorted = reply.substr(0, at);
  while (at < reply.size()) {
    const std::size_t end = std::min(reply_end(reply, at), reply.size());
    parts.push_back(in_order(reply.substr(at, end - at)));
    at = end;
  }
  std::sort(parts.begin(), parts.end());
  for (const std::string& part : parts) sorted += part;
  return sorted;
}

/// HELLO names the connection; that number differs.
bool comparable(const Request& request) {
  return request[0] != "HELLO" || (request.size() > 1 && request[1] != "2" && request[1] != "3");
}

template <std::size_t n>
void KeysRedisDifferential::compare(const char* const (&patterns)[n], int rounds, int requests) {
  for (int round = 0; round < rounds; ++round) {
    testing::World world;
    testing::Client ours[] = {testing::Client(world, 1), testing::Client(world, 2)};
    RedisClient first(server_->socket_path());
    RedisClient second(server_->socket_path());
    RedisClient* const theirs[] = {&first, &second};
    first({"FLUSHALL"});
    std::string history;
    bool greeted[] = {false, false};  // a HELLO waits for this client's EXEC
    for (int i = 0; i < requests; ++i) {
      const std::size_t who = below(2);
      const Request request = make(patterns[below(n)]);
      history += std::to_string(who) + " " + ::testing::PrintToString(request) + "\n";
      world.now = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
      const std::string their_reply = (*theirs[who])(request);
      const std::string our_reply = ours[who](request);
      const bool is_exec = request[0] == "EXEC";
      const bool differs_anyway = !comparable(request) || (is_exec && greeted[who]);
      if (request[0] == "HELLO") greeted[who] = ours[who].session.in_multi || greeted[who];
      if (is_exec || request[0] == "DISCARD" || request[0] == "RESET") greeted[who] = false;
      if (differs_anyway) continue;
      ASSERT_EQ(in_order(our_reply), in_order(their_reply)) << seed_ << "\n" << history;
    }
  }
}

TEST_F(KeysRedisDifferential, KeysAndExpiriesReplyTheSameBytes) { compare(kKeyPatterns, 30, 400); }

TEST_F(KeysRedisDifferential, TransactionsOfTwoClientsReplyTheSameBytes) {
  compare(kTransactionPatterns, 60, 300);
}

}  // namespace
}  // namespace nidus::command
