// SPDX-License-Identifier: Apache-2.0

// Puts the parts of `nidus serve` together, in the order in which they need each other, and takes
// them apart in the reverse; see serve.hpp.

#include "server/serve.hpp"

#include <ostream>

#include "server/http_listener.hpp"
#include "server/http_source.hpp"
#include "server/live_config.hpp"
#include "server/log.hpp"
#include "server/server.hpp"

namespace nidus::server {
namespace {

/// A second server on one machine should not fail on the default port of HTTP: only a port that
/// was asked for must be free.
Expected<void> start_http(const LoadedConfig& loaded, HttpListener& listener) {
  const Config& config = loaded.config;
  if (config.http_port == kNoPort) return {};
  auto started = listener.start(config.http_bind, config.http_port);
  if (started || loaded.source("http-port") != Source::kDefault ||
      loaded.source("http-bind") != Source::kDefault) {
    return started;
  }
  log_warning("no HTTP: its default port is taken; choose one with http-port",
              {{"port", config.http_port}});
  return {};
}

/// "127.0.0.1:8379", "[::1]:8379".
std::string host_and_port(const std::string& host, int port) {
  const bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// The arguments of redis-cli that reach this server from this machine.
std::string redis_cli_arguments(const Config& config, int port) {
  if (port == kNoPort) return "-s " + config.unix_socket;
  std::string address = config.bind.front();
  if (address.starts_with('-')) address.erase(0, 1);
  const bool is_local = address == "127.0.0.1" || address == "0.0.0.0" || address == "*" ||
                        address == "::" || address == "localhost";
  return (is_local ? "" : "-h " + address + " ") + "-p " + std::to_string(port);
}

std::string how_to_connect(const Config& config, int port, int http_port) {
  std::string line = "nidus is ready: redis-cli " + redis_cli_arguments(config, port);
  if (!config.password.empty()) line += " --askpass";
  if (http_port != kNoPort) {
    line += "  (metrics: http://" + host_and_port(config.http_bind, http_port) + "/metrics)";
  }
  return line;
}

}  // namespace

Expected<int> serve(const LoadedConfig& loaded, const std::string& executable, std::ostream& out) {
  const Config& config = loaded.config;
  if (auto opened = open_log(config.log_level, config.log_format, config.log_file); !opened) {
    return tl::make_unexpected(opened.error());
  }
  LiveConfig live(config);
  Server server(live, {.config_file = loaded.file, .executable = executable});
  HttpSource source(server);
  HttpListener http(source);
  auto started = server.start();
  if (started) started = start_http(loaded, http);
  if (!started) return tl::make_unexpected(started.error());
  // HTTP answers /readyz meanwhile, also while the server drains.
  const int status = server.run(
      [&] { out << how_to_connect(config, server.tcp_port(), http.port()) << std::endl; });
  http.stop();
  return status;
}

}  // namespace nidus::server
