// SPDX-License-Identifier: Apache-2.0

// Properties of the parser: random streams, good and damaged, come out the same however they are
// cut.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "feeding.hpp"

namespace nidus::resp {
namespace {

using namespace std::string_literals;
using testing::encode;
using testing::Feeder;
using testing::Outcome;
using testing::parse_at_once;
using testing::parse_in_pieces;
using testing::Request;

std::string any_bytes() { return *rc::gen::arbitrary<std::string>(); }

// Arguments short and long, of any bytes; the bytes of framing are frequent.
Request any_request() {
  const auto args = *rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
      rc::gen::arbitrary<std::string>(),
      rc::gen::container<std::string>(rc::gen::elementOf("\r\n*$-0123\0"s)),
      rc::gen::map(rc::gen::inRange(0, 300), [](int n) { return std::string(n, 'x'); })));
  return args.empty() ? Request{"PING"} : args;
}

// A stream cut at random places.
Outcome parse_randomly_cut(const std::string& bytes, const Limits& limits = {}) {
  Feeder feeder(limits);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto piece = *rc::gen::inRange<std::size_t>(1, bytes.size() - at + 1);
    if (!feeder.feed(std::string_view(bytes).substr(at, piece))) break;
    at += piece;
  }
  return feeder.outcome();
}

RC_GTEST_PROP(RespParserProperty, GivesBackWhatWasEncoded, ()) {
  std::vector<Request> requests;
  std::string bytes;
  for (int n = *rc::gen::inRange(0, 8); n > 0; --n) {
    requests.push_back(any_request());
    bytes += encode(requests.back());
  }
  const Outcome expected{requests, "", bytes.size()};
  RC_ASSERT(parse_at_once(bytes) == expected);
  RC_ASSERT(parse_in_pieces(bytes, 1) == expected);
  RC_ASSERT(parse_randomly_cut(bytes) == expected);
}

RC_GTEST_PROP(RespParserProperty, GivesTheSameResultForAnySplitOfADamagedStream, ()) {
  std::string bytes;
  for (int n = *rc::gen::inRange(1, 5); n > 0; --n) bytes += encode(any_request());
  for (int n = *rc::gen::inRange(0, 3); n > 0; --n) {
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        bytes[at] = *rc::gen::elementOf("\r\n*$-+0159 \"'a\0"s);
        break;
      case 1:
        bytes.erase(at, 1);
        break;
      default:
        bytes.insert(at,
                     *rc::gen::element<std::string>("\r\n", "*0\r\n", "*-1\r\n", "$", "9", "-"));
    }
    if (bytes.empty()) break;
  }
  const Outcome expected = parse_at_once(bytes);
  RC_ASSERT(parse_in_pieces(bytes, 1) == expected);
  RC_ASSERT(parse_randomly_cut(bytes) == expected);
}

RC_GTEST_PROP(RespParserProperty, GivesTheSameResultForAnySplitOfAnyBytes, ()) {
  std::string bytes = any_bytes();
  if (*rc::gen::arbitrary<bool>()) bytes = "*" + bytes;
  bytes += *rc::gen::container<std::string>(rc::gen::elementOf("\r\n*$-123 \"'\\xaf"s));
  Limits limits;
  limits.authenticated = *rc::gen::arbitrary<bool>();
  limits.max_inline_bytes = *rc::gen::inRange<std::size_t>(0, 40);
  const Outcome expected = parse_at_once(bytes, limits);
  RC_ASSERT(parse_in_pieces(bytes, 1, limits) == expected);
  RC_ASSERT(parse_randomly_cut(bytes, limits) == expected);
}

}  // namespace
}  // namespace nidus::resp
