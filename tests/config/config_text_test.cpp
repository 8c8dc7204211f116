// SPDX-License-Identifier: Apache-2.0

// The text forms of settings: sizes, durations, flags, lists, limits.

#include "server/config_text.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "server/config_table.hpp"

namespace nidus::server {
namespace {

TEST(ConfigText, SizesTakeUnitsOf1000AndOf1024InAnyCase) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("1500"), 1500u);
  EXPECT_EQ(parse_bytes("64mb"), 64u << 20);
  EXPECT_EQ(parse_bytes("64MB"), 64u << 20);
  EXPECT_EQ(parse_bytes("2k"), 2000u);
  EXPECT_EQ(parse_bytes("2Kb"), 2048u);
  EXPECT_EQ(parse_bytes("1tb"), 1ull << 40);
}

TEST(ConfigText, SizesThatAreNoneOrDoNotFitAreRefused) {
  for (const char* text : {"", "mb", "-1", "+1", " 1", "1 mb", "1.5gb", "64mib", "0x10", "1e3",
                           "99999999999999999999", "16777216tb"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(ConfigText, EverySizeIsReadBackAsItWasWritten, (std::uint64_t bytes)) {
  RC_ASSERT(parse_bytes(format_bytes(bytes)) == bytes);
}

TEST(ConfigText, SizesAreWrittenInTheLargestUnitThatDividesThem) {
  EXPECT_EQ(format_bytes(64u << 20), "64mb");
  EXPECT_EQ(format_bytes(1536u << 20), "1536mb");
  EXPECT_EQ(format_bytes(1500), "1500");
  EXPECT_EQ(format_bytes(0), "0");
}

TEST(ConfigText, DurationsWithoutAUnitAreSeconds) {
  using std::chrono::milliseconds;
  EXPECT_EQ(parse_duration("30"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(parse_duration("1d"), milliseconds(86'400'000));
  EXPECT_EQ(parse_duration("-1"), std::nullopt);
  EXPECT_EQ(parse_duration("5x"), std::nullopt);
  EXPECT_EQ(parse_duration("9223372036854775807"), std::nullopt);
}

RC_GTEST_PROP(ConfigText, EveryDurationIsReadBackAsItWasWritten, (std::uint32_t ms)) {
  const std::chrono::milliseconds duration(ms);
  RC_ASSERT(parse_duration(format_duration(duration)) == duration);
}

TEST(ConfigText, OutputLimitsAreReadInBothForms) {
  const OutputLimit expected{64 << 20, 32 << 20, std::chrono::seconds(60)};
  EXPECT_EQ(parse_output_limit("64mb 32mb 60s"), expected);
  EXPECT_EQ(parse_output_limit("normal 64mb 33554432 60"), expected);
  EXPECT_EQ(parse_output_limit("slave 1 2 3 normal 64mb 32mb 60 pubsub 4 5 6"), expected);
  EXPECT_EQ(parse_output_limit(format_output_limit(expected, Form::kRedis)), expected);
  EXPECT_EQ(parse_output_limit(format_output_limit(expected, Form::kText)), expected);
  for (const char* text :
       {"", "1 2", "wrong 1 2 3", "normal 1 2", "normal 1 2 x", "pubsub 1 2 3"}) {
    EXPECT_EQ(parse_output_limit(text), std::nullopt) << text;
  }
}

TEST(ConfigText, TomlStringsEscapeWhatTomlForbids) {
  EXPECT_EQ(toml_string("a\"b\\c\n\x7f"), R"("a\"b\\c\u000A\u007F")");
}

TEST(ConfigTable, EveryNameIsUniqueAndFound) {
  for (const Option& option : options()) {
    EXPECT_EQ(find_option(option.name), &option);
    if (!option.redis_name.empty()) {
      EXPECT_EQ(find_option(option.redis_name), &option) << option.redis_name;
    }
  }
  EXPECT_EQ(find_option("MaxMemory"), find_option("memory-limit"));
  EXPECT_EQ(find_option(""), nullptr);
}

TEST(ConfigTable, EveryDefaultIsReadBackAsItIsWritten) {
  const Config defaults;
  for (const Option& option : options()) {
    for (const Form form : {Form::kText, Form::kRedis}) {
      Config config;
      if (option.name == "bind" || form == Form::kText || option.name != "log-level") {
        ASSERT_TRUE(option.parse(config, option.format(defaults, form))) << option.name;
      }
      EXPECT_EQ(option.format(config, form), option.format(defaults, form)) << option.name;
    }
  }
}

TEST(ConfigTable, AMisspeltNameFindsItsNeighbour) {
  EXPECT_EQ(similar_option("memry-limit"), "memory-limit");
  EXPECT_EQ(similar_option("max-memory"), "maxmemory");
  EXPECT_EQ(similar_option("prot"), "port");
  EXPECT_EQ(similar_option("entirely-different"), "");
}

}  // namespace
}  // namespace nidus::server
