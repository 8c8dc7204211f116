// SPDX-License-Identifier: Apache-2.0

// Errors of the environment travel as values.

#include <nidus/base/error.hpp>
#include <nidus/base/platform.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace nidus {
namespace {

Expected<int> parse_port(const std::string& text) {
  if (text.empty()) return fail("port: empty; give a number from 1 to 65535");
  return std::stoi(text);
}

TEST(Error, ASuccessCarriesTheValue) {
  const Expected<int> port = parse_port("7379");
  ASSERT_TRUE(port.has_value());
  EXPECT_EQ(*port, 7379);
}

TEST(Error, AFailureCarriesTheMessage) {
  const Expected<int> port = parse_port("");
  ASSERT_FALSE(port.has_value());
  EXPECT_EQ(port.error().message, "port: empty; give a number from 1 to 65535");
}

TEST(Error, MoveOnlyValuesPass) {
  const auto make = []() -> Expected<std::unique_ptr<int>> { return std::make_unique<int>(3); };
  Expected<std::unique_ptr<int>> made = make();
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(**made, 3);
}

static_assert(kCacheLineBytes == 64, "a bucket is one line");

}  // namespace
}  // namespace nidus
