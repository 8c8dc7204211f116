// SPDX-License-Identifier: Apache-2.0

// Starting and stopping; see server.hpp. Boost.Asio waits here for signals and the end of the
// threads.

#include "server/server.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "server/clients.hpp"
#include "server/listener.hpp"
#include "server/log.hpp"
#include "server/services.hpp"
#include "server/worker.hpp"

namespace nidus::server {

namespace {

// Descriptors beside the clients': listeners, epolls, eventfds, the log, HTTP, libraries.
constexpr std::size_t kOwnDescriptors = 64;

engine::KeyspaceOptions keyspace_options(const Config& config) {
  engine::KeyspaceOptions options;
  options.memory_limit_bytes = config.memory_limit_bytes;
  options.policy = config.policy;
  options.seed = config.hash_seed;
  return options;
}

/// Raises the limit of open files to what max_clients needs; says so when it cannot.
void make_room_for_clients(std::size_t max_clients) {
  const rlim_t wanted = max_clients + kOwnDescriptors;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < wanted) {
    // Only root may raise the hard limit.
    const rlimit higher{wanted, wanted};
    if (::setrlimit(RLIMIT_NOFILE, &higher) == 0) return;
  }
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < wanted) {
    log_warning("fewer clients than max-clients fit into the limit of open files (ulimit -n)",
                {{"max_clients", max_clients}, {"open_files", limit.rlim_cur}});
  }
}

std::size_t thread_count(const Config& config) {
  if (config.threads > 0) return static_cast<std::size_t>(config.threads);
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

struct Server::Parts {
  Parts(LiveConfig& live, ServerOptions options)
      : config(live),
        keyspace(keyspace_options(*live.current())),
        services(live, clients, workers, listeners, std::move(options), [this] { drain(); }),
        environment{keyspace,
                    live,
                    services,
                    clients,
                    listeners,
                    workers,
                    [this] { services.sample(); },
                    [this] { on_worker_exit(); }} {}

  void drain() {
    // relaxed: the messages carry what matters
    if (draining.exchange(true, std::memory_order_relaxed)) return;
    log_info("stopping: clients get their last replies");
    post_drain();
    // A worker in a long batch does not see its own deadline.
    boost::asio::post(control, [this] {
      hurry.expires_after(config.current()->drain_timeout);
      hurry.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        for (const auto& worker : workers) worker->hurry();
      });
    });
  }

  void post_drain() {
    const std::int64_t until_ms =
        Loop::milliseconds(CLOCK_MONOTONIC) + config.current()->drain_timeout.count();
    for (const auto& worker : workers) worker->post(Drain{until_ms});
  }

  void on_worker_exit() {
    // acq_rel: whoever sees 0 sees what the other threads did before they ended
    if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      boost::asio::post(control, [this] { control.stop(); });
    }
  }

  void start_workers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      workers.push_back(std::make_unique<Worker>(environment, i));
    }
    running = count;
    try {
      for (const auto& worker : workers) worker->start();
    } catch (...) {
      post_drain();
      join();
      throw;
    }
  }

  void join() {
    for (const auto& worker : workers) worker->join();
  }

  LiveConfig& config;
  engine::Keyspace keyspace;
  ClientRegistry clients;
  ListenerSet listeners;
  std::vector<std::unique_ptr<Worker>> workers;
  ServerServices services;
  Environment environment;
  boost::asio::io_context control{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      control.get_executor()};
  boost::asio::steady_timer hurry{control};
  std::atomic<std::size_t> running{0};
  std::atomic<bool> started{false}, draining{false};
  bool stopped = false;
};

Server::Server(LiveConfig& config, ServerOptions options)
    : parts_(std::make_unique<Parts>(config, std::move(options))) {}

Server::~Server() { stop(); }

Expected<void> Server::start() {
  const auto config = parts_->config.current();
  make_room_for_clients(config->max_clients);
  if (auto opened = parts_->listeners.open(*config); !opened) return opened;
  try {
    parts_->start_workers(thread_count(*config));
  } catch (const std::system_error& error) {
    parts_->listeners.close();
    return fail(std::string("cannot start the threads: ") + error.what() +
                "; check the limits of open files and processes (ulimit -n, ulimit -u)");
  }
  parts_->config.on_change([keyspace = &parts_->keyspace](const Config& changed) {
    keyspace->set_memory_limit(changed.memory_limit_bytes);
    keyspace->set_policy(changed.policy);
    set_log_level(changed.log_level);
    make_room_for_clients(changed.max_clients);
  });
  parts_->started = true;
  log_info("ready", {{"port", tcp_port()}, {"threads", parts_->workers.size()}});
  return {};
}

int Server::run(const std::function<void()>& on_armed) {
  boost::asio::signal_set signals(parts_->control, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    drain();
    signals.async_wait([](const boost::system::error_code& again, int number) {
      if (!again) std::_Exit(128 + number);
    });
  });
  if (on_armed) on_armed();
  parts_->control.run();
  signals.cancel();
  stop();
  return EXIT_SUCCESS;
}

void Server::drain() { parts_->drain(); }

void Server::stop() {
  if (!parts_->started) return;
  drain();
  parts_->join();
  parts_->listeners.close();
  if (std::exchange(parts_->stopped, true)) return;
  log_info("stopped");
}

bool Server::ready() const { return parts_->started && !parts_->draining; }

int Server::tcp_port() const { return parts_->listeners.tcp_port(); }

std::vector<std::size_t> Server::clients_by_thread() const {
  std::vector<std::size_t> out;
  for (const auto& worker : parts_->workers) out.push_back(worker->load());
  return out;
}

engine::Keyspace& Server::keyspace() { return parts_->keyspace; }

command::Services& Server::services() { return parts_->services; }

}  // namespace nidus::server
