// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server thread: it accepts, serves its connections and does its share of the background work.
// One turn: wait (offline for the engine, so that others may reclaim memory meanwhile), handle the
// events, go on with connections that had more to do, read the mailbox, and do what is due by time.
//
// Thread-safety: post(), load() and counters() by every thread; the rest by its own.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "server/connection.hpp"
#include "server/listener.hpp"
#include "server/live_config.hpp"
#include "server/loop.hpp"
#include "server/mailbox.hpp"

namespace nidus::server {

class Worker;

/// What all workers of a server share.
struct Environment {
  engine::Keyspace& keyspace;
  LiveConfig& config;
  command::Services& services;
  ClientRegistry& clients;
  const ListenerSet& listeners;
  const std::vector<std::unique_ptr<Worker>>& workers;
  std::function<void()> on_tick;  // by the first worker's thread, ten times a second
  std::function<void()> on_exit;  // by each worker's thread when it ends
};

class Worker {
 public:
  Worker(const Environment& environment, std::size_t index);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start();
  /// Requires: a Drain was posted.
  void join();
  /// From any thread, once the time for draining is over: a batch ends before its next command.
  void hurry() { loop_.executor.stop(); }
  void post(Message message) { mailbox_.post(std::move(message)); }

  /// Connections it serves.
  std::size_t load() const {
    // relaxed: only to choose the thread with the fewest
    return load_.load(std::memory_order_relaxed);
  }
  const WorkerCounters& counters() const { return loop_.counters; }
  WorkerCounters& counters() { return loop_.counters; }

 private:
  static constexpr std::size_t kNoPosition = static_cast<std::size_t>(-1);

  void run();
  void turn();
  int timeout_ms() const;
  /// A client's requests that were read and not yet run.
  struct Ahead {
    Connection* connection;
    std::string_view bytes;
  };
  void handle_group(std::span<const epoll_event> events);
  void fetch(std::span<const Ahead> ahead);
  void handle(const epoll_event& event);
  template <class Action>
  void guarded(Connection& connection, const Action& action);
  void resume_all();
  void remove(Connection& connection);
  void bury();
  void publish_load();

  void accept_all(Listener& listener);
  void place(AcceptedSocket socket);
  void adopt(AcceptedSocket socket);
  void listen(bool on);

  void take_mail();
  void kill(const KillClients& victims);
  void begin_drain(const Drain& order);
  void tick();
  void maintain();
  void sweep();
  bool finished() const { return loop_.draining && connections_.empty(); }

  const Environment& environment_;
  Loop loop_;
  Mailbox mailbox_;
  FileDescriptor reserve_;
  std::uint64_t config_version_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> resuming_;
  std::vector<std::unique_ptr<Connection>> graveyard_;  // closed; freed at the end of the turn
  std::atomic<std::size_t> load_{0};
  std::size_t sweep_position_ = 0;
  std::int64_t next_tick_ms_ = 0, next_maintain_ms_ = 0, next_release_ms_ = 0;
  std::int64_t drain_deadline_ms_ = 0;
  std::int64_t listen_again_ms_ = 0;  // 0: listening
  std::thread thread_;
};

}  // namespace nidus::server
