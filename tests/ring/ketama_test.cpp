// SPDX-License-Identifier: Apache-2.0

// Ketama against libmemcached: 100 000 keys on 3, 5 and 10 servers, equal and unequal weights; not
// one may differ. libmemcached answers from its own ring, without a server. What twemproxy does is
// twemproxy_test.py.

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nidus/ring/ketama.hpp>

#include "nodes.hpp"

#if NIDUS_HAVE_LIBMEMCACHED
#include <libmemcached/memcached.h>
#endif

namespace nidus::ring {
namespace {

struct Server {
  std::string host;
  std::uint16_t port;
  std::uint32_t weight;
};

// Names in ascending order, so that points that collide fall to the same server.
std::vector<Server> servers(std::size_t n, bool weighted) {
  std::vector<Server> servers;
  const std::uint32_t weights[] = {1, 3, 2, 7, 1, 5, 4, 9, 2, 6};
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t port = i == 0 ? 11211 : static_cast<std::uint16_t>(12000 + i);
    servers.push_back({"10.0.0.1", port, weighted ? weights[i] : 1});
  }
  return servers;
}

Ketama ours(const std::vector<Server>& servers) {
  std::vector<Node> nodes;
  for (const Server& s : servers) {
    nodes.push_back({ketama_name(s.host, s.port), static_cast<double>(s.weight), ""});
  }
  return Ketama::build(nodes).value();
}

std::vector<std::string> keys(std::size_t n) {
  std::vector<std::string> keys;
  std::mt19937_64 random(11);
  for (std::size_t i = 0; i < n; ++i) {
    std::string key = "user:" + std::to_string(random() % 1'000'000) + ":" + std::to_string(i);
    if (i % 3 == 0) key += std::string(random() % 200, 'x');
    if (i % 5 == 0) key += "\xc3\xa9";
    keys.push_back(key);
  }
  return keys;
}

TEST(Ketama, DefaultPortIsNoPartOfAName) {
  EXPECT_EQ(ketama_name("cache1", 11211), "cache1");
  EXPECT_EQ(ketama_name("cache1", 11212), "cache1:11212");
}

TEST(Ketama, NodesOfEqualWeightHave160Points) {
  EXPECT_EQ(ours(servers(10, false)).tokens().size(), 1600u);
  EXPECT_EQ(ours(servers(1, false)).tokens().size(), 160u);
}

class AgainstLibmemcached : public ::testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(AgainstLibmemcached, NotOneKeyDiffers) {
#if NIDUS_HAVE_LIBMEMCACHED
  const auto [n, weighted] = GetParam();
  const auto list = servers(n, weighted);
  const Ketama placement = ours(list);
  const std::unique_ptr<memcached_st, void (*)(memcached_st*)> peer(memcached_create(nullptr),
                                                                    memcached_free);
  ASSERT_EQ(memcached_behavior_set(peer.get(), MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1),
            MEMCACHED_SUCCESS);
  for (const Server& s : list) {
    ASSERT_EQ(memcached_server_add_with_weight(peer.get(), s.host.c_str(), s.port, s.weight),
              MEMCACHED_SUCCESS);
  }
  std::size_t differ = 0;
  std::vector<std::size_t> owned(n);
  for (const std::string& key : keys(100'000)) {
    const std::uint32_t theirs = memcached_generate_hash(peer.get(), key.data(), key.size());
    ASSERT_LT(theirs, n);
    const std::string name = ketama_name(list[theirs].host, list[theirs].port);
    differ += testing::owner_name(placement, Ketama::hash_key(key)) != name;
    ++owned[theirs];
  }
  EXPECT_EQ(differ, 0u);
  for (const std::size_t count : owned) EXPECT_GT(count, 0u);  // the peer did use all of them
#else
  GTEST_SKIP() << "libmemcached-dev was not there when this was configured";
#endif
}
INSTANTIATE_TEST_SUITE_P(Servers, AgainstLibmemcached,
                         ::testing::Combine(::testing::Values(1, 3, 5, 10), ::testing::Bool()));

// The published vectors of 64-bit FNV-1a, cut to their lower half.
TEST(Ketama, TwemproxyHashesKeysByFnv) {
  EXPECT_EQ(KetamaFnv1a::hash(""), 0x84222325u);
  EXPECT_EQ(KetamaFnv1a::hash("foobar"), 0xf73967e8u);
}

}  // namespace
}  // namespace nidus::ring
