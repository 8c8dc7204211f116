// SPDX-License-Identifier: Apache-2.0

// SCAN: its options, and its guarantee while the database grows and shrinks under it.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace testing;

/// The bulks of a reply, in order, whatever arrays they are in.
std::vector<std::string> bulks_of(const std::string& reply) {
  std::vector<std::string> bulks;
  for (std::size_t at = 0; at < reply.size();) {
    const std::size_t line = reply.find("\r\n", at);
    if (reply[at] == '$') {
      const std::size_t size = std::stoul(reply.substr(at + 1, line - at - 1));
      bulks.push_back(reply.substr(line + 2, size));
      at = line + 2 + size + 2;
    } else {
      at = line + 2;
    }
  }
  return bulks;
}

class Scan : public ::testing::Test {
 protected:
  void add(const std::string& prefix, int from, int to) {
    for (int i = from; i < to; ++i) client({"SET", prefix + std::to_string(i), "v"});
  }

  /// A whole iteration; between its steps `meanwhile` runs.
  template <class Meanwhile>
  std::multiset<std::string> all(const std::vector<std::string>& options, Meanwhile&& meanwhile) {
    std::multiset<std::string> found;
    std::string cursor = "0";
    for (int steps = 0; steps < 100'000; ++steps) {
      std::vector<std::string> request{"SCAN", cursor};
      request.insert(request.end(), options.begin(), options.end());
      const std::vector<std::string> bulks = bulks_of(client(request));
      cursor = bulks.at(0);
      found.insert(bulks.begin() + 1, bulks.end());
      if (cursor == "0") return found;
      meanwhile();
    }
    ADD_FAILURE() << "the iteration does not end";
    return found;
  }
  std::multiset<std::string> all(const std::vector<std::string>& options) {
    return all(options, [] {});
  }

  World world;
  Client client{world};
};

TEST_F(Scan, AnEmptyDatabaseEndsAtOnce) {
  EXPECT_EQ(client({"SCAN", "0"}), "*2\r\n" + bulk("0") + "*0\r\n");
}

TEST_F(Scan, NamesEveryKeyOnceWhileNothingChanges) {
  add("key:", 0, 5000);
  const auto found = all({"COUNT", "100"});
  EXPECT_EQ(found.size(), 5000u);
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 5000u);
}

TEST_F(Scan, NamesEveryKeyThatIsThereThroughoutWhileTheDatabaseGrows) {
  add("old:", 0, 2000);
  int added = 0;
  const auto found = all({}, [&] {
    add("new:", added, added + 50);
    added += 50;
    if (added >= 20'000) added = 0;
  });
  for (int i = 0; i < 2000; ++i) EXPECT_TRUE(found.contains("old:" + std::to_string(i))) << i;
}

TEST_F(Scan, NamesEveryKeyThatIsThereThroughoutWhileTheDatabaseShrinks) {
  add("old:", 0, 500);
  add("gone:", 0, 20'000);
  int removed = 0;
  const auto found = all({"COUNT", "50"}, [&] {
    for (int i = 0; i < 100 && removed < 20'000; ++i, ++removed) {
      client({"DEL", "gone:" + std::to_string(removed)});
    }
    world.keyspace.maintain(world.now, 1000);
  });
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(found.contains("old:" + std::to_string(i))) << i;
}

TEST_F(Scan, MatchAndTypeFilter) {
  add("a:", 0, 100);
  add("b:", 0, 100);
  EXPECT_EQ(all({"MATCH", "a:*", "COUNT", "7"}).size(), 100u);
  EXPECT_EQ(all({"type", "STRING"}).size(), 200u);
  EXPECT_EQ(all({"TYPE", "hash"}).size(), 0u);
  EXPECT_EQ(all({"MATCH", "a:1", "TYPE", "string", "COUNT", "9223372036854775807"}).size(), 1u);
}

TEST_F(Scan, AnExpiredKeyIsNotNamed) {
  client({"SET", "a", "1", "PX", "10"});
  client({"SET", "b", "1"});
  world.now += 10;
  EXPECT_EQ(all({}), std::multiset<std::string>{"b"});
}

TEST_F(Scan, WrongCursorsAndOptionsAreRefused) {
  EXPECT_EQ(client({"SCAN", "x"}), error("ERR invalid cursor"));
  EXPECT_EQ(client({"SCAN", " 1"}), error("ERR invalid cursor"));
  EXPECT_EQ(client({"SCAN", "18446744073709551616"}), error("ERR invalid cursor"));
  EXPECT_EQ(client({"SCAN", "x", "COUNT", "x"}), error("ERR invalid cursor"));
  EXPECT_EQ(client({"SCAN", "0", "COUNT", "0"}), error("ERR syntax error"));
  EXPECT_EQ(client({"SCAN", "0", "COUNT", "x"}),
            error("ERR value is not an integer or out of range"));
  EXPECT_EQ(client({"SCAN", "0", "COUNT"}), error("ERR syntax error"));
  EXPECT_EQ(client({"SCAN", "0", "FOO", "1"}), error("ERR syntax error"));
}

TEST_F(Scan, ACursorFromNowhereIsHarmless) {
  add("key:", 0, 3000);
  for (const char* cursor : {"1", "12345", "-1", "18446744073709551615", "9223372036854775808"}) {
    EXPECT_EQ(client({"SCAN", cursor}).substr(0, 4), "*2\r\n") << cursor;
  }
}

}  // namespace
}  // namespace nidus::command
