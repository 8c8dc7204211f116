// SPDX-License-Identifier: Apache-2.0

// What commands need of the server; see services.hpp.

#include "server/services.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <utility>

namespace nidus::server {

namespace {

std::int64_t unix_ms() { return Loop::milliseconds(CLOCK_REALTIME); }

std::string random_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device device;
  std::string id(40, '0');
  for (char& digit : id) digit = kDigits[device() % 16];
  return id;
}

std::size_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0, resident = 0;
  const int read = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void add_process(command::ServerInfo& info) {
  info.process_id = ::getpid();
  utsname names{};
  ::uname(&names);
  info.os = std::string(names.sysname) + " " + names.release + " " + names.machine;
  info.arch = names.machine;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  info.cpu_user_s = seconds(usage.ru_utime);
  info.cpu_system_s = seconds(usage.ru_stime);
  info.resident_bytes = resident_bytes();
  // In KiB; it may lag behind what statm says now.
  const auto peak = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  info.peak_resident_bytes = std::max(info.resident_bytes, peak);
  info.system_memory_bytes = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                             static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

bool equal_in_constant_time(std::string_view secret, std::string_view given) {
  // One more byte, so that an empty secret has something to compare with.
  const std::string padded = std::string(secret) + '\0';
  unsigned difference = secret.size() == given.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto a = static_cast<unsigned char>(padded[i % padded.size()]);
    difference |= static_cast<unsigned>(a ^ static_cast<unsigned char>(given[i]));
  }
  return difference == 0;
}

ServerServices::ServerServices(LiveConfig& config, ClientRegistry& clients, const Workers& workers,
                               const ListenerSet& listeners, ServerOptions options,
                               std::function<void()> shut_down)
    : config_(config),
      clients_(clients),
      workers_(workers),
      listeners_(listeners),
      options_(std::move(options)),
      shut_down_(std::move(shut_down)),
      run_id_(random_id()),
      started_at_ms_(unix_ms()) {}

ServerServices::Totals ServerServices::totals() const {
  Totals sum;
  for (const auto& worker : workers_) {
    const WorkerCounters& counters = worker->counters();
    sum.connections_received += counters.connections_received.get();
    sum.connections_rejected += counters.connections_rejected.get();
    sum.requests += counters.requests.get();
    sum.input_bytes += counters.input_bytes.get();
    sum.output_bytes += counters.output_bytes.get();
    sum.query_limit_disconnections += counters.query_limit_disconnections.get();
    sum.output_limit_disconnections += counters.output_limit_disconnections.get();
  }
  return sum;
}

void ServerServices::add_counters(command::ServerInfo& info) const {
  const Totals now = totals();
  info.connections_received = now.connections_received - baseline_.connections_received;
  info.connections_rejected = now.connections_rejected - baseline_.connections_rejected;
  info.commands_processed = now.requests - baseline_.requests;
  info.net_input_bytes = now.input_bytes - baseline_.input_bytes;
  info.net_output_bytes = now.output_bytes - baseline_.output_bytes;
  info.query_buffer_limit_disconnections =
      now.query_limit_disconnections - baseline_.query_limit_disconnections;
  info.output_buffer_limit_disconnections =
      now.output_limit_disconnections - baseline_.output_limit_disconnections;
  for (const auto& worker : workers_) {
    const WorkerCounters& counters = worker->counters();
    info.client_memory_bytes += counters.buffer_bytes.get();
    info.largest_input_bytes =
        std::max(info.largest_input_bytes, counters.largest_input_bytes.get());
    info.largest_output_bytes =
        std::max(info.largest_output_bytes, counters.largest_output_bytes.get());
  }
}

void ServerServices::sample() {
  const Totals now = totals();
  const std::int64_t at_ms = Loop::milliseconds(CLOCK_MONOTONIC);
  const std::lock_guard lock(mutex_);
  samples_[next_sample_++ % samples_.size()] = {at_ms, now.requests, now.input_bytes,
                                                now.output_bytes};
}

/// Over the samples kept, the last second and a half.
void ServerServices::add_rates(command::ServerInfo& info) const {
  if (next_sample_ < 2) return;
  const std::size_t count = std::min(next_sample_, samples_.size());
  const Sample& newest = samples_[(next_sample_ - 1) % samples_.size()];
  const Sample& oldest = samples_[(next_sample_ - count) % samples_.size()];
  const std::int64_t passed_ms = newest.at_ms - oldest.at_ms;
  if (passed_ms <= 0) return;
  const auto passed_s = static_cast<double>(passed_ms) / 1000;
  const auto rate = [passed_s](std::uint64_t before, std::uint64_t after) {
    return static_cast<double>(after - before) / passed_s;
  };
  info.ops_per_second = static_cast<std::uint64_t>(rate(oldest.requests, newest.requests));
  info.input_kbps = rate(oldest.input_bytes, newest.input_bytes) / 1024;
  info.output_kbps = rate(oldest.output_bytes, newest.output_bytes) / 1024;
}

command::ServerInfo ServerServices::server_info() {
  command::ServerInfo info;
  info.version = NIDUS_VERSION;
  info.executable = options_.executable;
  info.config_file = options_.config_file;
  info.run_id = run_id_;
  info.tcp_port = listeners_.tcp_port();
  info.threads = static_cast<int>(workers_.size());
  info.started_at_ms = started_at_ms_;
  info.uptime_s = (unix_ms() - started_at_ms_) / 1000;
  info.connected_clients = clients_.count();
  info.max_clients = config_.current()->max_clients;
  add_process(info);
  const std::lock_guard lock(mutex_);
  add_counters(info);
  add_rates(info);
  return info;
}

void ServerServices::reset_stats() {
  const std::lock_guard lock(mutex_);
  baseline_ = totals();
}

std::vector<command::ClientInfo> ServerServices::clients() {
  const std::int64_t now_ms = unix_ms();
  if (running_client.record != nullptr) {
    running_client.record->publish(*running_client.session, now_ms);
  }
  return clients_.list(now_ms);
}

std::size_t ServerServices::kill_clients(const command::KillFilter& filter,
                                         command::Session& self) {
  const auto victims = clients_.choose_victims(filter, self.id, unix_ms());
  std::map<std::size_t, KillClients> by_worker;  // ids come in their order
  for (const auto& victim : victims) {
    if (victim.id == self.id) {
      self.close_after_reply = true;
    } else {
      by_worker[victim.worker].ids.push_back(victim.id);
    }
  }
  for (auto& [worker, ids] : by_worker) workers_[worker]->post(std::move(ids));
  return victims.size();
}

void ServerServices::session_changed(const command::Session& session) { clients_.rename(session); }

void ServerServices::config_get(
    const std::vector<std::string_view>& patterns,
    const std::function<void(std::string_view, std::string_view)>& visit) {
  config_.get(patterns, visit);
}

Expected<void> ServerServices::config_set(
    const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  return config_.set(values);
}

bool ServerServices::open_to_all() { return config_.current()->password.empty(); }

bool ServerServices::check_password(std::string_view user, std::string_view password) {
  const auto config = config_.current();
  if (config->password.empty()) return user == "default";
  return equal_in_constant_time(config->password, password) && user == "default";
}

}  // namespace nidus::server
