// SPDX-License-Identifier: Apache-2.0

// The loop of a server thread; see worker.hpp. How it takes new connections stands in
// worker_accept.cpp.

#include "server/worker.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "engine/thread.hpp"
#include "resp/peek.hpp"
#include "server/log.hpp"

namespace nidus::server {

namespace {

// How often the allocator is asked to give back what a burst has left.
constexpr std::int64_t kReleaseMs = 2000;

constexpr std::int64_t kTickMs = 100, kDrainTickMs = 20;
// A connection is swept every kSweepTicks ticks: once a second.
constexpr std::size_t kSweepTicks = 10;

// The engine's background work: at most this long at a time, ten times a second, or every
// kBehindMs while there is more to do (then a fifth of one thread).
constexpr std::int64_t kMaintainUs = 500, kMaintainMs = 100, kBehindMs = 2;

}  // namespace

Worker::Worker(const Environment& environment, std::size_t index)
    : environment_(environment),
      loop_(environment.keyspace, environment.services, environment.clients, index),
      reserve_(open_reserve()) {
  loop_.config = environment.config.current();
  loop_.poller.add(mailbox_.fd(), EPOLLIN, &mailbox_);
}

void Worker::start() {
  // Signals are for the thread that runs the server.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const std::string name = "nidus-" + std::to_string(loop_.worker);
  pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::run() {
  {
    const engine::ThreadScope scope;
    loop_.update_clock();
    listen(true);
    while (!finished()) turn();
    bury();
  }
  environment_.on_exit();
}

void Worker::turn() {
  const int timeout = timeout_ms();
  if (timeout != 0) engine::ThreadScope::offline();
  const auto events = loop_.poller.wait(timeout);
  if (timeout != 0) engine::ThreadScope::online();
  loop_.update_clock();
  if (const std::uint64_t version = environment_.config.version(); version != config_version_) {
    config_version_ = version;
    loop_.config = environment_.config.current();
  }
  for (std::size_t i = 0; i < events.size(); i += Loop::kAheadConnections) {
    handle_group(events.subspan(i, std::min(Loop::kAheadConnections, events.size() - i)));
  }
  if (!loop_.again.empty()) resume_all();
  if (loop_.steady_ms >= next_tick_ms_) tick();
  if (loop_.steady_ms >= next_maintain_ms_) maintain();
  if (!graveyard_.empty()) bury();
  if (timeout == 0) engine::ThreadScope::quiescent();
}

int Worker::timeout_ms() const {
  if (!loop_.again.empty()) return 0;
  const std::int64_t due = std::min(next_tick_ms_, next_maintain_ms_);
  return static_cast<int>(std::max<std::int64_t>(0, due - loop_.steady_ms));
}

/// Runs a connection's action; what one client cannot get memory for costs only that client.
template <class Action>
void Worker::guarded(Connection& connection, const Action& action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    log_error("client cut off: out of memory", {{"client", connection.id()}});
    connection.close();
  }
  if (connection.closed()) remove(connection);
}

/// Events of one group: first all simple reads, then the keys that they will need are fetched side
/// by side, then they run. With one request a read, memory latency is what the server adds to its
/// system calls.
void Worker::handle_group(std::span<const epoll_event> events) {
  if (events.size() == 1) return handle(events[0]);
  std::array<Ahead, Loop::kAheadConnections> ahead;
  std::size_t count = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    auto* target = static_cast<EventTarget*>(events[i].data.ptr);
    if (target->kind != EventTarget::Kind::kConnection) {
      handle(events[i]);
      continue;
    }
    auto& connection = static_cast<Connection&>(*target);
    guarded(connection, [&] {
      const auto bytes =
          connection.read_ahead(events[i].events, loop_.ahead.get() + i * Loop::kAheadBytes);
      if (!bytes) return connection.on_events(events[i].events);
      if (!bytes->empty()) ahead[count++] = {&connection, *bytes};
    });
  }
  fetch({ahead.data(), count});
  for (std::size_t i = 0; i < count; ++i) {
    guarded(*ahead[i].connection, [&] { ahead[i].connection->run_ahead(ahead[i].bytes); });
  }
}

/// Starts the loads of each client's first key: buckets, then items.
void Worker::fetch(std::span<const Ahead> ahead) {
  std::array<std::uint64_t, Loop::kAheadConnections> hashes;
  std::array<const engine::Database*, Loop::kAheadConnections> databases;
  std::size_t count = 0;
  for (const Ahead& one : ahead) {
    const std::string_view key = resp::peek_second_argument(one.bytes);
    if (key.empty()) continue;
    databases[count] = &loop_.keyspace.database(one.connection->database());
    hashes[count] = loop_.keyspace.hash(key);
    databases[count]->prefetch_bucket(hashes[count]);
    ++count;
  }
  for (std::size_t i = 0; i < count; ++i) databases[i]->prefetch_item(hashes[i]);
}

