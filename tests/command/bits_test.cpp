// SPDX-License-Identifier: Apache-2.0

// The bitmap commands: known answers, and a property against a row of bits kept as std::vector.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace std::string_literals;
using testing::bulk;
using testing::Client;
using testing::error;
using testing::integer;
using testing::kNull;
using testing::kOk;
using testing::World;

class BitsTest : public ::testing::Test {
 protected:
  World world_;
  Client client_{world_};
};

TEST_F(BitsTest, SetbitGrowsTheValueAndGivesTheBitBefore) {
  EXPECT_EQ(client_({"SETBIT", "k", "7", "1"}), integer(0));
  EXPECT_EQ(client_({"GET", "k"}), bulk("\x01"));
  EXPECT_EQ(client_({"SETBIT", "k", "7", "0"}), integer(1));
  EXPECT_EQ(client_({"SETBIT", "k", "16", "0"}), integer(0));
  EXPECT_EQ(client_({"STRLEN", "k"}), integer(3));
  EXPECT_EQ(client_({"GETBIT", "k", "1000000"}), integer(0));
}

TEST_F(BitsTest, OffsetsAndBitsAreChecked) {
  const std::string bad_offset = error("ERR bit offset is not an integer or out of range");
  EXPECT_EQ(client_({"SETBIT", "k", "-1", "1"}), bad_offset);
  EXPECT_EQ(client_({"SETBIT", "k", "4294967296", "1"}), bad_offset);
  EXPECT_EQ(client_({"GETBIT", "k", "x"}), bad_offset);
  EXPECT_EQ(client_({"SETBIT", "k", "0", "2"}), error("ERR bit is not an integer or out of range"));
  EXPECT_EQ(client_({"BITPOS", "k", "2"}), error("ERR The bit argument must be 1 or 0."));
  EXPECT_EQ(client_({"EXISTS", "k"}), integer(0));
}

TEST_F(BitsTest, CountsPartsInBytesAndBits) {
  client_({"SET", "k", "foobar"});
  EXPECT_EQ(client_({"BITCOUNT", "k"}), integer(26));
  EXPECT_EQ(client_({"BITCOUNT", "k", "0", "0"}), integer(4));
  EXPECT_EQ(client_({"BITCOUNT", "k", "1", "1", "BYTE"}), integer(6));
  EXPECT_EQ(client_({"BITCOUNT", "k", "5", "30", "BIT"}), integer(17));
  EXPECT_EQ(client_({"BITCOUNT", "k", "-1", "-2"}), integer(0));
  EXPECT_EQ(client_({"BITCOUNT", "k", "0"}), error("ERR syntax error"));
}

TEST_F(BitsTest, ZeroBehindTheEndOnlyWithoutAnEnd) {
  client_({"SET", "k", "\xff\xff"});
  EXPECT_EQ(client_({"BITPOS", "k", "0"}), integer(16));
  EXPECT_EQ(client_({"BITPOS", "k", "0", "1"}), integer(16));
  EXPECT_EQ(client_({"BITPOS", "k", "0", "0", "-1"}), integer(-1));
  EXPECT_EQ(client_({"BITPOS", "k", "1", "9", "15", "BIT"}), integer(9));
  EXPECT_EQ(client_({"BITPOS", "absent", "0"}), integer(0));
  EXPECT_EQ(client_({"BITPOS", "absent", "1"}), integer(-1));
}

