// SPDX-License-Identifier: Apache-2.0

// The way of a batch through the commands (see executor.hpp). Requests pass in windows: each window
// is looked up and hashed, its buckets and then its items are prefetched, and then it runs.

#include "command/executor.hpp"

#include <algorithm>
#include <string>

#include "command/arguments.hpp"
#include "command/registry.hpp"
#include "engine/thread.hpp"

namespace nidus::command {
namespace {

constexpr std::string_view kAuthenticationRequired = "NOAUTH Authentication required.";
constexpr std::string_view kNotInTransaction = "ERR Command not allowed inside a transaction";

constexpr std::string_view kTransactionTooLarge =
    "ERR the transaction is larger than the query buffer limit";

// Redis quotes at most this much of a name, and of all arguments together.
constexpr std::size_t kQuotedBytes = 128;

/// What C's "%.*s" prints of these bytes.
std::string_view quoted(std::string_view bytes, std::size_t at_most) {
  return bytes.substr(0, std::min(at_most, bytes.find('\0')));
}

std::string unknown_command(std::span<const std::string_view> args) {
  std::string text = "ERR unknown command '";
  text.append(quoted(args[0], kQuotedBytes)).append("', with args beginning with: ");
  const std::size_t begin = text.size();
  for (std::size_t i = 1; i < args.size() && text.size() - begin < kQuotedBytes; ++i) {
    const std::size_t room = kQuotedBytes - (text.size() - begin);
    text.append("'").append(quoted(args[i], room)).append("' ");
  }
  return text;
}

/// The first words of a browser's request. A web page can make a browser send one to a server on
/// loopback, with commands in its body: the connection ends at once, as in Redis, and nothing
/// behind these words runs.
bool is_http(std::string_view name) { return is_word(name, "post") || is_word(name, "host:"); }

std::string unknown_subcommand(const CommandSpec& command, std::string_view name) {
  std::string text = "ERR unknown subcommand '";
  text.append(quoted(name, kQuotedBytes)).append("'. Try ");
  for (const char c : command.name) {
    text += c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
  }
  return text.append(" HELP.");
}

std::string wrong_arity(const CommandSpec& command, const CommandSpec& spec) {
  std::string text = "ERR wrong number of arguments for '";
  text.append(command.name);
  if (&spec != &command) text.append("|").append(spec.name);
  return text.append("' command");
}

}  // namespace

Executor::Executor(engine::Keyspace& keyspace, Services& services)
    : keyspace_(keyspace), services_(services) {}

std::size_t Executor::run(Session& session, const resp::RequestBatch& batch, std::size_t first,
                          resp::OutputBuffer& out, std::size_t output_limit_bytes,
                          engine::Millis now) {
  resp::Writer reply(out, session.protocol);
  Context context{keyspace_, nullptr, session, services_, *this, nullptr, {}, reply, now};
  std::size_t next = first;
  while (next < batch.size()) {
    const std::size_t begin = next;
    const std::size_t end = prepare(session, batch, begin);
    while (next < end) {
      context.args = batch[next];
      execute(context, prepared_[next - begin]);
      ++next;
      // Nothing of the engine is held between two commands, so one long batch delays nobody's
      // reclaiming, and a batch of large writes does not pile up what it replaces.
      engine::ThreadScope::quiescent();
      // relaxed: see stop()
      if (stopping_.load(std::memory_order_relaxed)) [[unlikely]] session.close_after_reply = true;
      if (session.close_after_reply || out.size() > output_limit_bytes) return next;
    }
  }
  return next;
}

/// Looks up the requests of one window and starts the loads that they will need. Returns the index
/// behind the window.
std::size_t Executor::prepare(const Session& session, const resp::RequestBatch& batch,
                              std::size_t begin) {
  const std::size_t limit = std::min(batch.size(), begin + kWindow);
  std::size_t used = 0;
  std::size_t end = begin;
  for (; end < limit && used < kWindowKeys; ++end) {
    const Args args = batch[end];
    Prepared& prepared = prepared_[end - begin];
    prepared.command = find_command(args[0]);
    prepared.spec = prepared.command;
    if (prepared.command != nullptr && !prepared.command->subcommands.empty() && args.size() > 1) {
      prepared.spec = find_subcommand(*prepared.command, args[1]);
    }
    hash_keys(prepared, args, used);
  }
  // One key alone is read at once: a prefetch right before it gains nothing.
  if (used < 2) return end;
  // SELECT within the window makes these hints useless for what follows, never wrong.
  const engine::Database& database = keyspace_.database(session.database);
  for (std::size_t i = 0; i < used; ++i) database.prefetch_bucket(hashes_[i]);
  for (std::size_t i = 0; i < used; ++i) database.prefetch_item(hashes_[i]);
  return end;
}

/// Hashes the request's keys while there is room in the window. The first key always has room:
/// prepare() ends the window when none is left.
void Executor::hash_keys(Prepared& prepared, Args args, std::size_t& used) {
  prepared.first_hash = static_cast<std::uint32_t>(used);
  prepared.hash_count = 0;
  if (prepared.spec == nullptr || prepared.spec->keys.first == 0) return;
  const KeyRange& keys = prepared.spec->keys;
  if (keys.last == keys.first && args.size() > static_cast<std::size_t>(keys.first)) {
    hashes_[used++] = keyspace_.hash(args[static_cast<std::size_t>(keys.first)]);
    prepared.hash_count = 1;
    return;
  }
  const std::size_t end = keys_end(*prepared.spec, args.size());
  for (auto i = static_cast<std::size_t>(keys.first); i < end && used < kWindowKeys;
       i += static_cast<std::size_t>(keys.step)) {
    hashes_[used++] = keyspace_.hash(args[i]);
  }
  prepared.hash_count = static_cast<std::uint32_t>(used - prepared.first_hash);
}

/// One request, with CLIENT REPLY heeded.
void Executor::execute(Context& context, const Prepared& prepared) {
  using Mode = Session::ReplyMode;
  Session& session = context.session;
  resp::OutputBuffer& out = context.reply.buffer();
  const std::size_t before = out.size();
  if (session.reply_mode == Mode::kSkipNext) session.reply_mode = Mode::kSkip;
  context.db = &keyspace_.database(session.database);
  context.spec = prepared.spec;
  context.key_hashes = {hashes_.data() + prepared.first_hash, prepared.hash_count};
  context.first_key_hash = prepared.hash_count > 0 ? context.key_hashes[0] : 0;
  context.reply.set_protocol(session.protocol);
  ++session.commands;
  dispatch(context, prepared);
  if (session.reply_mode != Mode::kOn) [[unlikely]] {
    out.truncate(before);
    if (session.reply_mode == Mode::kSkip) session.reply_mode = Mode::kOn;
  }
}

void Executor::dispatch(Context& context, const Prepared& prepared) {
  const CommandSpec* const spec = prepared.spec;
  Session& session = context.session;
  if (spec == nullptr || !arity_fits(*spec, context.args.size())) [[unlikely]] {
    return refuse_unfit(context, prepared);
  }
  session.last_command = prepared.command;
  session.last_subcommand = spec == prepared.command ? std::string_view() : spec->name;
  if (!session.authenticated && (spec->flags & kNoAuth) == 0 && !services_.open_to_all())
      [[unlikely]] {
    return refuse(context, kAuthenticationRequired);
  }
  if (session.in_multi && (spec->flags & kRunsInMulti) == 0) return queue(context);
  if ((spec->flags & kDenyOom) != 0 && !make_room(context)) return;
  spec->handler(context);
}

void Executor::run_one(Context& context) {
  const CommandSpec& spec = *context.spec;
  const auto first = static_cast<std::size_t>(spec.keys.first);
  if (first > 0) context.first_key_hash = keyspace_.hash(context.arg(first));
  context.key_hashes = {};
  if ((spec.flags & kDenyOom) != 0) {
    if (!context.in_exec) {
      if (!make_room(context)) return;
    } else {
      // A transaction that has begun runs to its end; what can be evicted on the way is.
      context.keyspace.make_room(*context.db, context.first_key_hash, context.now,
                                 argument_bytes(context));
    }
  }
  spec.handler(context);
}

/// Puts the request aside for EXEC.
void Executor::queue(Context& context) {
  Session& session = context.session;
  if ((context.spec->flags & kNoMulti) != 0) return refuse(context, kNotInTransaction);
  // As in Redis, any request is refused here when memory is full, so that EXEC can hold its
  // promise.
  if (!context.keyspace.make_room(*context.db, context.first_key_hash, context.now)) {
    return refuse(context, kOutOfMemoryError);
  }
  // A transaction that will be refused anyway need not be stored.
  if (!session.multi_failed) {
    session.queued_bytes += sizeof(QueuedRequest);
    for (const std::string_view arg : context.args) {
      session.queued_bytes += sizeof(std::string) + arg.size();
    }
    if (session.queue_limit_bytes != 0 && session.queued_bytes > session.queue_limit_bytes) {
      session.queue.clear();
      session.queued_bytes = 0;
      return refuse(context, kTransactionTooLarge);
    }
    session.queue.push_back({context.spec, {context.args.begin(), context.args.end()}});
  }
  context.reply.simple("QUEUED");
}

/// Replies the error; a transaction that is being queued fails with it. EXEC itself, refused, ends
/// its transaction.
void Executor::refuse(Context& context, std::string_view error) {
  Session& session = context.session;
  if (context.spec != nullptr && context.spec->name == "exec") {
    abandon_transaction(session);
    constexpr std::string_view kGenericCode = "ERR ";
    if (error.starts_with(kGenericCode)) error.remove_prefix(kGenericCode.size());
    return context.reply.error("EXECABORT Transaction discarded because of: " + std::string(error));
  }
  if (session.in_multi) session.multi_failed = true;
  context.reply.error(error);
}

void Executor::refuse_unfit(Context& context, const Prepared& prepared) {
  if (prepared.command == nullptr && is_http(context.args[0])) {
    context.session.close_after_reply = true;
    return;
  }
  if (prepared.command == nullptr) return refuse(context, unknown_command(context.args));
  if (prepared.spec == nullptr) {
    return refuse(context, unknown_subcommand(*prepared.command, context.arg(1)));
  }
  refuse(context, wrong_arity(*prepared.command, *prepared.spec));
}

void Executor::abandon_transaction(Session& session) {
  session.in_multi = false;
  session.multi_failed = false;
  session.queue.clear();
  session.queue.shrink_to_fit();
  session.queued_bytes = 0;
  for (const WatchedKey& watched : session.watched) {
    keyspace_.watches().unwatch(watched.database, watched.key, watched.hash, session.watch_flag);
  }
  session.watched.clear();
  session.watch_flag.reset();
}

}  // namespace nidus::command
