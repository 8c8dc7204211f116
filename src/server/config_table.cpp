// SPDX-License-Identifier: Apache-2.0

// The table of options itself; see config_table.hpp. A new setting is a member of Config and one
// row here.

#include "server/config_table.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "server/config_types.hpp"

namespace nidus::server {
namespace {

enum Change { kFixed, kChangeable };

/// One row: the member, its type, and the texts.
template <auto kMember, class Type>
constexpr Option row(std::string_view section, std::string_view name, std::string_view redis_name,
                     Change change, std::string_view help) {
  Option option;
  option.section = section;
  option.name = name;
  option.redis_name = redis_name;
  option.help = help;
  option.changeable = change == kChangeable;
  option.unit = Type::kUnit;
  option.parse = [](Config& config, std::string_view text) {
    auto value = Type::parse(text);
    if (!value) return false;
    config.*kMember = *std::move(value);
    return true;
  };
  option.format = [](const Config& config, Form form) {
    return Type::format(config.*kMember, form);
  };
  option.expects = &Type::expects;
  option.redis_complaint = &Type::redis_complaint;
  return option;
}

constexpr Option secret(Option option) {
  option.secret = true;
  return option;
}

using namespace types;
using C = Config;
using Count = Integer<std::size_t, 1, 1'000'000'000>;

constexpr std::string_view kNet = "Network";
constexpr std::string_view kMemory = "Memory";
constexpr std::string_view kClients = "Clients";
constexpr std::string_view kHttp = "HTTP";
constexpr std::string_view kLog = "Log";
constexpr std::string_view kProcess = "Process";

constexpr Option kOptions[] = {
    row<&C::bind, Words>(kNet, "bind", "bind", kFixed,
                         "Addresses to listen on; one that starts with - may be missing here"),
    row<&C::port, Port>(kNet, "port", "port", kFixed,
                        "TCP port; 0 for none, any for one that the system chooses"),
    row<&C::unix_socket, Text>(kNet, "unix-socket", "unixsocket", kFixed,
                               "Path of a Unix socket to listen on as well"),
    row<&C::unix_socket_permissions, Permissions>(kNet, "unix-socket-permissions", "unixsocketperm",
                                                  kFixed, "Permissions of the Unix socket"),
    row<&C::tcp_backlog, Integer<int, 1, 65535>>(kNet, "tcp-backlog", "tcp-backlog", kFixed,
                                                 "Connections that may wait to be accepted"),
    row<&C::tcp_keepalive, Duration>(kNet, "tcp-keepalive", "tcp-keepalive", kChangeable,
                                     "Silence after which a peer is probed; 0: never"),
    row<&C::threads, Integer<int, 0, 1024>>(kNet, "threads", "io-threads", kFixed,
                                            "Threads that serve clients; 0: one a core"),

    row<&C::memory_limit_bytes, Bytes<0>>(kMemory, "memory-limit", "maxmemory", kChangeable,
                                          "Memory for keys, values and index; 0: no limit"),
    row<&C::policy, Choice<PolicyNames>>(
        kMemory, "policy", "maxmemory-policy", kChangeable,
        "Which keys leave at the limit: noeviction, lru, lfu, random, ttl, or volatile-*"),
    row<&C::databases, Integer<int, 16, 16>>(kMemory, "databases", "databases", kFixed,
                                             "Databases for SELECT; always 16"),

    secret(row<&C::password, Text>(kClients, "requirepass", "requirepass", kChangeable,
                                   "Password of the user default; empty: none")),
    row<&C::protected_mode, YesNo>(kClients, "protected-mode", "protected-mode", kChangeable,
                                   "Without a password, serve this machine only"),
    row<&C::max_clients, Count>(kClients, "max-clients", "maxclients", kChangeable,
                                "Connections at once"),
    row<&C::idle_timeout, Duration>(kClients, "idle-timeout", "timeout", kChangeable,
                                    "A client silent for so long is disconnected; 0: never"),
    row<&C::query_buffer_limit_bytes, Bytes<64 * 1024>>(kClients, "query-buffer-limit",
                                                        "client-query-buffer-limit", kChangeable,
                                                        "Unfinished requests of one client"),
    row<&C::max_arguments, Count>(kClients, "max-arguments", "", kChangeable,
                                  "Arguments of one request"),
    row<&C::max_bulk_bytes, Bytes<1024>>(kClients, "max-argument-size", "proto-max-bulk-len",
                                         kChangeable, "Size of one argument, thus of a value"),
    row<&C::output_limit, OutputLimits>(
        kClients, "output-limit", "client-output-buffer-limit", kChangeable,
        "Unread replies: a client is cut off above HARD, or above SOFT for TIME; 0: no limit"),

    row<&C::http_bind, Text>(kHttp, "http-bind", "", kFixed,
                             "Address of /metrics, /healthz and /readyz"),
    row<&C::http_port, Port>(kHttp, "http-port", "", kFixed, "Port of HTTP; 0: no HTTP"),

    row<&C::log_level, Choice<LogLevelNames>>(kLog, "log-level", "loglevel", kChangeable,
                                              "The least that is logged"),
    row<&C::log_format, Choice<LogFormatNames>>(kLog, "log-format", "", kFixed,
                                                "Lines for people or for programs"),
    row<&C::log_file, Text>(kLog, "log-file", "logfile", kFixed,
                            "File to append to; empty: standard error"),

    row<&C::drain_timeout, Duration>(kProcess, "drain-timeout", "shutdown-timeout", kChangeable,
                                     "Time for requests under way after SIGTERM"),
    row<&C::debug_command, Choice<DebugCommandNames>>(
        kProcess, "debug-command", "enable-debug-command", kFixed,
        "Who may call DEBUG, an aid for tests: nobody, clients on this machine, everybody"),
    row<&C::hash_seed, Integer<std::uint64_t, 0, UINT64_MAX>>(
        kProcess, "hash-seed", "", kFixed,
        "Fixed seed of the hash, for tests only; 0: a random secret"),
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = above[0];
    above[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = above[j + 1];
      above[j + 1] = std::min({changed, above[j] + 1, above[j + 1] + 1});
    }
  }
  return above[b.size()];
}

}  // namespace

std::span<const Option> options() { return kOptions; }

const Option* find_option(std::string_view name) {
  const std::string lower = lower_case(name);
  if (lower.empty()) return nullptr;
  for (const Option& option : kOptions) {
    if (option.name == lower || option.redis_name == lower) return &option;
  }
  return nullptr;
}

std::string_view similar_option(std::string_view name) {
  const std::string lower = lower_case(name);
  std::string_view best;
  std::size_t least = 1 + lower.size() / 3;  // further off is another word
  for (const Option& option : kOptions) {
    for (const std::string_view candidate : {option.name, option.redis_name}) {
      const std::size_t distance = edit_distance(lower, candidate);
      if (candidate.empty() || distance > least) continue;
      best = candidate;
      least = distance;
    }
  }
  return best;
}

std::string environment_name(std::string_view option_name) {
  std::string out = "NIDUS_";
  for (const char c : option_name) {
    out += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return out;
}

std::string_view log_level_name(LogLevel level) { return LogLevelNames::name(level); }

}  // namespace nidus::server
