// SPDX-License-Identifier: Apache-2.0

// CONFIG GET and CONFIG SET: Redis' names, all or none, and what workers see of a change.

#include "server/live_config.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nidus::server {
namespace {

using Found = std::map<std::string, std::string>;

Found get(const LiveConfig& live, const std::vector<std::string_view>& patterns) {
  Found found;
  live.get(patterns, [&](std::string_view name, std::string_view value) {
    EXPECT_TRUE(found.emplace(name, value).second) << name << " is visited twice";
  });
  return found;
}

std::string error_of(LiveConfig& live,
                     const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  const auto done = live.set(values);
  return done ? "no error" : done.error().message;
}

TEST(LiveConfig, GetAnswersInRedisNamesAndPlainNumbers) {
  Config config;
  config.memory_limit_bytes = 64 << 20;
  config.idle_timeout = std::chrono::seconds(30);
  const LiveConfig live(config);
  EXPECT_EQ(get(live, {"maxmemory"}), (Found{{"maxmemory", "67108864"}}));
  EXPECT_EQ(get(live, {"TIMEOUT", "maxclients"}),
            (Found{{"timeout", "30"}, {"maxclients", "10000"}}));
  EXPECT_EQ(get(live, {"save"}), (Found{{"save", ""}}));
  EXPECT_EQ(get(live, {"appendonly"}), (Found{{"appendonly", "no"}}));
  EXPECT_EQ(get(live, {"nope"}), Found{});
}

TEST(LiveConfig, OverlappingPatternsVisitEachNameOnce) {
  const LiveConfig live{Config()};
  const Found all = get(live, {"*", "max*", "maxmemory"});
  EXPECT_GT(all.size(), 40u);
  EXPECT_EQ(all.at("maxmemory-policy"), "noeviction");
}

TEST(LiveConfig, SetTakesUnitsAndBothNames) {
  LiveConfig live{Config()};
  EXPECT_EQ(error_of(live, {{"maxmemory", "64mb"}, {"MAXMEMORY-POLICY", "allkeys-lru"}}),
            "no error");
  EXPECT_EQ(live.current()->memory_limit_bytes, 64u << 20);
  EXPECT_EQ(live.current()->policy, engine::Policy::kAllKeysLru);
  EXPECT_EQ(error_of(live, {{"memory-limit", "1gb"}}), "no error");
  EXPECT_EQ(live.current()->memory_limit_bytes, 1u << 30);
}

TEST(LiveConfig, SetIsAllOrNone) {
  LiveConfig live{Config()};
  const auto before = live.version();
  EXPECT_EQ(error_of(live, {{"maxmemory", "64mb"}, {"hz", "50"}, {"timeout", "x"}}),
            "CONFIG SET failed (possibly related to argument 'timeout') - argument couldn't be "
            "parsed into an integer");
  EXPECT_EQ(live.current()->memory_limit_bytes, 0u);
  EXPECT_EQ(get(live, {"hz"}), (Found{{"hz", "10"}}));
  EXPECT_EQ(live.version(), before);
}

TEST(LiveConfig, RefusalsAreWordedAsRedisWordsThem) {
  LiveConfig live{Config()};
  EXPECT_EQ(error_of(live, {{"nope", "1"}}),
            "Unknown option or number of arguments for CONFIG SET - 'nope'");
  EXPECT_EQ(error_of(live, {{"port", "1"}}),
            "CONFIG SET failed (possibly related to argument 'port') - can't set immutable config");
  EXPECT_EQ(error_of(live, {{"maxmemory", "1"}, {"maxmemory", "2"}}),
            "CONFIG SET failed (possibly related to argument 'maxmemory') - duplicate parameter");
  EXPECT_EQ(error_of(live, {{"maxmemory", "x"}}),
            "CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a "
            "memory value");
  EXPECT_EQ(error_of(live, {{"protected-mode", "maybe"}}),
            "CONFIG SET failed (possibly related to argument 'protected-mode') - argument must be "
            "'yes' or 'no'");
}

TEST(LiveConfig, AFixedFactMayBeSetToItselfOnly) {
  LiveConfig live{Config()};
  EXPECT_EQ(error_of(live, {{"appendonly", "no"}, {"save", ""}}), "no error");
  EXPECT_EQ(error_of(live, {{"appendonly", "yes"}}),
            "CONFIG SET failed (possibly related to argument 'appendonly') - this server keeps its "
            "data in memory only");
}

TEST(LiveConfig, TuningOfWhatDoesNotExistIsKeptWithoutEffect) {
  LiveConfig live{Config()};
  EXPECT_EQ(error_of(live, {{"set-max-intset-entries", "7"}}), "no error");
  EXPECT_EQ(get(live, {"set-max-intset-entries"}), (Found{{"set-max-intset-entries", "7"}}));
}

TEST(LiveConfig, WhatGetAnswersForChangeableNamesSetAccepts) {
  LiveConfig live{Config()};
  for (const auto& [name, value] : get(live, {"*"})) {
    const std::string error = error_of(live, {{name, value}});
    EXPECT_TRUE(error == "no error" || error.ends_with("can't set immutable config"))
        << name << ": " << error;
  }
}

TEST(LiveConfig, ASubscriberSeesEachChangeOnceAndNoRefusedOne) {
  LiveConfig live{Config()};
  std::vector<std::size_t> limits;
  live.on_change([&](const Config& config) { limits.push_back(config.memory_limit_bytes); });
  EXPECT_EQ(error_of(live, {{"maxmemory", "1"}}), "no error");
  EXPECT_NE(error_of(live, {{"maxmemory", "-1"}}), "no error");
  EXPECT_EQ(error_of(live, {{"maxmemory", "2"}}), "no error");
  EXPECT_THAT(limits, testing::ElementsAre(1, 2));
}

TEST(LiveConfig, AReaderThatSeesTheVersionMoveFindsTheNewSettings) {
  LiveConfig live{Config()};
  const std::uint64_t first = live.version();
  std::thread writer([&] {
    for (int i = 1; i <= 2000; ++i) {
      const std::string text = std::to_string(i);
      ASSERT_TRUE(live.set({{"maxclients", text}}));
    }
  });
  for (std::uint64_t seen = first; seen < first + 2000;) {
    seen = live.version();
    if (seen != first) {
      ASSERT_GE(live.current()->max_clients, seen - first);
    }
  }
  writer.join();
}

}  // namespace
}  // namespace nidus::server
