// SPDX-License-Identifier: Apache-2.0

// CLIENT: what the server knows of its clients, and what a client tells of itself. The list of
// clients and closing them are the server's (services.hpp); here are arguments and replies.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "command/arguments.hpp"
#include "command/connection.hpp"
#include "resp/number.hpp"

namespace nidus::command {

bool is_plain_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

bool set_client_name(Context& context, std::string_view name) {
  if (!is_plain_text(name)) {
    context.reply.error("ERR Client names cannot contain spaces, newlines or special characters.");
    return false;
  }
  context.session.name = name;
  context.services.session_changed(context.session);
  return true;
}

namespace {

void id(Context& context) { context.reply.integer(static_cast<std::int64_t>(context.session.id)); }

void getname(Context& context) {
  if (context.session.name.empty()) return context.reply.null();
  context.reply.bulk(context.session.name);
}

void setname(Context& context) {
  if (set_client_name(context, context.arg(2))) context.reply.ok();
}

void setinfo(Context& context) {
  Session& session = context.session;
  const std::string_view option = context.arg(2);
  const bool is_name = is_word(option, "lib-name");
  if (!is_name && !is_word(option, "lib-ver")) {
    return context.reply.error("ERR Unrecognized option '" + std::string(option) + "'");
  }
  if (!is_plain_text(context.arg(3))) {
    return context.reply.error("ERR " + std::string(is_name ? "lib-name" : "lib-ver") +
                               " cannot contain spaces, newlines or special characters.");
  }
  (is_name ? session.lib_name : session.lib_version) = context.arg(3);
  context.services.session_changed(session);
  context.reply.ok();
}

/// One line of CLIENT LIST in Redis' order of fields; what nidus does not have (subscriptions,
/// redirection) stands at its neutral value.
std::string line_of(const ClientInfo& client) {
  std::string line;
  const auto text = [&line](std::string_view name, std::string_view value) {
    if (!line.empty()) line += ' ';
    line.append(name).append("=").append(value);
  };
  const auto number = [&text](std::string_view name, auto value) {
    text(name, std::to_string(value));
  };
  number("id", client.id);
  text("addr", client.address);
  text("laddr", client.local_address);
  number("fd", client.fd);
  text("name", client.name);
  number("age", client.age_s);
  number("idle", client.idle_s);
  text("flags", client.flags);
  number("db", client.database);
  for (const std::string_view subscriptions : {"sub", "psub", "ssub"}) number(subscriptions, 0);
  number("multi", client.multi);
  number("qbuf", client.query_buffer_bytes);
  number("qbuf-free", client.query_buffer_free_bytes);
  for (const std::string_view counted : {"argv-mem", "multi-mem"}) number(counted, 0);
  for (const std::string_view buffer : {"rbs", "rbp"}) number(buffer, client.output_bytes);
  for (const std::string_view output : {"obl", "oll"}) number(output, 0);
  number("omem", client.output_bytes);
  number("tot-mem", client.total_memory_bytes);
  text("events", "r");
  text("cmd", client.last_command.empty() ? "NULL" : client.last_command);
  text("user", client.user);
  number("redir", -1);
  number("resp", client.protocol);
  text("lib-name", client.lib_name);
  text("lib-ver", client.lib_version);
  number("watch", client.watch);
  return line += '\n';
}

void info(Context& context) {
  std::string text;
  for (const ClientInfo& client : context.services.clients()) {
    if (client.id == context.session.id) text += line_of(client);
  }
  context.reply.verbatim("txt", text);
}

/// A type of clients in Redis' words. All of ours are normal ones.
bool is_client_type(std::string_view text) {
  return is_word(text, "normal") || is_word(text, "master") || is_word(text, "slave") ||
         is_word(text, "replica") || is_word(text, "pubsub");
}

void reply_unknown_type(Context& context, std::string_view type) {
  context.reply.error("ERR Unknown client type '" + std::string(type) + "'");
}

/// LIST ID id [id ...]: the ids; otherwise the error is replied.
std::optional<std::vector<std::uint64_t>> ids_argument(Context& context) {
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 3; i < context.args.size(); ++i) {
    const std::optional<std::int64_t> id = integer_argument(context, i, "ERR Invalid client ID");
    if (!id) return std::nullopt;
    ids.push_back(static_cast<std::uint64_t>(*id));
  }
  return ids;
}

void list(Context& context) {
  const std::size_t n = context.args.size();
  std::string text;
  if (n > 3 && is_word(context.arg(2), "id")) {
    const auto ids = ids_argument(context);
    if (!ids) return;
    const std::vector<ClientInfo> clients = context.services.clients();
    for (const std::uint64_t id : *ids) {
      for (const ClientInfo& client : clients) {
        if (client.id == id) text += line_of(client);
      }
    }
    return context.reply.verbatim("txt", text);
  }
  bool all = true;
  if (n == 4 && is_word(context.arg(2), "type")) {
    if (!is_client_type(context.arg(3))) return reply_unknown_type(context, context.arg(3));
    all = is_word(context.arg(3), "normal");
  } else if (n != 2) {
    return context.reply.error(kSyntaxError);
  }
  if (all) {
    for (const ClientInfo& client : context.services.clients()) text += line_of(client);
  }
  context.reply.verbatim("txt", text);
}

/// One option of KILL and its value; false if it is wrong, and the error is replied.
bool kill_option(Context& context, std::string_view option, std::size_t i, KillFilter& filter) {
  const std::string_view value = context.arg(i);
  if (is_word(option, "id")) {
    const std::optional<std::int64_t> id = resp::parse_int64(value);
    if (!id || *id < 1) {
      context.reply.error("ERR client-id should be greater than 0");
      return false;
    }
    filter.id = static_cast<std::uint64_t>(*id);
  } else if (is_word(option, "type")) {
    if (!is_client_type(value)) return reply_unknown_type(context, value), false;
    filter.type = is_word(value, "slave") ? "replica" : std::string(value);
    std::transform(filter.type.begin(), filter.type.end(), filter.type.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  } else if (is_word(option, "addr")) {
    filter.address = value;
  } else if (is_word(option, "laddr")) {
    filter.local_address = value;
  } else if (is_word(option, "user")) {
    if (value != "default") {
      context.reply.error("ERR No such user '" + std::string(value) + "'");
      return false;
    }
    filter.user = value;
  } else if (is_word(option, "skipme") && (is_word(value, "yes") || is_word(value, "no"))) {
    filter.skip_me = is_word(value, "yes");
  } else {
    context.reply.error(kSyntaxError);
    return false;
  }
  return true;
}

/// KILL addr:port, or KILL option value [option value ...].
void kill(Context& context) {
  KillFilter filter;
  if (context.args.size() == 3) {
    filter.address = context.arg(2);
    filter.skip_me = false;
    // An empty address is "any" in the filter, and nobody's.
    if (filter.address.empty() || context.services.kill_clients(filter, context.session) == 0) {
      return context.reply.error("ERR No such client");
    }
    return context.reply.ok();
  }
  bool nobody = false;
  for (std::size_t i = 2; i < context.args.size(); i += 2) {
    if (i + 1 == context.args.size()) return context.reply.error(kSyntaxError);
    if (!kill_option(context, context.arg(i), i + 1, filter)) return;
    if (context.arg(i + 1).empty()) nobody = true;
  }
  if (nobody) return context.reply.integer(0);
  context.reply.integer(
      static_cast<std::int64_t>(context.services.kill_clients(filter, context.session)));
}

// The executor drops the replies that the mode forbids, this command's own included.
void reply_mode(Context& context) {
  using Mode = Session::ReplyMode;
  Mode& mode = context.session.reply_mode;
  if (is_word(context.arg(2), "on")) {
    mode = Mode::kOn;  // a SKIP before it is forgotten: this reply is sent
    context.reply.ok();
  } else if (is_word(context.arg(2), "off")) {
    mode = Mode::kOff;
  } else if (is_word(context.arg(2), "skip")) {
    if (mode != Mode::kOff) mode = Mode::kSkipNext;
  } else {
    context.reply.error(kSyntaxError);
  }
}

void set_switch(Context& context, bool& value) {
  const bool on = is_word(context.arg(2), "on");
  if (!on && !is_word(context.arg(2), "off")) return context.reply.error(kSyntaxError);
  value = on;
  context.services.session_changed(context.session);
  context.reply.ok();
}

void no_evict(Context& context) { set_switch(context, context.session.no_evict); }
void no_touch(Context& context) { set_switch(context, context.session.no_touch); }

void help(Context& context) {
  const std::span<const CommandSpec> all = client_subcommands();
  context.reply.array(2 * all.size() + 1);
  context.reply.simple("CLIENT <subcommand> [<argument> ...]. The subcommands:");
  for (const CommandSpec& spec : all) {
    std::string title(spec.name);
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; });
    if (!spec.syntax.empty()) title.append(" ").append(spec.syntax);
    context.reply.simple(title);
    context.reply.simple("    " + std::string(spec.summary));
  }
}

