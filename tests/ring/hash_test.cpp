// SPDX-License-Identifier: Apache-2.0

// Golden values: what another process, machine or release must compute alike.

#include <string>

#include <gtest/gtest.h>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/hash_slots.hpp>
#include <nidus/ring/jump.hpp>
#include <nidus/ring/ring.hpp>

namespace nidus::ring {
namespace {

TEST(RingHash, KeysAndTokensStayWhereTheyAre) {
  EXPECT_EQ(key_hash(""), 0x2d06800538d394c2u);
  EXPECT_EQ(key_hash("user:1000"), 0xfb6841b2068c0c9fu);
  EXPECT_EQ(key_hash(std::string(300, 'x')), 0xa5d1b4607dc83554u);
  TokenHasher token("node-0001");
  EXPECT_EQ(token(0), 0x6ed2344b572b8cf3u);
  EXPECT_EQ(token(1), 0x0eca6b2c401aba9bu);
  EXPECT_EQ(token(0x01020304), 0x9623fa8634f6f397u);
  EXPECT_EQ(token(0), key_hash(std::string("node-0001") + std::string(4, '\0')));
  EXPECT_EQ(mix(1), 0x5692161d100b05e5u);
}

TEST(RingHash, OwnersStayWhereTheyAre) {
  const Ring ring = Ring::build({{"a", 1, ""}, {"b", 2, ""}, {"c", 1, ""}}, {128}).value();
  std::string owners;
  for (int i = 0; i < 40; ++i) {
    owners += ring.nodes()[ring.owner(key_hash("key:" + std::to_string(i)))].name;
  }
  EXPECT_EQ(owners, "babccaacabacbbbccbccbbaabcccbbcbbccbbbbb");
}

TEST(JumpHash, AgreesWithThePapersFunction) {
  // Published with Google's Guava (HashingTest, consistentHash golden values).
  EXPECT_EQ(jump_hash(10863919174838991u, 11), 6);
  EXPECT_EQ(jump_hash(2016238256797177309u, 11), 3);
  EXPECT_EQ(jump_hash(1673758223894951030u, 11), 5);
  EXPECT_EQ(jump_hash(2, 100001), 80343);
  EXPECT_EQ(jump_hash(2201, 100001), 22152);
  EXPECT_EQ(jump_hash(2202, 100001), 15018);
}

TEST(HashSlots, Crc16IsXmodem) {
  EXPECT_EQ(crc16("123456789"), 0x31c3);
  EXPECT_EQ(crc16(""), 0);
}

TEST(HashSlots, BracesFollowRedis) {
  EXPECT_EQ(hash_slot("{user1000}.following"), hash_slot("user1000"));
  EXPECT_EQ(hash_slot("{user1000}.following"), hash_slot("{user1000}.followers"));
  EXPECT_EQ(hash_tag("foo{}{bar}"), "foo{}{bar}");
  EXPECT_EQ(hash_tag("foo{{bar}}zap"), "{bar");
  EXPECT_EQ(hash_tag("foo{bar}{zap}"), "bar");
  EXPECT_EQ(hash_tag("{}"), "{}");
  EXPECT_EQ(hash_tag(""), "");
  EXPECT_EQ(hash_tag("a}b{c"), "a}b{c");
  EXPECT_EQ(hash_tag("a}{b}"), "b");
  EXPECT_EQ(hash_slot(""), 0);
  // As redis-server 7.0.15 answers CLUSTER KEYSLOT.
  EXPECT_EQ(hash_slot("foo{}{bar}"), 8363);
  EXPECT_EQ(hash_slot("foo{{bar}}zap"), 4015);
  EXPECT_EQ(hash_slot("foo{bar}{zap}"), 5061);
  EXPECT_EQ(hash_slot("{}"), 15257);
  EXPECT_EQ(hash_slot("user1000"), 3443);
}

}  // namespace
}  // namespace nidus::ring
