// SPDX-License-Identifier: Apache-2.0

// Everything at once, with values that check themselves: single writes, units of writes, batches,
// counters, expiry, scans, clearing, growth and shrinking.

#include <set>
#include <unordered_map>

#include "stress_rig.hpp"

namespace nidus::engine {
namespace {

/// The only writer of its keys: it knows the state of each at every moment.
class Owner : public Role {
 public:
  using Role::Role;
  void step() override {
    const std::string name = "own:" + std::to_string(id_) + ":" + std::to_string(random(300));
    std::uint64_t& version = truth_[name];
    ASSERT_EQ(get(name), version) << name;
    if (random(3) == 0) {
      ASSERT_EQ(erase(name), version != 0);
      version = 0;
    } else {
      version = ++last_;
      ASSERT_EQ(set(name, version), WriteStatus::kOk);
    }
    ASSERT_EQ(get(name), version) << "its own last write";
  }
  void finish() override {
    for (const auto& [name, version] : truth_) ASSERT_EQ(get(name), version);
  }

 private:
  const std::uint64_t id_ = random_();
  std::uint64_t last_ = 0;
  std::unordered_map<std::string, std::uint64_t> truth_;
};

/// Read, add one, write: no increment may be lost.
class Counter : public Role {
 public:
  static constexpr int kCounters = 8;
  Counter(Shared& shared, std::uint64_t seed,
          std::array<std::atomic<std::uint64_t>, kCounters>& sums)
      : Role(shared, seed), sums_(sums) {}
  void step() override {
    const auto which = random(kCounters);
    const std::string name = "counter:" + std::to_string(which);
    Entry entry = shared_.database().lock(key(name), now());
    const std::uint64_t count =
        entry.item() == nullptr ? 0 : version_of(name, entry.item()->value());
    ASSERT_EQ(entry.set(checked_value(name, count + 1, random(64)), kNoExpiry), WriteStatus::kOk);
    ++sums_[which];
  }
  void finish() override {
    for (std::size_t i = 0; i < kCounters; ++i) {
      ASSERT_EQ(get("counter:" + std::to_string(i)), sums_[i].load());
    }
  }

 private:
  std::array<std::atomic<std::uint64_t>, kCounters>& sums_;
};

/// Three keys that always carry the same version: written as one unit, read as one batch.
class Trio : public Role {
 public:
  Trio(Shared& shared, std::uint64_t seed, bool writes) : Role(shared, seed), writes_(writes) {}
  void step() override {
    const std::string group = "trio:" + std::to_string(random(24)) + ":";
    const std::array<std::string, 3> names{group + "a", group + "b", group + "c"};
    if (writes_) {
      write(names);
    } else {
      read(names);
    }
  }

