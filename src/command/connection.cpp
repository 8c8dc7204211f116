// SPDX-License-Identifier: Apache-2.0

// Commands on the connection itself: the greeting, authentication, the database, leaving. CLIENT's
// subcommands are in connection_client.cpp.

#include "command/connection.hpp"

#include <array>
#include <optional>
#include <string>

#include "command/arguments.hpp"
#include "command/executor.hpp"
#include "command/info.hpp"
#include "command/keys.hpp"
#include "command/registry.hpp"
#include "resp/number.hpp"

namespace nidus::command {
namespace {

constexpr std::string_view kDefaultUser = "default";

void ping(Context& context) {
  if (context.args.size() > 2) {
    return context.reply.error("ERR wrong number of arguments for 'ping' command");
  }
  if (context.args.size() == 2) return context.reply.bulk(context.arg(1));
  context.reply.simple("PONG");
}

void echo(Context& context) { context.reply.bulk(context.arg(1)); }

void quit(Context& context) {
  context.session.close_after_reply = true;
  context.reply.ok();
}

void select(Context& context) {
  const std::optional<int> database = database_argument(context, 1);
  if (!database) return;
  context.session.database = *database;
  context.services.session_changed(context.session);
  context.reply.ok();
}

/// Lets the session in; false if the user or the password is wrong, and the error is replied.
bool authenticate(Context& context, std::string_view user, std::string_view password) {
  // Without a password configured, the default user is let in with any.
  const bool open = user == kDefaultUser && context.services.open_to_all();
  if (!open && !context.services.check_password(user, password)) {
    context.reply.error("WRONGPASS invalid username-password pair or user is disabled.");
    return false;
  }
  context.session.authenticated = true;
  return true;
}

void auth(Context& context) {
  if (context.args.size() > 3) return context.reply.error(kSyntaxError);
  if (context.args.size() == 2 && context.services.open_to_all()) {
    return context.reply.error(
        "ERR AUTH <password> called without any password configured for the default user. "
        "Are you sure your configuration is correct?");
  }
  const bool named = context.args.size() == 3;
  if (authenticate(context, named ? context.arg(1) : kDefaultUser, context.arg(named ? 2 : 1))) {
    context.reply.ok();
  }
}

struct Greeting {
  int protocol = 2;
  bool with_user = false;
  std::string_view user, password;
};

/// Reads the version at args[1]; otherwise the error is replied.
std::optional<int> protocol_argument(Context& context) {
  const std::optional<std::int64_t> version =
      integer_argument(context, 1, "ERR Protocol version is not an integer or out of range");
  if (!version) return std::nullopt;
  if (*version != 2 && *version != 3) {
    context.reply.error("NOPROTO unsupported protocol version");
    return std::nullopt;
  }
  return static_cast<int>(*version);
}

/// Reads HELLO's arguments; otherwise the error is replied. A name is set at once, as Redis does.
std::optional<Greeting> greeting_arguments(Context& context) {
  Greeting greeting;
  greeting.protocol = context.session.protocol;
  const std::size_t n = context.args.size();
  if (n > 1) {
    const std::optional<int> protocol = protocol_argument(context);
    if (!protocol) return std::nullopt;
    greeting.protocol = *protocol;
  }
  for (std::size_t i = 2; i < n; ++i) {
    const std::string_view option = context.arg(i);
    if (is_word(option, "auth") && i + 2 < n) {
      greeting.with_user = true;
      greeting.user = context.arg(++i);
      greeting.password = context.arg(++i);
    } else if (is_word(option, "setname") && i + 1 < n) {
      if (!set_client_name(context, context.arg(++i))) return std::nullopt;
    } else {
      context.reply.error("ERR Syntax error in HELLO option '" + std::string(option) + "'");
      return std::nullopt;
    }
  }
  return greeting;
}

void reply_greeting(Context& context) {
  resp::Writer& reply = context.reply;
  reply.map(7);
  reply.bulk("server");
  reply.bulk("redis");
  reply.bulk("version");
  reply.bulk(kRedisVersion);
  reply.bulk("proto");
  reply.integer(context.session.protocol);
  reply.bulk("id");
  reply.integer(static_cast<std::int64_t>(context.session.id));
  reply.bulk("mode");
  reply.bulk("standalone");
  reply.bulk("role");
  reply.bulk("master");
  reply.bulk("modules");
  reply.array(0);
}

void hello(Context& context) {
  const std::optional<Greeting> greeting = greeting_arguments(context);
  if (!greeting) return;
  if (greeting->with_user && !authenticate(context, greeting->user, greeting->password)) return;
  Session& session = context.session;
  if (!session.authenticated && !context.services.open_to_all()) {
    return context.reply.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
        "protocol version at the same time");
  }
  session.protocol = greeting->protocol;
  context.reply.set_protocol(greeting->protocol);
  context.services.session_changed(session);
  reply_greeting(context);
}

/// The session as if it had just connected; its id and its library's name stay.
void reset(Context& context) {
  Session& session = context.session;
  context.executor.abandon_transaction(session);
  session.database = 0;
  session.protocol = 2;
  session.authenticated = context.services.open_to_all();
  session.name.clear();
  session.no_touch = false;
  session.no_evict = false;
  session.reply_mode = Session::ReplyMode::kOn;
  context.reply.set_protocol(2);
  context.services.session_changed(session);
  context.reply.simple("RESET");
}

constexpr std::string_view kConstant = "O(1)";
constexpr std::string_view kGroup = "connection";
constexpr std::uint32_t kAnytime = kLoading | kStale;
constexpr std::uint32_t kBeforeAuth = kAnytime | kFast | kNoAuth | kNoScript;

}  // namespace

