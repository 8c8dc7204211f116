// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handlers of the commands that look into the server rather than at values: COMMAND, OBJECT,
// MEMORY, NIDUS.EXPLAIN, and the HELP that every container command has. Their table stands in
// introspection.cpp; the facts that COMMAND tells of a spec come from command_facts.hpp.

#include "command/context.hpp"

namespace nidus::command {

/// The reply of `<CONTAINER> HELP`, made from the container's table: one entry per subcommand.
/// The handler of every HELP subcommand.
void container_help(Context& context);

void command_command(Context& context);  // COMMAND without arguments
void command_count(Context& context);
void command_info(Context& context);
void command_docs(Context& context);
void command_list(Context& context);
void command_getkeys(Context& context);
void command_getkeysandflags(Context& context);

void object_encoding(Context& context);
void object_freq(Context& context);
void object_idletime(Context& context);
void object_refcount(Context& context);

void memory_usage(Context& context);
void memory_stats(Context& context);
void memory_unsupported(Context& context);  // DOCTOR, MALLOC-STATS, PURGE

void explain(Context& context);

}  // namespace nidus::command
