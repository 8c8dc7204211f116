// SPDX-License-Identifier: Apache-2.0

// The registry of clients; see clients.hpp.

#include "server/clients.hpp"

#include <algorithm>

#include "command/spec.hpp"

namespace nidus::server {

namespace {

// Every atomic of a record is a statistic with one writer.
constexpr auto kStatistic = std::memory_order_relaxed;  // relaxed: publishes no other memory

}  // namespace

ClientRecord::ClientRecord(const command::Session& session, int fd, std::size_t worker)
    : id_(session.id),
      fd_(fd),
      worker_(worker),
      address_(session.address),
      local_address_(session.local_address),
      connected_at_ms_(session.connected_at_ms),
      unix_socket_(session.unix_socket),
      active_at_ms_(session.connected_at_ms) {}

void ClientRecord::publish(const command::Session& session, std::int64_t active_at_ms) {
  active_at_ms_.store(active_at_ms, kStatistic);
  last_command_.store(session.last_command, kStatistic);
  database_.store(session.database, kStatistic);
  protocol_.store(session.protocol, kStatistic);
  multi_.store(session.in_multi ? static_cast<int>(session.queue.size()) : -1, kStatistic);
  watch_.store(static_cast<int>(session.watched.size()), kStatistic);
  std::uint32_t bits = bits_.load(kStatistic) & kClosing;
  if (session.in_multi) bits |= kMulti;
  if (session.no_evict) bits |= kNoEvict;
  if (session.no_touch) bits |= kNoTouch;
  if (session.watch_flag != nullptr && session.watch_flag->dirty()) bits |= kDirty;
  bits_.store(bits, kStatistic);
  if (session.last_subcommand != published_subcommand_) {
    published_subcommand_ = session.last_subcommand;
    const std::lock_guard lock(mutex_);
    last_subcommand_ = published_subcommand_;
  }
}

void ClientRecord::publish_buffers(std::size_t query, std::size_t query_free, std::size_t output,
                                   std::size_t total) {
  query_bytes_.store(query, kStatistic);
  query_free_bytes_.store(query_free, kStatistic);
  output_bytes_.store(output, kStatistic);
  total_bytes_.store(total, kStatistic);
}

void ClientRecord::publish_names(const command::Session& session) {
  const std::lock_guard lock(mutex_);
  name_ = session.name;
  lib_name_ = session.lib_name;
  lib_version_ = session.lib_version;
  database_.store(session.database, kStatistic);
  protocol_.store(session.protocol, kStatistic);
}

command::ClientInfo ClientRecord::info(std::int64_t now_ms) const {
  command::ClientInfo info;
  info.id = id_;
  info.address = address_;
  info.local_address = local_address_;
  info.fd = fd_;
  info.age_s = (now_ms - connected_at_ms_) / 1000;
  info.idle_s = std::max<std::int64_t>(0, now_ms - active_at_ms_.load(kStatistic)) / 1000;
  info.database = database_.load(kStatistic);
  info.protocol = protocol_.load(kStatistic);
  info.multi = multi_.load(kStatistic);
  info.watch = watch_.load(kStatistic);
  info.query_buffer_bytes = query_bytes_.load(kStatistic);
  info.query_buffer_free_bytes = query_free_bytes_.load(kStatistic);
  info.output_bytes = output_bytes_.load(kStatistic);
  info.total_memory_bytes = total_bytes_.load(kStatistic);
  const std::uint32_t bits = bits_.load(kStatistic);
  std::string flags;
  if ((bits & kMulti) != 0) flags += 'x';
  if ((bits & kDirty) != 0) flags += 'd';
  if (unix_socket_) flags += 'U';
  if ((bits & kNoEvict) != 0) flags += 'e';
  if ((bits & kNoTouch) != 0) flags += 'T';
  if (!flags.empty()) info.flags = flags;
  const command::CommandSpec* last = last_command_.load(kStatistic);
  info.last_command = last == nullptr ? "NULL" : last->name;
  const std::lock_guard lock(mutex_);
  info.name = name_;
  info.lib_name = lib_name_;
  info.lib_version = lib_version_;
  if (last != nullptr && !last_subcommand_.empty()) info.last_command += "|" + last_subcommand_;
  return info;
}

bool ClientRecord::matches(const command::KillFilter& filter, std::int64_t now_ms) const {
  if ((bits_.load(kStatistic) & kClosing) != 0) return false;
  if (filter.id != 0 && filter.id != id_) return false;
  if (!filter.address.empty() && filter.address != address_) return false;
  if (!filter.local_address.empty() && filter.local_address != local_address_) return false;
  if (!filter.user.empty() && filter.user != "default") return false;
  if (!filter.type.empty() && filter.type != "normal") return false;
  return filter.max_age_s < 0 || (now_ms - connected_at_ms_) / 1000 >= filter.max_age_s;
}

bool ClientRegistry::reserve(std::size_t limit) {
  // relaxed (all three): a bound on a number; nothing is published by it
  std::size_t count = count_.load(std::memory_order_relaxed);
  while (count < limit) {
    // relaxed: as above
    if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

void ClientRegistry::release() {
  // relaxed: a bound on a number; nothing is published by it
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void ClientRegistry::add(ClientRecord& record) {
  const std::lock_guard lock(mutex_);
  records_.emplace(record.id(), &record);
}

void ClientRegistry::remove(ClientRecord& record) {
  const std::lock_guard lock(mutex_);
  records_.erase(record.id());
}

void ClientRegistry::rename(const command::Session& session) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(session.id);
  if (found != records_.end()) found->second->publish_names(session);
}

std::vector<command::ClientInfo> ClientRegistry::list(std::int64_t now_ms) const {
  std::vector<command::ClientInfo> out;
  const std::lock_guard lock(mutex_);
  out.reserve(records_.size());
  for (const auto& [id, record] : records_) {
    if ((record->bits_.load(kStatistic) & ClientRecord::kClosing) == 0) {
      out.push_back(record->info(now_ms));
    }
  }
  return out;
}

std::vector<ClientRegistry::Victim> ClientRegistry::choose_victims(
    const command::KillFilter& filter, std::uint64_t self, std::int64_t now_ms) {
  std::vector<Victim> victims;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, record] : records_) {
    if (id == self && filter.skip_me) continue;
    if (!record->matches(filter, now_ms)) continue;
    victims.push_back({id, record->worker()});
    if (id != self) record->bits_.fetch_or(ClientRecord::kClosing, kStatistic);
  }
  return victims;
}

}  // namespace nidus::server
