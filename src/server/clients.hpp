// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clients of all threads in one place, for CLIENT LIST, CLIENT KILL and maxclients. A client
// belongs to the thread that serves it; what other threads may see of it is its ClientRecord, which
// that thread brings up to date after each batch.
//
// Thread-safety: every call from every thread.
// Lock order:    the registry's mutex before a record's.
// Invariant:     a record is registered for as long as it exists, so that the registry's mutex is
//                enough to read any of them.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "command/services.hpp"
#include "command/session.hpp"

namespace nidus::server {

/// What other threads may know of a client.
class ClientRecord {
 public:
  ClientRecord(const command::Session& session, int fd, std::size_t worker);

  /// By the owning thread, once a batch. Cost: a handful of plain stores; a lock only when the
  /// subcommand is another than last time.
  void publish(const command::Session& session, std::int64_t active_at_ms);
  void publish_buffers(std::size_t query, std::size_t query_free, std::size_t output,
                       std::size_t total);
  /// By the owning thread, when the names have changed.
  void publish_names(const command::Session& session);

  command::ClientInfo info(std::int64_t now_ms) const;
  bool matches(const command::KillFilter& filter, std::int64_t now_ms) const;

  std::uint64_t id() const { return id_; }
  std::size_t worker() const { return worker_; }

 private:
  friend class ClientRegistry;
  enum Bit : std::uint32_t { kMulti = 1, kDirty = 2, kClosing = 4, kNoEvict = 8, kNoTouch = 16 };

  const std::uint64_t id_;
  const int fd_;
  const std::size_t worker_;
  const std::string address_, local_address_;
  const std::int64_t connected_at_ms_;
  const bool unix_socket_;

  // One writer, the owning thread; readers may see one field newer than another.
  std::atomic<std::int64_t> active_at_ms_;
  std::atomic<const command::CommandSpec*> last_command_{nullptr};
  std::atomic<int> database_{0}, protocol_{2}, multi_{-1}, watch_{0};
  std::atomic<std::uint32_t> bits_{0};
  std::atomic<std::size_t> query_bytes_{0}, query_free_bytes_{0}, output_bytes_{0}, total_bytes_{0};

  mutable std::mutex mutex_;  // of what stands below
  std::string name_, lib_name_, lib_version_, last_subcommand_;
  std::string published_subcommand_;  // the owner's copy, read without the mutex
};

/// The client whose batch this thread runs now: its own CLIENT LIST shows it as it is, not as the
/// batch before left it.
struct RunningClient {
  ClientRecord* record = nullptr;
  const command::Session* session = nullptr;
};
inline thread_local RunningClient running_client;

class ClientRegistry {
 public:
  /// A new client's id; ids are never used twice.
  std::uint64_t next_id() {
    // relaxed: only its being unique matters
    return next_id_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Takes a place among at most `limit` clients; false: there is none. Give it back by release().
  bool reserve(std::size_t limit);
  void release();

  void add(ClientRecord& record);
  void remove(ClientRecord& record);
  void rename(const command::Session& session);

  std::size_t count() const {
    // relaxed: a statistic
    return count_.load(std::memory_order_relaxed);
  }
  /// In the order of ids.
  std::vector<command::ClientInfo> list(std::int64_t now_ms) const;

  struct Victim {
    std::uint64_t id;
    std::size_t worker;
  };
  /// Those that match, `self` only if the filter does not skip it; they no longer show in list().
  std::vector<Victim> choose_victims(const command::KillFilter& filter, std::uint64_t self,
                                     std::int64_t now_ms);

 private:
  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<std::size_t> count_{0};
  mutable std::mutex mutex_;
  std::map<std::uint64_t, ClientRecord*> records_;
};

}  // namespace nidus::server