 private:
  void write(const std::array<std::string, 3>& names) {
    std::vector<KeyLocks::Target> targets;
    for (const auto& name : names) targets.push_back({&shared_.database(), key(name).hash});
    const std::uint64_t version = random(4) == 0 ? 0 : 1 + random(1'000'000);
    const KeyLocks locks(targets);
    std::set<std::uint64_t> before;
    for (const auto& name : names) before.insert(get(name));
    ASSERT_EQ(before.size(), 1u) << "another unit is half done";
    for (const auto& name : names) {
      if (version == 0) {
        erase(name);
      } else {
        ASSERT_EQ(set(name, version), WriteStatus::kOk);
      }
    }
  }
  void read(const std::array<std::string, 3>& names) {
    std::array<KeyRef, 3> keys;
    std::array<const Item*, 3> out;
    for (std::size_t i = 0; i < 3; ++i) keys[i] = key(names[i]);
    shared_.database().find_batch(keys, now(), out);
    std::set<std::uint64_t> versions;
    for (std::size_t i = 0; i < 3; ++i) {
      versions.insert(out[i] == nullptr ? 0 : version_of(names[i], out[i]->value()));
    }
    ASSERT_EQ(versions.size(), 1u) << "a batch of two moments";
  }
  const bool writes_;
};

/// Keys that expire soon, and the clock.
class Expirer : public Role {
 public:
  using Role::Role;
  void step() override {
    if (random(16) == 0) shared_.now.fetch_add(1);
    const std::string name = "expiring:" + std::to_string(random(500));
    if (random(2) == 0) {
      ASSERT_EQ(set(name, 1 + random(1'000), now() + static_cast<Millis>(random(40))),
                WriteStatus::kOk);
    }
    const Millis moment = now();
    const Item* item = shared_.database().find(key(name), moment);
    if (item == nullptr) return;
    ASSERT_GT(item->expires_at(), moment);
    version_of(name, item->value());
  }
};

/// Waves that make the table double and shrink.
class Churn : public Role {
 public:
  using Role::Role;
  void step() override {
    for (int i = 0; i < 16; ++i) {
      if (at_ == 0) growing_ = true;
      if (at_ == kWave) growing_ = false;
      if (growing_) {
        ASSERT_EQ(set(name(at_), 1 + at_), WriteStatus::kOk);
        ++at_;
      } else {
        ASSERT_TRUE(erase(name(--at_)));
      }
    }
  }

 private:
  static constexpr std::uint64_t kWave = 6'000;
  const std::uint64_t id_ = random_();
  std::string name(std::uint64_t n) const {
    return "churn:" + std::to_string(id_) + ":" + std::to_string(n);
  }
  std::uint64_t at_ = 0;
  bool growing_ = true;
};

/// SCAN's guarantee for keys that nobody writes.
class Scanner : public Role {
 public:
  static constexpr std::uint64_t kStable = 500;
  Scanner(Shared& shared, std::uint64_t seed) : Role(shared, seed) {
    for (std::uint64_t n = 0; n < kStable; ++n) set("stable:" + std::to_string(n), n + 1);
  }
  void step() override {
    cursor_ = shared_.database().scan(cursor_, 1 + random(200), now(), [this](const Item& item) {
      version_of(item.key(), item.value());
      if (item.key().starts_with("stable:")) seen_.emplace(item.key());
    });
    if (cursor_ != 0) return;
    ASSERT_EQ(seen_.size(), kStable) << "a scan missed a key that was always there";
    seen_.clear();
  }

 private:
  std::uint64_t cursor_ = 0;
  std::set<std::string> seen_;
};

class Reader : public Role {
 public:
  using Role::Role;
  void step() override {
    const std::uint64_t n = random(Scanner::kStable);
    ASSERT_EQ(get("stable:" + std::to_string(n)), n + 1) << "a key that is always there";
    if (const Item* item = shared_.database().random_item(random_(), now())) {
      version_of(item->key(), item->value());
    }
    get("other:" + std::to_string(n), 1);
  }
};

/// A database that is filled and cleared.
class Clearer : public Role {
 public:
  using Role::Role;
  void step() override {
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(set("other:" + std::to_string(random(4'000)), 1 + random(99), kNoExpiry, 1),
                WriteStatus::kOk);
    }
    if (random(200) == 0) shared_.database(1).clear();
  }
};

class Maintainer : public Role {
 public:
  using Role::Role;
  void step() override {
    shared_.keyspace.maintain(now(), 200);
    if (random(50) == 0) reclaim_now();
  }
};

struct Everything {
  explicit Everything(std::uint64_t seed) : shared({}) {
    const auto add = [this](auto role) { roles.push_back(std::move(role)); };
    add(std::make_unique<Scanner>(shared, seed));  // first: it writes the stable keys
    add(std::make_unique<Owner>(shared, seed + 1));
    add(std::make_unique<Owner>(shared, seed + 2));
    add(std::make_unique<Counter>(shared, seed + 3, sums));
    add(std::make_unique<Counter>(shared, seed + 4, sums));
    add(std::make_unique<Trio>(shared, seed + 5, true));
    add(std::make_unique<Trio>(shared, seed + 6, true));
    add(std::make_unique<Trio>(shared, seed + 7, false));
    add(std::make_unique<Expirer>(shared, seed + 8));
    add(std::make_unique<Churn>(shared, seed + 9));
    add(std::make_unique<Reader>(shared, seed + 10));
    add(std::make_unique<Clearer>(shared, seed + 11));
    add(std::make_unique<Clearer>(shared, seed + 12));
    add(std::make_unique<Maintainer>(shared, seed + 13));
  }
  void check() {
    if (testing::Test::HasFailure()) return;
    for (auto& role : roles) role->finish();
    check_at_rest(shared);
  }
  ThreadScope scope;
  Shared shared;
  std::array<std::atomic<std::uint64_t>, Counter::kCounters> sums{};
  Roles roles;
};

std::uint64_t fresh_seed() {
  const char* given = std::getenv("NIDUS_SEED");
  return given == nullptr ? std::random_device{}() : std::strtoull(given, nullptr, 10);
}

TEST(Stress, EveryRoleInTurnOnOneThread) {
  const std::uint64_t seed = fresh_seed();
  SCOPED_TRACE("NIDUS_SEED=" + std::to_string(seed));
  Everything all(seed);
  run_on_one_thread(all.roles, 3'000);
  all.check();
}

TEST(Stress, EveryRoleOnAThreadOfItsOwn) {
  const std::uint64_t seed = fresh_seed();
  SCOPED_TRACE("NIDUS_SEED=" + std::to_string(seed));
  Everything all(seed);
  run_on_threads(all.roles);
  all.check();
}

/// Writes under a memory limit; what is read is whole, whatever has been evicted meanwhile.
class Flood : public Role {
 public:
  using Role::Role;
  static constexpr std::size_t kLimit = 4 << 20;
  void step() override {
    const std::string name = "flood:" + std::to_string(random(100'000));
    const KeyRef ref = key(name);
    if (shared_.keyspace.make_room(shared_.database(), ref.hash, now())) {
      ASSERT_EQ(set(name, 1 + random(1'000)), WriteStatus::kOk);
    }
    get("flood:" + std::to_string(random(100'000)));
    if (random(64) == 0) shared_.now.fetch_add(1);
    ASSERT_LE(shared_.keyspace.memory().live_bytes(), kLimit + kLimit / 50);
  }
};

TEST(Stress, AFloodFromManyThreadsStaysWithinTheMemoryLimit) {
  for (const bool threads : {false, true}) {
    const ThreadScope scope;
    Shared shared({.memory_limit_bytes = Flood::kLimit, .policy = Policy::kAllKeysLru});
    Roles roles;
    const std::uint64_t seed = fresh_seed();
    SCOPED_TRACE("NIDUS_SEED=" + std::to_string(seed));
    for (std::uint64_t i = 0; i < 3; ++i)
      roles.push_back(std::make_unique<Flood>(shared, seed + i));
    roles.push_back(std::make_unique<Maintainer>(shared, seed + 3));
    if (threads) {
      run_on_threads(roles);
    } else {
      run_on_one_thread(roles, 20'000);
    }
    if (!HasFailure()) {
      check_at_rest(shared);
    }
  }
}

}  // namespace
}  // namespace nidus::engine