void Worker::handle(const epoll_event& event) {
  auto* target = static_cast<EventTarget*>(event.data.ptr);
  switch (target->kind) {
    case EventTarget::Kind::kConnection: {
      auto& connection = static_cast<Connection&>(*target);
      return guarded(connection, [&] { connection.on_events(event.events); });
    }
    case EventTarget::Kind::kListener:
      return accept_all(static_cast<Listener&>(*target));
    case EventTarget::Kind::kMailbox:
      return take_mail();
  }
}

void Worker::resume_all() {
  // What queues itself again belongs to the next turn: one read each, so that nobody starves.
  std::swap(resuming_, loop_.again);
  for (Connection* connection : resuming_) {
    guarded(*connection, [&] { connection->resume(); });
  }
  resuming_.clear();
}

/// Takes a closed connection out of the list; its memory is freed at the end of the turn, because
/// events of this turn and Loop::again may still point to it.
void Worker::remove(Connection& connection) {
  const std::size_t at = connection.position;
  if (at == kNoPosition) return;
  connection.position = kNoPosition;
  graveyard_.push_back(std::move(connections_[at]));
  if (at + 1 != connections_.size()) {
    connections_[at] = std::move(connections_.back());
    connections_[at]->position = at;
  }
  connections_.pop_back();
  publish_load();
}

void Worker::bury() {
  std::erase_if(loop_.again, [](const Connection* connection) { return connection->closed(); });
  graveyard_.clear();
}

void Worker::publish_load() {
  // relaxed: only to choose the thread with the fewest
  load_.store(connections_.size(), std::memory_order_relaxed);
}

void Worker::take_mail() {
  for (Message& message : mailbox_.take()) {
    if (auto* socket = std::get_if<AcceptedSocket>(&message)) {
      adopt(std::move(*socket));
    } else if (const auto* victims = std::get_if<KillClients>(&message)) {
      kill(*victims);
    } else {
      begin_drain(std::get<Drain>(message));
    }
  }
}

void Worker::kill(const KillClients& victims) {
  for (std::size_t i = connections_.size(); i-- > 0;) {
    Connection& connection = *connections_[i];
    if (!std::binary_search(victims.ids.begin(), victims.ids.end(), connection.id())) continue;
    connection.close();
    remove(connection);
  }
}

void Worker::begin_drain(const Drain& order) {
  if (loop_.draining) return;
  loop_.draining = true;
  listen(false);
  drain_deadline_ms_ = order.until_ms;
  next_tick_ms_ = loop_.steady_ms;
}

void Worker::tick() {
  next_tick_ms_ = loop_.steady_ms + (loop_.draining ? kDrainTickMs : kTickMs);
  if (listen_again_ms_ != 0 && loop_.steady_ms >= listen_again_ms_) listen(true);
  sweep();
  if (loop_.steady_ms >= next_release_ms_) {
    next_release_ms_ = loop_.steady_ms + kReleaseMs;
    engine::release_free_memory();
  }
  if (loop_.worker == 0) environment_.on_tick();
}

void Worker::maintain() {
  // One thread does it for all; for the others its time never comes.
  next_maintain_ms_ = loop_.worker == 0 ? loop_.steady_ms + kMaintainMs : INT64_MAX;
  if (loop_.worker != 0) return;
  if (loop_.keyspace.maintain(loop_.unix_ms, kMaintainUs)) {
    next_maintain_ms_ = loop_.steady_ms + kBehindMs;
  }
}

void Worker::sweep() {
  const bool all = loop_.draining;
  const bool too_late = all && loop_.steady_ms >= drain_deadline_ms_;
  std::size_t left = all ? connections_.size() : connections_.size() / kSweepTicks + 1;
  for (; left > 0 && !connections_.empty(); --left) {
    // Downwards: removing moves the last connection here, and that one has been swept.
    if (sweep_position_ == 0 || sweep_position_ > connections_.size()) {
      sweep_position_ = connections_.size();
    }
    Connection& connection = *connections_[--sweep_position_];
    guarded(connection, [&] {
      connection.sweep();
      if (all) too_late ? connection.close() : connection.drain();
    });
  }
}

}  // namespace nidus::server
