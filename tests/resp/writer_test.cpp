// SPDX-License-Identifier: Apache-2.0

// Replies in both protocols, byte for byte, and the buffer they are written into.

#include "resp/writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace nidus::resp {
namespace {

using namespace std::string_literals;

template <typename Reply>
std::string written(int protocol, Reply reply) {
  OutputBuffer out;
  Writer writer(out, protocol);
  reply(writer);
  return std::string(out.view());
}

template <typename Reply>
void expect_both(const std::string& resp2, const std::string& resp3, Reply reply) {
  EXPECT_EQ(written(2, reply), resp2);
  EXPECT_EQ(written(3, reply), resp3);
}

TEST(RespWriter, WritesEveryReplyInBothProtocols) {
  expect_both("+PONG\r\n", "+PONG\r\n", [](Writer& w) { w.simple("PONG"); });
  expect_both("+\r\n", "+\r\n", [](Writer& w) { w.simple(""); });
  expect_both("+OK\r\n", "+OK\r\n", [](Writer& w) { w.ok(); });
  expect_both("-ERR no\r\n", "-ERR no\r\n", [](Writer& w) { w.error("ERR no"); });
  expect_both("$1\r\nx\r\n", "$1\r\nx\r\n", [](Writer& w) { w.bulk("x"); });
  expect_both("$0\r\n\r\n", "$0\r\n\r\n", [](Writer& w) { w.bulk({}); });
  expect_both("$-1\r\n", "_\r\n", [](Writer& w) { w.null(); });
  expect_both("*-1\r\n", "_\r\n", [](Writer& w) { w.null_array(); });
  expect_both("*12\r\n", "*12\r\n", [](Writer& w) { w.array(12); });
  expect_both("*0\r\n", "*0\r\n", [](Writer& w) { w.array(0); });
  expect_both("*14\r\n", "%7\r\n", [](Writer& w) { w.map(7); });
  expect_both("*3\r\n", "~3\r\n", [](Writer& w) { w.set(3); });
  expect_both("*2\r\n", ">2\r\n", [](Writer& w) { w.push(2); });
  expect_both(":1\r\n", "#t\r\n", [](Writer& w) { w.boolean(true); });
  expect_both(":0\r\n", "#f\r\n", [](Writer& w) { w.boolean(false); });
  expect_both("$2\r\nhi\r\n", "=6\r\ntxt:hi\r\n", [](Writer& w) { w.verbatim("txt", "hi"); });
  expect_both("$3\r\n-17\r\n", "$3\r\n-17\r\n", [](Writer& w) { w.bulk_integer(-17); });
  expect_both("abc", "abc", [](Writer& w) { w.raw("abc"); });
}

TEST(RespWriter, SwitchesProtocolBetweenReplies) {
  EXPECT_EQ(written(2,
                    [](Writer& w) {
                      w.null();
                      w.set_protocol(3);
                      EXPECT_EQ(w.protocol(), 3);
                      w.null();
                    }),
            "$-1\r\n_\r\n");
}

TEST(RespWriter, WritesIntegersOfEverySize) {
  const auto check = [](std::int64_t value) {
    EXPECT_EQ(written(2, [&](Writer& w) { w.integer(value); }),
              ":" + std::to_string(value) + "\r\n");
  };
  for (std::int64_t value = -1100; value <= 1100; ++value) check(value);
  for (int shift = 10; shift < 64; ++shift) {
    const auto power = static_cast<std::int64_t>(std::uint64_t{1} << shift);
    for (std::int64_t near = -1; near <= 1; ++near) {
      check(static_cast<std::int64_t>(static_cast<std::uint64_t>(power) + near));
    }
  }
  check(std::numeric_limits<std::int64_t>::min());
  check(std::numeric_limits<std::int64_t>::max());
}

TEST(RespWriter, WritesBulksOfEverySize) {
  std::string bytes;
  for (std::size_t size = 0; size < 1100; ++size) {
    EXPECT_EQ(written(2, [&](Writer& w) { w.bulk(bytes); }),
              "$" + std::to_string(size) + "\r\n" + bytes + "\r\n");
    bytes += static_cast<char>(size * 7);
  }
  EXPECT_EQ(written(2, [](Writer& w) { w.bulk("\0\r\n"s); }), "$3\r\n\0\r\n\r\n"s);
}

TEST(RespWriter, LetsTheCallerFillABulk) {
  for (const std::size_t size : {0, 1, 9, 10, 99, 100, 5000}) {
    const std::string got = written(2, [&](Writer& w) {
      std::fill_n(w.bulk_reserve(size), size, 'x');
      w.ok();
    });
    EXPECT_EQ(got, "$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n+OK\r\n");
  }
}

TEST(RespWriter, KeepsLineEndsOutOfErrors) {
  const auto error = [](std::string_view text) {
    return written(2, [&](Writer& w) { w.error(text); });
  };
  EXPECT_EQ(error("ERR a\r\n+OK\r\nb"), "-ERR a  +OK  b\r\n");
  EXPECT_EQ(error("\r\nERR a\r\n\n"), "-ERR a\r\n");
  EXPECT_EQ(error("\r\n"), "-\r\n");
  EXPECT_EQ(error("ERR '\0'"s), "-ERR '\0'\r\n"s);
}

TEST(RespWriter, WritesDoublesAsRedisDoes) {
  const auto real = [](int protocol, double value) {
    return written(protocol, [&](Writer& w) { w.real(value); });
  };
  EXPECT_EQ(real(3, 3.0), ",3\r\n");
  EXPECT_EQ(real(3, -0.5), ",-0.5\r\n");
  EXPECT_EQ(real(3, 0.1), ",0.10000000000000001\r\n");
  EXPECT_EQ(real(2, 0.1), "$19\r\n0.10000000000000001\r\n");
  EXPECT_EQ(real(3, INFINITY), ",inf\r\n");
  EXPECT_EQ(real(2, -INFINITY), "$4\r\n-inf\r\n");
  EXPECT_EQ(real(3, -NAN), ",nan\r\n");
  for (const double value : {1e21, 1e16, 1e17, 1e18, 123456789.125, 5e-324, 1e-5, 0.0001, -0.0,
                             2.2250738585072014e-308, 1.7976931348623157e308}) {
    char printed[64];
    std::snprintf(printed, sizeof printed, ",%.17g\r\n", value);
    EXPECT_EQ(real(3, value), printed);
  }
}

TEST(RespOutputBuffer, GrowsWithoutLosingBytes) {
  OutputBuffer out;
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string piece = std::to_string(i) + std::string(i % 50, '.');
    out.append(piece);
    expected += piece;
  }
  EXPECT_EQ(out.view(), expected);
  EXPECT_GE(out.capacity(), out.size());
  EXPECT_LE(out.capacity(), 2 * out.size());
}

