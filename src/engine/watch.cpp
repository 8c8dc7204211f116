// SPDX-License-Identifier: Apache-2.0

// The registry of watched keys. See watch.hpp.

#include "engine/watch.hpp"

#include <algorithm>

namespace nidus::engine {

std::string WatchRegistry::name(int database, std::string_view key) {
  std::string name;
  name.reserve(key.size() + 1);
  name.push_back(static_cast<char>(database));
  name.append(key);
  return name;
}

void WatchRegistry::watch(int database, std::string_view key, std::uint64_t hash,
                          const Flag& flag) {
  Stripe& at = stripe(hash);
  const std::lock_guard lock(at.mutex);
  auto& [known_hash, flags] = at.keys[name(database, key)];
  known_hash = hash;
  if (std::find(flags.begin(), flags.end(), flag) != flags.end()) return;
  flags.push_back(flag);
  count_.fetch_add(1, std::memory_order_relaxed);  // relaxed: see touch()
}

void WatchRegistry::unwatch(int database, std::string_view key, std::uint64_t hash,
                            const Flag& flag) {
  Stripe& at = stripe(hash);
  const std::lock_guard lock(at.mutex);
  const auto found = at.keys.find(name(database, key));
  if (found == at.keys.end()) return;
  const auto removed = std::erase(found->second.flags, flag);
  count_.fetch_sub(removed, std::memory_order_relaxed);  // relaxed: see touch()
  if (found->second.flags.empty()) at.keys.erase(found);
}

void WatchRegistry::touch_slow(int database, std::string_view key, std::uint64_t hash) {
  Stripe& at = stripe(hash);
  const std::lock_guard lock(at.mutex);
  const auto found = at.keys.find(name(database, key));
  if (found == at.keys.end()) return;
  for (const Flag& flag : found->second.flags) flag->mark();
}

void WatchRegistry::touch_all(
    int database, const std::function<bool(std::string_view, std::uint64_t)>& is_there) {
  if (count_.load(std::memory_order_relaxed) == 0) return;  // relaxed: see touch()
  for (Stripe& at : stripes_) {
    const std::lock_guard lock(at.mutex);
    for (auto& [name, watched] : at.keys) {
      const std::string_view key = std::string_view(name).substr(1);
      if (name[0] != static_cast<char>(database) || !is_there(key, watched.hash)) continue;
      for (const Flag& flag : watched.flags) flag->mark();
    }
  }
}

}  // namespace nidus::engine
