// SPDX-License-Identifier: Apache-2.0
#pragma once

// The settings of a running server: CONFIG GET and CONFIG SET, and what every worker reads.
// A worker keeps the shared_ptr of current() and asks again when version() has moved, so that a
// batch costs one load. Which names exist and which may change stands in config_table.hpp; Redis'
// settings that have no counterpart here stand in config_redis.hpp.
//
// Thread-safety: every call from every thread.
// Publish:       set() stores the new Config before it raises version().

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/base/error.hpp>

#include "server/config.hpp"

namespace nidus::server {

class LiveConfig {
 public:
  explicit LiveConfig(Config config);
  LiveConfig(const LiveConfig&) = delete;
  LiveConfig& operator=(const LiveConfig&) = delete;

  std::shared_ptr<const Config> current() const;

  /// Moves with every change. Cost: one load.
  std::uint64_t version() const {
    // acquire: pairs with set()'s release, so that current() is then at least that new
    return version_.load(std::memory_order_acquire);
  }

  /// Calls visit(name, value) once for each parameter (Redis' names, then nidus' own where there
  /// is no Redis name) that one of the glob patterns matches, in any case. Values as Redis writes
  /// them: bytes and seconds as plain numbers, yes or no.
  void get(const std::vector<std::string_view>& patterns,
           const std::function<void(std::string_view, std::string_view)>& visit) const;

  /// Sets all or none; values with units ("64mb", "30s") are accepted. Errors: the text after
  /// "-ERR ", as Redis writes it.
  Expected<void> set(const std::vector<std::pair<std::string_view, std::string_view>>& values);

  /// Called with the new Config after each change, one call at a time, by the thread that changed
  /// it: for what does not poll version() (the keyspace's limit and policy, the log's level).
  /// `apply` may not call this LiveConfig.
  void on_change(std::function<void(const Config&)> apply);

 private:
  mutable std::mutex mutex_;  // of what stands below
  std::shared_ptr<const Config> config_;
  std::map<std::string, std::string, std::less<>> inert_;  // Redis' settings, accepted and kept
  std::vector<std::function<void(const Config&)>> apply_;
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace nidus::server