std::span<const CommandSpec> connection_commands() {
  static const std::array specs = {
      CommandSpec{.name = "auth",
                  .arity = -2,
                  .flags = kBeforeAuth,
                  .keys = {},
                  .group = kGroup,
                  .since = "1.0.0",
                  .complexity = kConstant,
                  .summary = "Lets the client in with a password.",
                  .syntax = "[username] password",
                  .handler = auth},
      CommandSpec{.name = "client",
                  .arity = -2,
                  .flags = 0,
                  .keys = {},
                  .group = kGroup,
                  .since = "2.4.0",
                  .complexity = "That of the subcommand",
                  .summary = "Commands about this client and the others.",
                  .syntax = "subcommand [argument ...]",
                  .handler = nullptr,
                  .subcommands = client_subcommands()},
      CommandSpec{.name = "echo",
                  .arity = 2,
                  .flags = kAnytime | kFast,
                  .keys = {},
                  .group = kGroup,
                  .since = "1.0.0",
                  .complexity = kConstant,
                  .summary = "Replies the message.",
                  .syntax = "message",
                  .handler = echo},
      CommandSpec{
          .name = "hello",
          .arity = -1,
          .flags = kBeforeAuth,
          .keys = {},
          .group = kGroup,
          .since = "6.0.0",
          .complexity = kConstant,
          .summary = "Opens the conversation: chooses RESP2 or RESP3, lets in, names the client.",
          .syntax = "[protover [AUTH username password] [SETNAME clientname]]",
          .handler = hello},
      CommandSpec{.name = "ping",
                  .arity = -1,
                  .flags = kFast,
                  .keys = {},
                  .group = kGroup,
                  .since = "1.0.0",
                  .complexity = kConstant,
                  .summary = "Replies PONG, or the message: is the server there?",
                  .syntax = "[message]",
                  .handler = ping},
      CommandSpec{.name = "quit",
                  .arity = -1,
                  .flags = kBeforeAuth | kRunsInMulti,
                  .keys = {},
                  .group = kGroup,
                  .since = "1.0.0",
                  .complexity = kConstant,
                  .summary = "Closes the connection after a last reply.",
                  .syntax = "",
                  .handler = quit},
      CommandSpec{.name = "reset",
                  .arity = 1,
                  .flags = kBeforeAuth | kRunsInMulti,
                  .keys = {},
                  .group = kGroup,
                  .since = "6.2.0",
                  .complexity = kConstant,
                  .summary = "Puts the connection back to the state in which it began.",
                  .syntax = "",
                  .handler = reset},
      CommandSpec{.name = "select",
                  .arity = 2,
                  .flags = kAnytime | kFast,
                  .keys = {},
                  .group = kGroup,
                  .since = "1.0.0",
                  .complexity = kConstant,
                  .summary = "Chooses the database for the commands that follow.",
                  .syntax = "index",
                  .handler = select},
  };
  return specs;
}

}  // namespace nidus::command
