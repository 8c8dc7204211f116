// SPDX-License-Identifier: Apache-2.0

// Numbers by Redis' rules: which texts are one, and how they are written.

#include "resp/number.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace nidus::resp {
namespace {

using namespace std::string_literals;

TEST(RespNumber, ReadsIntegersWrittenTheUsualWay) {
  EXPECT_EQ(parse_int64("0"), 0);
  EXPECT_EQ(parse_int64("7"), 7);
  EXPECT_EQ(parse_int64("-1"), -1);
  EXPECT_EQ(parse_int64("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_int64("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_uint64("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_uint64("0"), 0u);
}

TEST(RespNumber, RefusesEverythingElse) {
  for (const std::string& text : {""s,
                                  " "s,
                                  " 1"s,
                                  "1 "s,
                                  "01"s,
                                  "00"s,
                                  "-0"s,
                                  "-01"s,
                                  "+1"s,
                                  "+"s,
                                  "-"s,
                                  "--1"s,
                                  "1-"s,
                                  "1a"s,
                                  "a"s,
                                  "0x10"s,
                                  "1.0"s,
                                  "1e3"s,
                                  "1\0"s,
                                  "\0001"s,
                                  "1\n"s,
                                  "9223372036854775808"s,
                                  "-9223372036854775809"s,
                                  "18446744073709551616"s,
                                  "18446744073709551617"s,
                                  "99999999999999999999"s,
                                  "-99999999999999999999"s,
                                  "1000000000000000000000"s}) {
    EXPECT_EQ(parse_int64(text), std::nullopt) << text;
    if (text != "9223372036854775808") {
      EXPECT_EQ(parse_uint64(text), std::nullopt) << text;
    }
  }
  EXPECT_EQ(parse_uint64("-1"), std::nullopt);
}

RC_GTEST_PROP(RespNumber, ReadsBackWhatItWrites, ()) {
  const auto shift = *rc::gen::inRange(0, 64);
  const std::int64_t value = *rc::gen::arbitrary<std::int64_t>() >> shift;
  char digits[kMaxInt64Chars];
  const std::string text(digits, format_int64(digits, value));
  RC_ASSERT(text == std::to_string(value));
  RC_ASSERT(parse_int64(text) == value);
}

TEST(RespNumber, ReadsLongDoublesAsStrtold) {
  EXPECT_EQ(parse_long_double("1"), 1.0L);
  EXPECT_EQ(parse_long_double("-0.5"), -0.5L);
  EXPECT_EQ(parse_long_double("+3"), 3.0L);
  EXPECT_EQ(parse_long_double("1e5"), 100000.0L);
  EXPECT_EQ(parse_long_double(".5"), 0.5L);
  EXPECT_EQ(parse_long_double("5."), 5.0L);
  EXPECT_EQ(parse_long_double("0x10"), 16.0L);
  EXPECT_EQ(parse_long_double("inf"), std::numeric_limits<long double>::infinity());
  EXPECT_EQ(parse_long_double("-Infinity"), -std::numeric_limits<long double>::infinity());
  EXPECT_EQ(parse_long_double("3.6e-4951"), 3.6e-4951L);  // denormal
  EXPECT_EQ(parse_long_double(std::string(5119, '1')).has_value(), false) << "out of range";
  EXPECT_EQ(parse_long_double("1" + std::string(4900, '0')).has_value(), true);
}

TEST(RespNumber, RefusesWhatIsNoLongDouble) {
  for (const std::string& text :
       {""s,      " "s,      " 1"s,      "\t1"s,     "1 "s,
        "1\n"s,   "abc"s,    "1.0.0"s,   "1e"s,      "1,5"s,
        "--1"s,   "nan"s,    "-nan"s,    "1\0"s,     "\0"s,
        "1\0 2"s, "1e5000"s, "-1e5000"s, "1e-5000"s, "0." + std::string(5200, '0')}) {
    EXPECT_EQ(parse_long_double(text).has_value(), false) << text;
  }
}

TEST(RespNumber, WritesLongDoublesAsIncrbyfloat) {
  EXPECT_EQ(format_long_double(0.0L), "0");
  EXPECT_EQ(format_long_double(-0.0L), "0");
  EXPECT_EQ(format_long_double(3.0L), "3");
  EXPECT_EQ(format_long_double(-3.0L), "-3");
  EXPECT_EQ(format_long_double(100.0L), "100");
  EXPECT_EQ(format_long_double(10.5L), "10.5");
  EXPECT_EQ(format_long_double(0.1L), "0.1");
  EXPECT_EQ(format_long_double(10.50L + 0.1L), "10.6");
  EXPECT_EQ(format_long_double(5.0e3L + 2.0e2L), "5200");
  EXPECT_EQ(format_long_double(1e-17L), "0.00000000000000001");
  EXPECT_EQ(format_long_double(-1e-30L), "0");
  EXPECT_EQ(format_long_double(INFINITY), "inf");
  EXPECT_EQ(format_long_double(-INFINITY), "-inf");
  // The longest there is: 4933 digits, of which none is lost.
  const std::string longest = format_long_double(std::numeric_limits<long double>::lowest());
  EXPECT_EQ(longest.size(), 4934u);
  EXPECT_EQ(parse_long_double(longest), std::numeric_limits<long double>::lowest());
}

}  // namespace
}  // namespace nidus::resp