TEST_F(BitsTest, CombinesValuesOfDifferentLengths) {
  client_({"MSET", "a", "\xf0\x0f\xff", "b", "\xff"});
  EXPECT_EQ(client_({"BITOP", "AND", "d", "a", "b"}), integer(3));
  EXPECT_EQ(client_({"GET", "d"}), bulk("\xf0\0\0"s));
  client_({"BITOP", "or", "d", "a", "b", "absent"});
  EXPECT_EQ(client_({"GET", "d"}), bulk("\xff\x0f\xff"));
  client_({"BITOP", "XOR", "d", "a", "b"});
  EXPECT_EQ(client_({"GET", "d"}), bulk("\x0f\x0f\xff"));
  client_({"BITOP", "NOT", "a", "a"});
  EXPECT_EQ(client_({"GET", "a"}), bulk("\x0f\xf0\0"s));
  EXPECT_EQ(client_({"BITOP", "NOT", "d", "a", "b"}),
            error("ERR BITOP NOT must be called with a single source key."));
  EXPECT_EQ(client_({"BITOP", "OR", "d", "absent"}), integer(0));
  EXPECT_EQ(client_({"EXISTS", "d"}), integer(0));
}

TEST_F(BitsTest, FieldsWrapSaturateAndFail) {
  EXPECT_EQ(client_({"BITFIELD", "k", "SET", "u8", "#1", "255", "GET", "u8", "8", "INCRBY", "u8",
                     "#1", "2"}),
            "*3\r\n" + integer(0) + integer(255) + integer(1));
  EXPECT_EQ(client_({"BITFIELD", "k", "OVERFLOW", "SAT", "INCRBY", "i5", "100", "20", "OVERFLOW",
                     "FAIL", "INCRBY", "i5", "100", "1", "INCRBY", "i5", "100", "-1"}),
            "*3\r\n" + integer(15) + kNull + integer(14));
  // 64 bits that begin within a byte touch nine bytes.
  EXPECT_EQ(client_({"BITFIELD", "wide", "SET", "i64", "3", "-9223372036854775808", "INCRBY", "i64",
                     "3", "-1", "GET", "u3", "0", "GET", "u5", "67"}),
            "*4\r\n" + integer(0) + integer(INT64_MAX) + integer(0) + integer(0));
}

TEST_F(BitsTest, FieldErrorsChangeNothing) {
  const std::string bad_type = error(
      "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
      "i64 is.");
  for (const char* type : {"u64", "i65", "u0", "x8", "8", "u", ""}) {
    EXPECT_EQ(client_({"BITFIELD", "k", "SET", "u8", "0", "1", "GET", type, "0"}), bad_type);
  }
  EXPECT_EQ(client_({"BITFIELD", "k", "OVERFLOW", "never"}),
            error("ERR Invalid OVERFLOW type specified"));
  EXPECT_EQ(client_({"BITFIELD", "k", "SET", "u8", "#4294967296", "1"}),
            error("ERR bit offset is not an integer or out of range"));
  EXPECT_EQ(client_({"BITFIELD_RO", "k", "SET", "u8", "0", "1"}),
            error("ERR BITFIELD_RO only supports the GET subcommand"));
  EXPECT_EQ(client_({"EXISTS", "k"}), integer(0));
}

TEST_F(BitsTest, PartsAgreeWithARowOfBits) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 2000; ++round) {
    // Long runs of one kind, so that whole words are skipped.
    const int bytes = 1 + below(40);
    std::string value(static_cast<std::size_t>(bytes), below(2) == 0 ? '\0' : '\xff');
    for (int i = below(4); i > 0; --i)
      value[static_cast<std::size_t>(below(bytes))] ^= 1 << below(8);
    client_({"SET", "k", value});
    const int from = below(bytes * 8), to = below(bytes * 8), wanted = below(2);
    int count = 0, position = -1;
    for (int i = from; i <= to; ++i) {
      const int bit = (value[static_cast<std::size_t>(i / 8)] >> (7 - i % 8)) & 1;
      count += bit;
      if (bit == wanted && position < 0) position = i;
    }
    const std::string first = std::to_string(from), last = std::to_string(to);
    EXPECT_EQ(client_({"BITCOUNT", "k", first, last, "BIT"}), integer(count)) << seed;
    EXPECT_EQ(client_({"BITPOS", "k", std::to_string(wanted), first, last, "BIT"}),
              integer(position))
        << seed;
  }
}

}  // namespace
}  // namespace nidus::command