constexpr std::string_view kConstant = "O(1)";
constexpr std::string_view kPerClient = "O(number of clients)";
constexpr std::string_view kGroup = "connection";
constexpr std::uint32_t kFlags = kNoScript | kLoading | kStale;

constexpr CommandSpec kSubcommands[] = {
    {.name = "getname",
     .arity = 2,
     .flags = kFlags,
     .keys = {},
     .group = kGroup,
     .since = "2.6.9",
     .complexity = kConstant,
     .summary = "Tells the name of this client.",
     .syntax = "",
     .handler = getname},
    {.name = "help",
     .arity = 2,
     .flags = kLoading | kStale,
     .keys = {},
     .group = kGroup,
     .since = "5.0.0",
     .complexity = kConstant,
     .summary = "Lists these subcommands.",
     .syntax = "",
     .handler = help},
    {.name = "id",
     .arity = 2,
     .flags = kFlags,
     .keys = {},
     .group = kGroup,
     .since = "5.0.0",
     .complexity = kConstant,
     .summary = "Tells the number of this connection; none is used twice.",
     .syntax = "",
     .handler = id},
    {.name = "info",
     .arity = 2,
     .flags = kFlags,
     .keys = {},
     .group = kGroup,
     .since = "6.2.0",
     .complexity = kPerClient,
     .summary = "Gives the line that LIST has for this client.",
     .syntax = "",
     .handler = info},
    {.name = "kill",
     .arity = -3,
     .flags = kFlags | kAdmin,
     .keys = {},
     .group = kGroup,
     .since = "2.4.0",
     .complexity = kPerClient,
     .summary = "Closes one client by its address, or all that fit every filter.",
     .syntax = "ip:port | [ID client-id] [TYPE type] [USER username] [ADDR ip:port] "
               "[LADDR ip:port] [SKIPME yes | no]",
     .handler = kill},
    {.name = "list",
     .arity = -2,
     .flags = kFlags | kAdmin,
     .keys = {},
     .group = kGroup,
     .since = "2.4.0",
     .complexity = kPerClient,
     .summary = "Lists the clients, a line each.",
     .syntax = "[TYPE NORMAL | MASTER | REPLICA | PUBSUB] [ID client-id [client-id ...]]",
     .handler = list},
    {.name = "no-evict",
     .arity = 3,
     .flags = kFlags | kAdmin,
     .keys = {},
     .group = kGroup,
     .since = "7.0.0",
     .complexity = kConstant,
     .summary = "Keeps this client connected when clients are closed to save memory.",
     .syntax = "ON | OFF",
     .handler = no_evict},
    {.name = "no-touch",
     .arity = 3,
     .flags = kFlags,
     .keys = {},
     .group = kGroup,
     .since = "7.2.0",
     .complexity = kConstant,
     .summary = "Lets this client read without counting as a use of the keys.",
     .syntax = "ON | OFF",
     .handler = no_touch},
    {.name = "reply",
     .arity = 3,
     .flags = kFlags,
     .keys = {},
     .group = kGroup,
     .since = "3.2.0",
     .complexity = kConstant,
     .summary = "Switches replies off and on, or leaves out that of the next command.",
     .syntax = "ON | OFF | SKIP",
     .handler = reply_mode},
    {.name = "setinfo",
     .arity = 4,
     .flags = kFlags,
     .keys = {},
     .group = kGroup,
     .since = "7.2.0",
     .complexity = kConstant,
     .summary = "Tells the server which library this client uses.",
     .syntax = "LIB-NAME libname | LIB-VER libver",
     .handler = setinfo},
    {.name = "setname",
     .arity = 3,
     .flags = kFlags,
     .keys = {},
     .group = kGroup,
     .since = "2.6.9",
     .complexity = kConstant,
     .summary = "Names this client.",
     .syntax = "connection-name",
     .handler = setname},
};

}  // namespace

std::span<const CommandSpec> client_subcommands() { return kSubcommands; }

}  // namespace nidus::command
