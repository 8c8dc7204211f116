// SPDX-License-Identifier: Apache-2.0

// The glance at a request's key: right for the usual form, silent for all else, never behind the
// bytes.

#include "resp/peek.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace nidus::resp {
namespace {

TEST(Peek, FindsTheKeyOfTheUsualForm) {
  EXPECT_EQ(peek_second_argument("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"), "key");
  EXPECT_EQ(peek_second_argument("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100\r\nnot yet here"), "k");
  EXPECT_EQ(peek_second_argument("*2\r\n$3\r\nGET\r\n$13\r\nwith\r\n breaks\r\n"),
            "with\r\n breaks");
}

TEST(Peek, SaysNothingAboutOtherForms) {
  for (const char* bytes :
       {"", "*", "*1\r\n$4\r\nPING\r\n", "PING\r\n", "*2\r\n$3\r\nGET\r\n$3\r\nke",
        "*2\r\n$3\r\nGE", "*2\r\n$-1\r\n", "*-1\r\n$3", "*2\r\n$99999999999\r\nx", "*x\r\n",
        "*2\n$3\nGET\n$1\nk\n", "*2\r\n$3\r\nGET\r\n:3\r\nkey\r\n"}) {
    EXPECT_EQ(peek_second_argument(bytes), "") << bytes;
  }
}

TEST(Peek, StaysWithinAnyBytes) {
  std::mt19937 random(1);
  const std::string alphabet = "*$0123456789\r\nGETk";
  for (int round = 0; round < 100'000; ++round) {
    std::string text(random() % 24, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    const std::string exact(text.data(), text.size());  // its own allocation: ASan sees the end
    const std::string_view key = peek_second_argument(exact);
    if (key.empty()) continue;
    EXPECT_GE(key.data(), exact.data());
    EXPECT_LE(key.data() + key.size(), exact.data() + exact.size());
  }
}

}  // namespace
}  // namespace nidus::resp
