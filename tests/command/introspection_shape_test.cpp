// SPDX-License-Identifier: Apache-2.0

// Every reply of the server and introspection commands is one well-formed RESP value, in both
// protocols: each array and map holds as many values as its header says.

#include <gtest/gtest.h>

#include "server_harness.hpp"

namespace nidus::command {
namespace {

using namespace server_testing;

constexpr std::size_t kMalformed = std::string::npos;

// The position behind the value that starts at `at`, or kMalformed.
std::size_t behind_value(const std::string& reply, std::size_t at, int protocol) {
  const std::size_t line_end = reply.find("\r\n", at);
  if (at >= reply.size() || line_end == std::string::npos) return kMalformed;
  const char type = reply[at];
  const std::size_t next = line_end + 2;
  if (std::string_view("+-:").find(type) != std::string_view::npos) return next;
  if (protocol == 3 && std::string_view("_,#(").find(type) != std::string_view::npos) return next;
  const long n = std::stol(reply.substr(at + 1));
  if (protocol == 2 && n == -1) return next;
  if (n < 0) return kMalformed;
  const auto size = static_cast<std::size_t>(n);
  if (type == '$' || (protocol == 3 && type == '=')) {
    return reply.compare(next + size, 2, "\r\n") == 0 ? next + size + 2 : kMalformed;
  }
  if (type != '*' &&
      (protocol == 2 || std::string_view("%~>").find(type) == std::string_view::npos)) {
    return kMalformed;
  }
  std::size_t position = next;
  for (std::size_t i = 0; i < (type == '%' ? 2 * size : size); ++i) {
    position = behind_value(reply, position, protocol);
    if (position == kMalformed) return kMalformed;
  }
  return position;
}

TEST(ReplyShapes, EveryReplyIsOneValueInBothProtocols) {
  Server server;
  server({"set", "k", "v", "px", "60000"});
  const std::initializer_list<std::initializer_list<std::string_view>> requests = {
      {"command"},
      {"command", "docs"},
      {"command", "docs", "set", "nosuch", "config|get"},
      {"command", "info", "set", "nosuch", "config|get"},
      {"command", "list"},
      {"command", "list", "filterby", "aclcat", "dangerous"},
      {"command", "getkeysandflags", "mset", "a", "1", "b", "2"},
      {"command", "help"},
      {"config", "get", "*"},
      {"config", "help"},
      {"function", "help"},
      {"info"},
      {"info", "everything"},
      {"memory", "help"},
      {"memory", "stats"},
      {"memory", "usage", "k"},
      {"memory", "purge"},
      {"module", "list"},
      {"nidus.explain", "k"},
      {"nidus.explain", "absent"},
      {"object", "encoding", "k"},
      {"object", "encoding", "absent"},
      {"object", "help"},
      {"role"},
      {"time"},
  };
  for (const int protocol : {2, 3}) {
    server.session.protocol = protocol;
    for (const auto& request : requests) {
      const std::string reply = server(request);
      std::string name;
      for (const std::string_view word : request) name.append(word).append(" ");
      EXPECT_EQ(behind_value(reply, 0, protocol), reply.size()) << name << "RESP" << protocol;
    }
  }
}

}  // namespace
}  // namespace nidus::command