TEST(RespOutputBuffer, KeepsEveryByteWhereItsMemoryChangesKind) {
  OutputBuffer large;
  std::string expected;
  while (expected.size() < (std::size_t{20} << 20)) {
    const std::string piece(100'000 + expected.size() % 7,
                            static_cast<char>('a' + expected.size() % 26));
    large.append(piece);
    expected += piece;
  }
  EXPECT_TRUE(large.view() == expected);
  EXPECT_GE(large.capacity(), large.size());
  OutputBuffer small;
  small.append("small");
  small.swap(large);
  EXPECT_TRUE(small.view() == expected);
  EXPECT_EQ(large.view(), "small");
  small.release();
  EXPECT_EQ(small.capacity(), 0u);
  small.append("again");
  EXPECT_EQ(small.view(), "again");
}

TEST(RespOutputBuffer, TakesBackWhatWasNotCommittedOrIsTruncated) {
  OutputBuffer out;
  out.append("abc");
  std::fill_n(out.reserve(1000), 1000, 'x');
  EXPECT_EQ(out.view(), "abc");
  out.commit(2);
  EXPECT_EQ(out.view(), "abcxx");
  out.truncate(1);
  EXPECT_EQ(out.view(), "a");
}

TEST(RespOutputBuffer, KeepsABoundedCapacityWhenCleared) {
  OutputBuffer out;
  out.append("abc");
  const std::size_t small = out.capacity();
  out.clear();
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(out.capacity(), small);
  out.append(std::string(1 << 20, 'x'));
  out.clear();
  EXPECT_LE(out.capacity(), OutputBuffer::kRetainedBytes);
  out.append("abc");
  EXPECT_EQ(out.view(), "abc");
  out.release();
  EXPECT_EQ(out.capacity(), 0u);
}

TEST(RespOutputBuffer, Moves) {
  OutputBuffer a;
  a.append("abc");
  OutputBuffer b(std::move(a));
  EXPECT_EQ(b.view(), "abc");
  OutputBuffer c;
  c.append("xyz");
  c = std::move(b);
  EXPECT_EQ(c.view(), "abc");
}

}  // namespace
}  // namespace nidus::resp
