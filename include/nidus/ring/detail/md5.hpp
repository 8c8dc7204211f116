// SPDX-License-Identifier: Apache-2.0
#pragma once

// MD5 (RFC 1321), for ketama alone, which is defined by it; it protects nothing. Here and not
// from a library because nidus' library is headers only: OpenSSL would have to be linked by everyone
// who includes a ring, refuses MD5 in its FIPS mode, and spends more on setting up a digest than on
// the one block that a key needs. tests/ring/md5_test.cpp compares it with the RFC and with a peer.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nidus::ring::detail {

namespace md5 {

// floor(2^32 |sin(i + 1)|), the RFC's table.
inline constexpr std::array<std::uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

inline constexpr int kTurns[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

using State = std::array<std::uint32_t, 4>;
using Block = std::array<std::uint8_t, 64>;

// Sixteen steps of one round: which word each takes, and the round's function. Unrolled, so that the
// four state words stay in registers and every index is known.
template <unsigned round, class Function>
constexpr void run_round(State& state, const std::array<std::uint32_t, 16>& words, Function f) {
  constexpr unsigned kStep[] = {1, 5, 3, 7}, kFirst[] = {0, 1, 5, 0};
  auto [a, b, c, d] = state;
#pragma GCC unroll 16
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint32_t word = words[(kStep[round] * i + kFirst[round]) % 16];
    const std::uint32_t sum = a + f(b, c, d) + kSines[16 * round + i] + word;
    a = d, d = c, c = b, b += std::rotl(sum, kTurns[round][i % 4]);
  }
  state = {a, b, c, d};
}

constexpr void compress(State& state, const Block& block) {
  using Word = std::uint32_t;
  std::array<Word, 16> words{};
#pragma GCC unroll 16
  for (unsigned i = 0; i < 16; ++i) {
    words[i] = Word{block[4 * i]} | Word{block[4 * i + 1]} << 8 | Word{block[4 * i + 2]} << 16 |
               Word{block[4 * i + 3]} << 24;
  }
  State next = state;
  run_round<0>(next, words, [](Word b, Word c, Word d) { return d ^ (b & (c ^ d)); });
  run_round<1>(next, words, [](Word b, Word c, Word d) { return c ^ (d & (b ^ c)); });
  run_round<2>(next, words, [](Word b, Word c, Word d) { return b ^ c ^ d; });
  run_round<3>(next, words, [](Word b, Word c, Word d) { return c ^ (b | ~d); });
  for (unsigned i = 0; i < 4; ++i) state[i] += next[i];
}

}  // namespace md5

/// The digest as four words: the first four bytes are word 0, least significant first.
constexpr std::array<std::uint32_t, 4> md5_words(std::string_view bytes) {
  md5::State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  md5::Block block{};
  std::size_t used = 0;
  for (const char byte : bytes) {
    block[used++] = static_cast<std::uint8_t>(byte);
    if (used == block.size()) {
      md5::compress(state, block);
      used = 0;
    }
  }
  // The end: a one bit, zeros, and the length in bits in the last eight bytes of a block.
  block[used++] = 0x80;
  if (used > 56) {
    while (used < 64) block[used++] = 0;
    md5::compress(state, block);
    used = 0;
  }
  while (used < 56) block[used++] = 0;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (unsigned i = 0; i < 8; ++i) block[used++] = static_cast<std::uint8_t>(bits >> (8 * i));
  md5::compress(state, block);
  return state;
}

}  // namespace nidus::ring::detail
