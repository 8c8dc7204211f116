// SPDX-License-Identifier: Apache-2.0

// COMMAND and every HELP: what the one table of commands tells about itself, in Redis' reply
// shapes. The table of the commands that look into the server stands in introspection_table.cpp.

#include "command/introspection.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "command/arguments.hpp"
#include "command/command_facts.hpp"
#include "command/command_syntax.hpp"
#include "command/registry.hpp"
#include "resp/glob.hpp"

namespace nidus::command {
namespace {

void status_set(resp::Writer& reply, const std::vector<std::string_view>& names) {
  reply.set(names.size());
  for (const std::string_view name : names) reply.simple(name);
}

// From an index on, by a step: the only kind of key specification that our commands need.
void reply_key_spec(resp::Writer& reply, const KeySpec& spec) {
  const KeyRange& keys = spec.keys;
  reply.map(3);
  reply.bulk("flags");
  status_set(reply, spec.flags);
  reply.bulk("begin_search");
  reply.map(2);
  reply.bulk("type");
  reply.bulk("index");
  reply.bulk("spec");
  reply.map(1);
  reply.bulk("index");
  reply.integer(keys.first);
  reply.bulk("find_keys");
  reply.map(2);
  reply.bulk("type");
  reply.bulk("range");
  reply.bulk("spec");
  reply.map(3);
  reply.bulk("lastkey");
  reply.integer(keys.last < 0 ? keys.last : keys.last - keys.first);
  reply.bulk("keystep");
  reply.integer(keys.step);
  reply.bulk("limit");
  reply.integer(0);
}

void reply_info(resp::Writer& reply, const NamedCommand& command) {
  const CommandSpec& spec = *command.spec;
  reply.array(10);
  reply.bulk(command.full_name());
  reply.integer(spec.arity);
  status_set(reply, flag_names(spec));
  reply.integer(spec.keys.first);
  reply.integer(spec.keys.last);
  reply.integer(spec.keys.step);
  status_set(reply, acl_categories(command));
  reply.set(0);  // tips for cluster proxies: none
  const std::vector<KeySpec> specs = key_specs(command);
  reply.set(specs.size());
  for (const KeySpec& keys : specs) reply_key_spec(reply, keys);
  if (spec.subcommands.empty()) return reply.set(0);
  reply.array(spec.subcommands.size());
  for (const CommandSpec& sub : spec.subcommands) reply_info(reply, {&sub, &spec});
}

void reply_field(resp::Writer& reply, std::string_view name, std::string_view value) {
  reply.bulk(name);
  reply.bulk(value);
}

void reply_arguments(resp::Writer& reply, const std::vector<SyntaxArgument>& arguments) {
  reply.array(arguments.size());
  for (const SyntaxArgument& argument : arguments) {
    const bool is_key = argument.type == "key";
    const std::size_t flags = (argument.optional ? 1u : 0u) + (argument.multiple ? 1u : 0u);
    reply.map(2u + (is_key ? 1u : 0u) + (argument.token.empty() ? 0u : 1u) + (flags > 0 ? 1u : 0u) +
              (argument.arguments.empty() ? 0u : 1u));
    reply_field(reply, "name", argument.name);
    reply_field(reply, "type", argument.type);
    if (is_key) {
      reply.bulk("key_spec_index");
      reply.integer(0);
    }
    if (!argument.token.empty()) reply_field(reply, "token", argument.token);
    if (flags > 0) {
      reply.bulk("flags");
      reply.set(flags);
      if (argument.optional) reply.simple("optional");
      if (argument.multiple) reply.simple("multiple");
    }
    if (!argument.arguments.empty()) {
      reply.bulk("arguments");
      reply_arguments(reply, argument.arguments);
    }
  }
}

void reply_docs(resp::Writer& reply, const NamedCommand& command) {
  const CommandSpec& spec = *command.spec;
  reply.bulk(command.full_name());
  reply.map(4u + (spec.syntax.empty() ? 0u : 1u) + (spec.subcommands.empty() ? 0u : 1u));
  reply_field(reply, "summary", spec.summary);
  reply_field(reply, "since", spec.since);
  reply_field(reply, "group", spec.group);
  reply_field(reply, "complexity", spec.complexity);
  if (!spec.syntax.empty()) {
    reply.bulk("arguments");
    reply_arguments(reply, parse_syntax(spec.syntax));
  }
  if (!spec.subcommands.empty()) {
    reply.bulk("subcommands");
    reply.map(spec.subcommands.size());
    for (const CommandSpec& sub : spec.subcommands) reply_docs(reply, {&sub, &spec});
  }
}

void reply_names(resp::Writer& reply, const std::function<bool(const NamedCommand&)>& is_wanted) {
  std::vector<std::string> names;
  for_each_command([&](const NamedCommand& command) {
    if (is_wanted(command)) names.push_back(command.full_name());
  });
  reply.array(names.size());
  for (const std::string& name : names) reply.bulk(name);
}

bool has_category(const NamedCommand& command, std::string_view category) {
  for (const std::string_view its : acl_categories(command)) {
    if (is_word(category, its.substr(1))) return true;
  }
  return false;
}

// The keys of the request behind COMMAND GETKEYS; otherwise the error is replied.
bool read_request(Context& context, NamedCommand& command, std::vector<std::size_t>& keys) {
  const auto request = context.args.subspan(2);
  command = find_for_request(request);
  resp::Writer& reply = context.reply;
  if (command.spec == nullptr) {
    reply.error("ERR Invalid command specified");
  } else if (command.spec->keys.first == 0) {
    reply.error("ERR The command has no key arguments");
  } else if (!arity_fits(*command.spec, request.size())) {
    reply.error("ERR Invalid number of arguments specified for command");
  } else {
    keys = key_positions(*command.spec, request.size());
    return true;
  }
  return false;
}

// How a request uses its key at `position`. Two commands have keys whose use depends on the other
// arguments: SET with or without GET, BITFIELD with or without an operation that writes.
std::vector<std::string_view> key_use(const NamedCommand& command,
                                      std::span<const std::string_view> request,
                                      std::size_t position) {
  const auto has_any = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(request.begin() + 2, request.end(), [&](std::string_view arg) {
      return std::any_of(names.begin(), names.end(),
                         [&](std::string_view name) { return is_word(arg, name); });
    });
  };
  if (command.spec->name == "set" && !has_any({"get"})) return {"OW", "update"};
  if (command.spec->name == "bitfield" && !has_any({"set", "incrby"})) return {"RO", "access"};
  const std::vector<KeySpec> specs = key_specs(command);
  const bool first = static_cast<int>(position) == command.spec->keys.first;
  std::vector<std::string_view> flags = first ? specs.front().flags : specs.back().flags;
  std::erase(flags, "variable_flags");
  return flags;
}

}  // namespace

