// SPDX-License-Identifier: Apache-2.0
#pragma once

// Redis Cluster's hash slots: the CRC16 of a key, or of the part of it between braces, modulo 16384.
// Clients compute the same, so nothing here may change.
// Source: the Redis Cluster specification, "Key distribution model" and "Hash tags".

#include <array>
#include <cstdint>
#include <string_view>

namespace nidus::ring {

inline constexpr unsigned kHashSlots = 16384;
inline constexpr unsigned kHashSlotBits = 14;
static_assert(kHashSlots == 1u << kHashSlotBits);

namespace detail {

constexpr std::array<std::uint16_t, 256> make_crc16_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
inline constexpr std::array<std::uint16_t, 256> kCrc16Table = make_crc16_table();

}  // namespace detail

/// CRC-16/XMODEM: polynomial 0x1021, from zero, not reflected, not inverted.
constexpr std::uint16_t crc16(std::string_view bytes) {
  unsigned crc = 0;
  for (const char byte : bytes) {
    const unsigned at = ((crc >> 8) ^ static_cast<unsigned char>(byte)) & 0xff;
    crc = ((crc << 8) ^ detail::kCrc16Table[at]) & 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

/// What of a key is hashed: from behind the first { to the first } after it, if that is not empty;
/// else the whole key.
constexpr std::string_view hash_tag(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

constexpr std::uint16_t hash_slot(std::string_view key) {
  return crc16(hash_tag(key)) % kHashSlots;
}

}  // namespace nidus::ring
