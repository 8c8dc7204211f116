// SPDX-License-Identifier: Apache-2.0

// Fuzz body of the parser. The first two bytes choose how the rest is cut and under which limits;
// the rest is what a client sends. Checks: any cut gives the same requests, error and consumption;
// no argument lies outside; no read past the end (under AddressSanitizer, see feeding.hpp).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "feeding.hpp"

namespace {

using nidus::resp::Limits;
using nidus::resp::testing::Feeder;
using nidus::resp::testing::Outcome;

void require(bool condition) {
  if (!condition) std::abort();
}

Outcome parse_cut(std::string_view bytes, const Limits& limits, std::size_t max_requests,
                  std::uint32_t seed) {
  Feeder feeder(limits, max_requests);
  std::size_t at = 0;
  while (at < bytes.size()) {
    seed = seed * 1664525 + 1013904223;  // Numerical Recipes' generator: repeatable pieces
    const std::size_t piece = 1 + (seed >> 16) % 24;
    if (!feeder.feed(bytes.substr(at, piece))) break;
    at += piece;
  }
  return feeder.outcome();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Byte by byte costs the square of the size.
  constexpr std::size_t kMaxBytes = 4096;
  if (size < 2 || size > kMaxBytes) return 0;
  Limits limits;
  limits.authenticated = (data[1] & 1) == 0;
  if ((data[1] & 2) != 0) limits.max_inline_bytes = 16;
  if ((data[1] & 4) != 0) limits.max_args = 4;
  if ((data[1] & 8) != 0) limits.max_bulk_bytes = 11;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Outcome expected = nidus::resp::testing::parse_at_once(bytes, limits);
  require(expected.consumed <= bytes.size());
  require(nidus::resp::testing::parse_in_pieces(bytes, 1, limits) == expected);
  require(parse_cut(bytes, limits, static_cast<std::size_t>(-1), data[0]) == expected);
  require(parse_cut(bytes, limits, 1 + data[0] % 3, data[0] + 1u) == expected);
  for (const auto& request : expected.requests) require(!request.empty());
  return 0;
}
