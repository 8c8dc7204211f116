// SPDX-License-Identifier: Apache-2.0

// DEBUG (server_debug.hpp). PROTOCOL answers with one value of each type a client must read.

#include "command/server_debug.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "command/arguments.hpp"
#include "resp/number.hpp"

namespace nidus::command {
namespace {

bool is_local(const Session& session) {
  return session.unix_socket || session.address.starts_with("127.") ||
         session.address.starts_with("[::1]");
}

bool is_allowed(Context& context) {
  bool allowed = false;
  context.services.config_get({"enable-debug-command"}, [&](std::string_view, std::string_view v) {
    allowed = v == "yes" || (v == "local" && is_local(context.session));
  });
  return allowed;
}

// Not a number counts as 0, as strtod has it. At most a day.
void sleep(Context& context) {
  const long double seconds =
      std::clamp(resp::parse_long_double(context.arg(2)).value_or(0), 0.0L, 86'400.0L);
  std::this_thread::sleep_for(std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6L)));
  context.reply.ok();
}

void count_three(resp::Writer& reply, bool pairs) {
  for (int i = 0; i < 3; ++i) {
    reply.integer(i);
    if (pairs) reply.boolean(i == 1);
  }
}

void attribute(resp::Writer& reply) {
  if (reply.protocol() == 3) {
    reply.raw("|1\r\n");
    reply.bulk("key-popularity");
    reply.array(2);
    reply.bulk("key:123");
    reply.integer(90);
  }
  reply.bulk("Some real reply following the attribute");
}

void push(Context& context) {
  resp::Writer& reply = context.reply;
  if (reply.protocol() == 2) return reply.error("ERR RESP2 is not supported by this command");
  reply.push(2);
  reply.bulk("server-cpu-usage");
  reply.integer(42);
  reply.bulk("Some real reply following the push reply");
}

void big_number(resp::Writer& reply) {
  constexpr std::string_view kDigits = "1234567999999999999999999999999999999";
  if (reply.protocol() == 2) return reply.bulk(kDigits);
  reply.raw("(" + std::string(kDigits) + "\r\n");
}

void protocol(Context& context) {
  resp::Writer& reply = context.reply;
  const std::string_view type = context.arg(2);
  if (is_word(type, "string")) return reply.bulk("Hello World");
  if (is_word(type, "integer")) return reply.integer(12345);
  if (is_word(type, "double")) return reply.real(3.141);
  if (is_word(type, "null")) return reply.null();
  if (is_word(type, "true")) return reply.boolean(true);
  if (is_word(type, "false")) return reply.boolean(false);
  if (is_word(type, "verbatim")) return reply.verbatim("txt", "This is a verbatim\nstring");
  if (is_word(type, "bignum")) return big_number(reply);
  if (is_word(type, "attrib")) return attribute(reply);
  if (is_word(type, "push")) return push(context);
  if (is_word(type, "array")) {
    reply.array(3);
    return count_three(reply, false);
  }
  if (is_word(type, "set")) {
    reply.set(3);
    return count_three(reply, false);
  }
  if (is_word(type, "map")) {
    reply.map(3);
    return count_three(reply, true);
  }
  reply.error(
      "ERR Wrong protocol type name. Please use one of the following: "
      "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false");
}

void help(resp::Writer& reply) {
  constexpr std::string_view kLines[] = {
      "DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "LOG <message>",
      "    Accepted and dropped: logs never hold what clients send.",
      "PROTOCOL <type>",
      "    Reply with a value of the type: string, integer, double, null, array, set, map,",
      "    attrib, push, verbatim, true, false, bignum.",
      "SLEEP <seconds>",
      "    Stop the thread that serves this connection for so long.",
      "HELP",
      "    Prints this help.",
  };
  reply.array(std::size(kLines));
  for (const std::string_view line : kLines) reply.simple(line);
}

}  // namespace

void debug_command(Context& context) {
  if (!is_allowed(context)) {
    return context.reply.error(
        "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", "
        "you can run it from a local connection, otherwise you need to set this option in the "
        "configuration file, and then restart the server.");
  }
  const std::string_view name = context.arg(1);
  const std::size_t args = context.args.size();
  if (args == 2 && is_word(name, "help")) return help(context.reply);
  if (args == 3 && is_word(name, "sleep")) return sleep(context);
  if (args == 3 && is_word(name, "log")) return context.reply.ok();
  if (args == 3 && is_word(name, "protocol")) return protocol(context);
  context.reply.error("ERR unknown subcommand or wrong number of arguments for '" +
                      std::string(name) + "'. Try DEBUG HELP.");
}

}  // namespace nidus::command
