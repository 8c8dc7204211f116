// SPDX-License-Identifier: Apache-2.0

// INFO's sections (info.hpp). Each is a function that appends its fields; one table names them.

#include "command/info.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "command/arguments.hpp"
#include "command/info_lines.hpp"
#include "engine/thread.hpp"

namespace nidus::command {
namespace {

struct Sources {
  engine::Keyspace& keyspace;
  ServerInfo server;
  engine::KeyspaceStats stats;
  MemoryUse memory;
  engine::Millis now;
};

void server_section(InfoLines& out, const Sources& from) {
  const ServerInfo& server = from.server;
  out.field("redis_version", kRedisVersion);
  out.field("redis_git_sha1", server.git.empty() ? "00000000" : server.git);
  out.field("redis_git_dirty", 0);
  out.field("redis_mode", "standalone");
  out.field("server_name", "nidus");
  out.field("nidus_version", server.version);
  out.field("os", server.os + " " + server.arch);
  out.field("arch_bits", 8 * sizeof(void*));
  out.field("multiplexing_api", "epoll");
  out.field("process_id", server.process_id);
  out.field("process_supervised", "no");
  out.field("run_id", server.run_id);
  out.field("tcp_port", server.tcp_port);
  out.field("server_time_usec", from.now * 1000);
  out.field("uptime_in_seconds", server.uptime_s);
  out.field("uptime_in_days", server.uptime_s / 86'400);
  out.field("executable", server.executable);
  out.field("config_file", server.config_file);
  out.field("io_threads_active", server.threads > 1 ? 1 : 0);
  out.field("nidus_threads", server.threads);
}

void clients_section(InfoLines& out, const Sources& from) {
  const ServerInfo& server = from.server;
  out.field("connected_clients", server.connected_clients);
  out.field("cluster_connections", 0);
  out.field("maxclients", server.max_clients);
  out.field("client_recent_max_input_buffer", server.largest_input_bytes);
  out.field("client_recent_max_output_buffer", server.largest_output_bytes);
  out.field("blocked_clients", server.blocked_clients);
  out.field("tracking_clients", 0);
  out.field("clients_in_timeout_table", 0);
}

void memory_section(InfoLines& out, const Sources& from) {
  const ServerInfo& server = from.server;
  const MemoryUse& memory = from.memory;
  const std::size_t used = memory.total();
  const std::size_t peak = std::max(used, from.keyspace.memory().peak_bytes());
  const std::size_t limit = from.keyspace.memory().limit();
  out.bytes("used_memory", used);
  out.bytes("used_memory_rss", server.resident_bytes);
  out.bytes("used_memory_peak", peak);
  out.percent("used_memory_peak_perc", used, peak);
  out.field("used_memory_overhead", used - memory.items);
  out.field("used_memory_startup", 0);
  out.field("used_memory_dataset", memory.items);
  out.percent("used_memory_dataset_perc", memory.items, used);
  out.bytes("total_system_memory", server.system_memory_bytes);
  out.bytes("maxmemory", limit);
  out.field("maxmemory_policy", engine::policy_name(from.keyspace.policy()));
  out.ratio("mem_fragmentation_ratio", server.resident_bytes, used);
  out.field("mem_fragmentation_bytes",
            static_cast<std::int64_t>(server.resident_bytes) - static_cast<std::int64_t>(used));
  out.field("mem_not_counted_for_evict", memory.retired + memory.clients);
  out.field("mem_clients_normal", memory.clients);
  out.field("mem_clients_slaves", 0);
  out.field("mem_allocator", "mimalloc");
  out.field("nidus_memory_items", memory.items);
  out.field("nidus_memory_index", memory.index);
  out.field("nidus_memory_retired", memory.retired);
  out.field("nidus_memory_client_buffers", memory.clients);
  out.field("nidus_memory_rss_peak", server.peak_resident_bytes);
}

// Data lives in memory only: nothing is loaded, nothing is saved.
void persistence_section(InfoLines& out, const Sources& from) {
  out.field("loading", 0);
  out.field("async_loading", 0);
  out.field("rdb_changes_since_last_save", from.stats.writes);
  out.field("rdb_bgsave_in_progress", 0);
  out.field("rdb_last_save_time", from.server.started_at_ms / 1000);
  out.field("rdb_last_bgsave_status", "ok");
  out.field("rdb_last_bgsave_time_sec", -1);
  out.field("rdb_current_bgsave_time_sec", -1);
  out.field("aof_enabled", 0);
  out.field("aof_rewrite_in_progress", 0);
  out.field("aof_rewrite_scheduled", 0);
  out.field("aof_last_rewrite_time_sec", -1);
  out.field("aof_current_rewrite_time_sec", -1);
  out.field("aof_last_bgrewrite_status", "ok");
  out.field("aof_last_write_status", "ok");
}

void stats_section(InfoLines& out, const Sources& from) {
  const ServerInfo& server = from.server;
  const engine::KeyspaceStats& stats = from.stats;
  out.field("total_connections_received", server.connections_received);
  out.field("total_commands_processed", server.commands_processed);
  out.field("instantaneous_ops_per_sec", server.ops_per_second);
  out.field("total_net_input_bytes", server.net_input_bytes);
  out.field("total_net_output_bytes", server.net_output_bytes);
  out.decimal("instantaneous_input_kbps", server.input_kbps, 2);
  out.decimal("instantaneous_output_kbps", server.output_kbps, 2);
  out.field("rejected_connections", server.connections_rejected);
  out.field("sync_full", 0);
  out.field("sync_partial_ok", 0);
  out.field("sync_partial_err", 0);
  out.field("expired_keys", stats.expired);
  out.field("evicted_keys", stats.evicted);
  out.field("evicted_clients", 0);
  out.field("keyspace_hits", stats.hits);
  out.field("keyspace_misses", stats.misses);
  out.field("pubsub_channels", 0);
  out.field("pubsub_patterns", 0);
  out.field("latest_fork_usec", 0);
  out.field("total_forks", 0);
  out.field("client_query_buffer_limit_disconnections", server.query_buffer_limit_disconnections);
  out.field("client_output_buffer_limit_disconnections", server.output_buffer_limit_disconnections);
  out.field("nidus_key_writes", stats.writes);
  out.field("nidus_out_of_memory_errors", stats.out_of_memory);
}

void replication_section(InfoLines& out, const Sources& from) {
  out.field("role", "master");
  out.field("connected_slaves", 0);
  out.field("master_failover_state", "no-failover");
  out.field("master_replid", from.server.run_id);
  out.field("master_replid2", std::string(40, '0'));
  out.field("master_repl_offset", 0);
  out.field("second_repl_offset", -1);
  out.field("repl_backlog_active", 0);
  out.field("repl_backlog_size", 0);
  out.field("repl_backlog_first_byte_offset", 0);
  out.field("repl_backlog_histlen", 0);
}

void cpu_section(InfoLines& out, const Sources& from) {
  out.decimal("used_cpu_sys", from.server.cpu_system_s, 6);
  out.decimal("used_cpu_user", from.server.cpu_user_s, 6);
  out.decimal("used_cpu_sys_children", 0, 6);  // there are no child processes
  out.decimal("used_cpu_user_children", 0, 6);
}

void modules_section(InfoLines&, const Sources&) {}  // there are none

void cluster_section(InfoLines& out, const Sources&) { out.field("cluster_enabled", 0); }

// The mean rest of life of some keys that expire, picked at random. Cost: kTries look-ups.
engine::Millis average_ttl_ms(engine::Database& database, engine::Millis now) {
  constexpr int kTries = 32;
  engine::Millis sum = 0;
  int found = 0;
  std::uint64_t random = static_cast<std::uint64_t>(now);
  for (int i = 0; i < kTries; ++i) {
    // The multiplier of Knuth's MMIX generator; its high bits are well spread.
    random = random * 6364136223846793005u + 1442695040888963407u;
    const engine::Item* item = database.random_item(random ^ (random >> 32), now);
    if (item == nullptr || !item->has_expiry()) continue;
    // A step towards the mean: sums of far expiries would overflow.
    sum += (item->expires_at() - now - sum) / ++found;
  }
  return sum;
}

void keyspace_section(InfoLines& out, const Sources& from) {
  for (int i = 0; i < engine::kDatabases; ++i) {
    engine::Database& database = from.keyspace.database(i);
    const std::size_t keys = database.size();
    if (keys == 0) continue;
    const std::size_t expiring = database.expiring();
    const engine::Millis ttl = expiring == 0 ? 0 : average_ttl_ms(database, from.now);
    out.field("db" + std::to_string(i), "keys=" + std::to_string(keys) +
                                            ",expires=" + std::to_string(expiring) +
                                            ",avg_ttl=" + std::to_string(ttl));
  }
}

struct Section {
  std::string_view name, title;
  bool in_default;
  void (*write)(InfoLines&, const Sources&);
};

constexpr Section kSections[] = {
    {"server", "Server", true, server_section},
    {"clients", "Clients", true, clients_section},
    {"memory", "Memory", true, memory_section},
    {"persistence", "Persistence", true, persistence_section},
    {"stats", "Stats", true, stats_section},
    {"replication", "Replication", true, replication_section},
    {"cpu", "CPU", true, cpu_section},
    {"modules", "Modules", true, modules_section},
    {"cluster", "Cluster", true, cluster_section},
    {"keyspace", "Keyspace", true, keyspace_section},
};

bool is_wanted(const Section& section, std::span<const std::string_view> names) {
  if (names.empty()) return section.in_default;
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return is_word(name, section.name) || is_word(name, "all") || is_word(name, "everything") ||
           (is_word(name, "default") && section.in_default);
  });
}

}  // namespace

MemoryUse memory_use(engine::Keyspace& keyspace, const ServerInfo& server) {
  return {keyspace.memory().item_bytes(), keyspace.memory().index_bytes(), engine::retired_bytes(),
          server.client_memory_bytes};
}

std::string info_text(engine::Keyspace& keyspace, Services& services,
                      std::span<const std::string_view> sections, engine::Millis now) {
  const ServerInfo server = services.server_info();
  const Sources from{keyspace, server, keyspace.stats(), memory_use(keyspace, server), now};
  InfoLines out;
  for (const Section& section : kSections) {
    if (!is_wanted(section, sections)) continue;
    out.title(section.title);
    section.write(out, from);
  }
  return out.take();
}

void info_command(Context& context) {
  context.reply.verbatim(
      "txt", info_text(context.keyspace, context.services, context.args.subspan(1), context.now));
}

}  // namespace nidus::command