void command_command(Context& context) {
  context.reply.array(all_commands().size());
  for (const CommandSpec* spec : all_commands()) reply_info(context.reply, {spec, nullptr});
}

void command_count(Context& context) {
  context.reply.integer(static_cast<std::int64_t>(all_commands().size()));
}

void command_info(Context& context) {
  if (context.args.size() == 2) return command_command(context);
  context.reply.array(context.args.size() - 2);
  for (const std::string_view name : context.args.subspan(2)) {
    const NamedCommand command = find_by_full_name(name);
    if (command.spec == nullptr) {
      context.reply.null();
    } else {
      reply_info(context.reply, command);
    }
  }
}

void command_docs(Context& context) {
  std::vector<NamedCommand> wanted;
  if (context.args.size() == 2) {
    for (const CommandSpec* spec : all_commands()) wanted.push_back({spec, nullptr});
  }
  for (const std::string_view name : context.args.subspan(2)) {
    const NamedCommand command = find_by_full_name(name);
    if (command.spec != nullptr) wanted.push_back(command);
  }
  context.reply.map(wanted.size());
  for (const NamedCommand& command : wanted) reply_docs(context.reply, command);
}

void command_list(Context& context) {
  const auto& args = context.args;
  if (args.size() == 2) return reply_names(context.reply, [](const NamedCommand&) { return true; });
  if (args.size() != 5 || !is_word(args[2], "filterby")) return context.reply.error(kSyntaxError);
  if (is_word(args[3], "module")) return context.reply.array(0);  // there are no modules
  if (is_word(args[3], "aclcat")) {
    return reply_names(context.reply,
                       [&](const NamedCommand& command) { return has_category(command, args[4]); });
  }
  if (!is_word(args[3], "pattern")) return context.reply.error(kSyntaxError);
  const resp::Glob pattern(args[4], true);
  reply_names(context.reply,
              [&](const NamedCommand& command) { return pattern.matches(command.full_name()); });
}

void command_getkeys(Context& context) {
  NamedCommand command;
  std::vector<std::size_t> keys;
  if (!read_request(context, command, keys)) return;
  context.reply.array(keys.size());
  for (const std::size_t i : keys) context.reply.bulk(context.arg(i + 2));
}

void command_getkeysandflags(Context& context) {
  NamedCommand command;
  std::vector<std::size_t> keys;
  if (!read_request(context, command, keys)) return;
  context.reply.array(keys.size());
  for (const std::size_t i : keys) {
    context.reply.array(2);
    context.reply.bulk(context.arg(i + 2));
    status_set(context.reply, key_use(command, context.args.subspan(2), i));
  }
}

void container_help(Context& context) {
  const CommandSpec& container = *find_command(context.arg(0));
  const auto upper = [](std::string_view text) {
    std::string made(text);
    for (char& c : made) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return made;
  };
  std::vector<std::string> lines = {upper(container.name) +
                                    " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"};
  for (const CommandSpec& sub : container.subcommands) {
    if (sub.name == "help") continue;
    lines.push_back(upper(sub.name));
    if (!sub.syntax.empty()) lines.back().append(" ").append(sub.syntax);
    lines.push_back("    " + std::string(sub.summary));
  }
  lines.emplace_back("HELP");
  lines.emplace_back("    Prints this help.");
  context.reply.array(lines.size());
  for (const std::string& line : lines) context.reply.simple(line);
}

}  // namespace nidus::command
