// SPDX-License-Identifier: Apache-2.0

// Gathers one scrape's figures; see http_source.hpp. It reads counters only, so it needs no
// registration with the engine.

#include "server/http_source.hpp"

#include "engine/thread.hpp"

namespace nidus::server {
namespace {

void add_server(const command::ServerInfo& info, http::Figures& out) {
  out.version = info.version;
  out.threads = static_cast<std::uint64_t>(info.threads);
  out.start_time_s = static_cast<double>(info.started_at_ms) / 1000;
  out.connected_clients = info.connected_clients;
  out.max_clients = info.max_clients;
  out.connections = info.connections_received;
  out.connections_rejected = info.connections_rejected;
  out.cut_off_query_buffer = info.query_buffer_limit_disconnections;
  out.cut_off_output_buffer = info.output_buffer_limit_disconnections;
  out.commands = info.commands_processed;
  out.received_bytes = info.net_input_bytes;
  out.sent_bytes = info.net_output_bytes;
  out.client_bytes = info.client_memory_bytes;
  out.resident_bytes = info.resident_bytes;
  out.cpu_user_s = info.cpu_user_s;
  out.cpu_system_s = info.cpu_system_s;
}

void add_keyspace(engine::Keyspace& keyspace, http::Figures& out) {
  for (int number = 0; number < engine::kDatabases; ++number) {
    const engine::Database& database = keyspace.database(number);
    out.databases.push_back({number, database.size(), database.expiring()});
  }
  const engine::KeyspaceStats stats = keyspace.stats();
  out.hits = stats.hits;
  out.misses = stats.misses;
  out.expired = stats.expired;
  out.evicted = stats.evicted;
  out.writes = stats.writes;
  out.writes_refused = stats.out_of_memory;
  const engine::MemoryAccount& memory = keyspace.memory();
  out.item_bytes = memory.item_bytes();
  out.index_bytes = memory.index_bytes();
  out.retired_bytes = engine::retired_bytes();
  out.memory_limit_bytes = memory.limit();
  out.memory_peak_bytes = memory.peak_bytes();
}

}  // namespace

http::Figures HttpSource::figures() {
  http::Figures out;
  add_server(server_.services().server_info(), out);
  add_keyspace(server_.keyspace(), out);
  return out;
}

}  // namespace nidus::server
