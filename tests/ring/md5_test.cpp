// SPDX-License-Identifier: Apache-2.0

// MD5 against the RFC's own values and, at the lengths where its padding changes, a peer's.

#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <nidus/ring/detail/md5.hpp>

namespace nidus::ring::detail {
namespace {

std::string md5(std::string_view bytes) {
  std::string text;
  for (const std::uint32_t word : md5_words(bytes)) {
    for (unsigned i = 0; i < 4; ++i) {
      char hex[3];
      std::snprintf(hex, sizeof hex, "%02x", (word >> (8 * i)) & 0xff);
      text += hex;
    }
  }
  return text;
}

TEST(Md5, AgreesWithRfc1321) {
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(md5("1234567890123456789012345678901234567890123456789012345678901234567890123456789"
                "0"),
            "57edf4a22be3c955ac49da2e2107b67a");
  static_assert(md5_words("")[0] == 0xd98c1dd4);
}

TEST(Md5, AgreesWithOpenSslWhereItsPaddingChanges) {
  // python3 -c 'import hashlib; print(hashlib.md5(bytes(range(n)) ).hexdigest())'
  const auto ascending = [](std::size_t n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) bytes += static_cast<char>(i);
    return md5(bytes);
  };
  EXPECT_EQ(ascending(55), "6912ee65fff2d9f9ce2508cddf8bcda0");
  EXPECT_EQ(ascending(56), "51fdd1acda72405dfdfa03fcb85896d7");
  EXPECT_EQ(ascending(57), "5320ef4c17ef34a0cf2db763338d25eb");
  EXPECT_EQ(ascending(63), "48a6295221902e8e0938f773a7185e72");
  EXPECT_EQ(ascending(64), "b2d3f56bc197fd985d5965079b5e7148");
  EXPECT_EQ(ascending(65), "8bd7053801c768420faf816fadba971c");
  EXPECT_EQ(ascending(119), "1c772251899a7ff007400b888d6b2042");
  EXPECT_EQ(ascending(120), "b7ba1efc6022e9ed272f00b8831e26e6");
  EXPECT_EQ(ascending(128), "37eff01866ba3f538421b30b7cbefcac");
  EXPECT_EQ(ascending(250), "d04120d0e8d4c6e61d6bb33cb6f14df5");
}

}  // namespace
}  // namespace nidus::ring::detail
