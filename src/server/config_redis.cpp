// SPDX-License-Identifier: Apache-2.0

// The table of Redis' settings without a counterpart; names and values as redis-server 7.0.15 gives
// them to CONFIG GET. See config_redis.hpp.

#include "server/config_redis.hpp"

#include "server/config_text.hpp"

namespace nidus::server {
namespace {

constexpr std::string_view kNoFiles = "this server keeps its data in memory only";
constexpr std::string_view kNoCluster = "this server is not a node of a cluster";
constexpr std::string_view kNoEvents = "keyspace events are not supported";
constexpr std::string_view kNoSlowlog = "the slow log is not supported";
constexpr std::string_view kNoLatency = "latency tracking is not supported";
constexpr std::string_view kNoEviction = "clients are limited one by one, by output-limit";
constexpr std::string_view kNoDefrag = "the allocator needs no defragmentation";
constexpr std::string_view kNoScripts = "scripts are not supported";

constexpr RedisSetting kSettings[] = {
    {"save", "", kNoFiles},
    {"appendonly", "no", kNoFiles},
    {"appendfsync", "everysec", kNoFiles},
    {"rdbcompression", "yes", kNoFiles},
    {"dbfilename", "", kNoFiles},
    {"cluster-enabled", "no", kNoCluster},
    {"notify-keyspace-events", "", kNoEvents},
    {"slowlog-log-slower-than", "-1", kNoSlowlog},
    {"slowlog-max-len", "0", kNoSlowlog},
    {"latency-tracking", "no", kNoLatency},
    {"latency-tracking-info-percentiles", "", kNoLatency},
    {"latency-monitor-threshold", "0", kNoLatency},
    {"maxmemory-clients", "0", kNoEviction},
    {"activedefrag", "no", kNoDefrag},
    {"lua-time-limit", "0", kNoScripts},
    {"busy-reply-threshold", "0", kNoScripts},
    {"hash-max-listpack-entries", "512", ""},
    {"hash-max-listpack-value", "64", ""},
    {"hash-max-ziplist-entries", "512", ""},
    {"hash-max-ziplist-value", "64", ""},
    {"list-max-listpack-size", "-2", ""},
    {"list-max-ziplist-size", "-2", ""},
    {"list-compress-depth", "0", ""},
    {"set-max-intset-entries", "512", ""},
    {"zset-max-listpack-entries", "128", ""},
    {"zset-max-listpack-value", "64", ""},
    {"zset-max-ziplist-entries", "128", ""},
    {"zset-max-ziplist-value", "64", ""},
    {"stream-node-max-bytes", "4096", ""},
    {"stream-node-max-entries", "100", ""},
    {"hll-sparse-max-bytes", "3000", ""},
    {"maxmemory-samples", "5", ""},
    {"hz", "10", ""},
    {"dynamic-hz", "yes", ""},
    {"lazyfree-lazy-eviction", "yes", ""},
    {"lazyfree-lazy-expire", "yes", ""},
    {"lazyfree-lazy-server-del", "yes", ""},
    {"lazyfree-lazy-user-del", "yes", ""},
    {"lazyfree-lazy-user-flush", "yes", ""},
};

}  // namespace

std::span<const RedisSetting> redis_settings() { return kSettings; }

const RedisSetting* find_redis_setting(std::string_view name) {
  const std::string lower = lower_case(name);
  for (const RedisSetting& setting : kSettings) {
    if (setting.name == lower) return &setting;
  }
  return nullptr;
}

}  // namespace nidus::server
