// SPDX-License-Identifier: Apache-2.0

// Nanoseconds a look-up on 100 nodes of 128 tokens: the ring beside one binary search
// (std::upper_bound) over the same array, and ketama beside libmemcached's on the same keys. Taken in
// turns in one process; the median of the rounds and the range of its middle half. Also the time to
// build rings.
//
// Usage: ring_lookup_bench [ROUNDS [--csv]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <nidus/ring/ketama.hpp>
#include <nidus/ring/ring.hpp>

#if NIDUS_HAVE_LIBMEMCACHED
#include <libmemcached/memcached.h>
#endif

namespace {

using namespace nidus::ring;

constexpr std::size_t kNodes = 100;
constexpr std::uint32_t kTokens = 128;
constexpr std::size_t kLookups = 1 << 18;

std::uint64_t sink = 0;  // what was found, so that nothing is left out

std::vector<Node> make_nodes(std::size_t n) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < n; ++i)
    nodes.push_back({"10.0.0.1:" + std::to_string(12000 + i), 1, ""});
  return nodes;
}

struct Subject {
  std::string name;
  std::size_t operations;
  std::function<void()> run;
  std::vector<double> ns = {};

  void measure() {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    ns.push_back(took.count() / static_cast<double>(operations));
  }
  double at(double q) {
    std::sort(ns.begin(), ns.end());
    return ns[static_cast<std::size_t>(q * static_cast<double>(ns.size() - 1) + 0.5)];
  }
};

struct World {
  Ring ring = Ring::build(make_nodes(kNodes), {kTokens}).value();
  Ring default_ring = Ring::build(make_nodes(kNodes)).value();
  Ketama ketama = Ketama::build(make_nodes(kNodes)).value();
  std::vector<std::uint64_t> hashes;
  std::vector<std::string> keys;
  std::vector<NodeIndex> out = std::vector<NodeIndex>(kLookups);

  World() {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kLookups; ++i) {
      hashes.push_back(random());
      keys.push_back("user:" + std::to_string(random() % 100'000'000));
    }
  }
};

std::size_t binary_search(const Ring& ring, std::uint64_t hash) {
  const auto all = ring.tokens().hashes();
  const auto at = std::upper_bound(all.begin(), all.end(), hash) - all.begin();
  return static_cast<std::size_t>(at) % all.size();
}

// Each look-up waits for the last: the latency, not the throughput.
template <class Find>
void chain(const World& world, Find find) {
  std::uint64_t last = 0;
  for (const std::uint64_t hash : world.hashes) last = find(hash + (last & 1));
  sink += last;
}

std::vector<Subject> lookups(World& world) {
  std::vector<Subject> subjects;
  const auto add = [&](std::string name, std::function<void()> run) {
    subjects.push_back({std::move(name), kLookups, std::move(run)});
  };
  add("upper_bound", [&] {
    for (const auto hash : world.hashes)
      sink += world.ring.tokens().node(binary_search(world.ring, hash));
  });
  add("ring", [&] {
    for (const auto hash : world.hashes) sink += world.ring.owner(hash);
  });
  add("ring, batch", [&] {
    world.ring.owner_batch(world.hashes, world.out);
    sink += world.out[0];
  });
  add("ring of 1024 tokens", [&] {
    for (const auto hash : world.hashes) sink += world.default_ring.owner(hash);
  });
  add("upper_bound, latency", [&] {
    chain(world,
          [&](std::uint64_t h) { return world.ring.tokens().node(binary_search(world.ring, h)); });
  });
  add("ring, latency", [&] { chain(world, [&](std::uint64_t h) { return world.ring.owner(h); }); });
  add("key to node, ring", [&] {
    for (const auto& key : world.keys) sink += world.ring.owner(key_hash(key));
  });
  add("key to node, ketama", [&] {
    for (const auto& key : world.keys) sink += world.ketama.owner(Ketama::hash_key(key));
  });
  return subjects;
}

void build_ring(std::size_t nodes, std::uint32_t tokens) {
  sink += Ring::build(make_nodes(nodes), {tokens})->tokens().size();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
  const bool as_csv = argc > 2 && std::strcmp(argv[2], "--csv") == 0;
  World world;
  auto subjects = lookups(world);
#if NIDUS_HAVE_LIBMEMCACHED
  memcached_st* peer = memcached_create(nullptr);
  memcached_behavior_set(peer, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
  for (std::size_t i = 0; i < kNodes; ++i) {
    memcached_server_add_with_weight(peer, "10.0.0.1", static_cast<in_port_t>(12000 + i), 1);
  }
  subjects.push_back(
      {"key to node, libmemcached " + std::string(memcached_lib_version()), kLookups, [&] {
         for (const auto& key : world.keys)
           sink += memcached_generate_hash(peer, key.data(), key.size());
       }});
#endif
  subjects.push_back({"build 100 x 128", 1, [] { build_ring(100, 128); }});
  subjects.push_back({"build 100 x 1024", 1, [] { build_ring(100, 1024); }});
  subjects.push_back({"build 1000 x 128", 1, [] { build_ring(1000, 128); }});
  for (int round = 0; round < rounds; ++round) {
    for (Subject& subject : subjects) subject.measure();
  }
  if (!as_csv) std::printf("%-32s %12s %27s %8s\n", "", "median ns", "middle half", "ratio");
  const double reference = subjects[0].at(0.5);
  for (Subject& subject : subjects) {
    if (as_csv) {
      std::printf("%s;%f\n", subject.name.c_str(), subject.at(0.5));
    } else {
      std::printf("%-32s %12.1f %12.1f - %12.1f %8.2f\n", subject.name.c_str(), subject.at(0.5),
                  subject.at(0.25), subject.at(0.75), subject.at(0.5) / reference);
    }
  }
#if NIDUS_HAVE_LIBMEMCACHED
  memcached_free(peer);
#endif
  return sink == 42 ? 1 : 0;
}
