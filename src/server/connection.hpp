// SPDX-License-Identifier: Apache-2.0
#pragma once

// One client: bytes from its socket through parser and executor and back. On an event it reads
// once, runs every complete request of what it has read as batches, and writes once: recv and send
// are called directly, and the poller is told about the socket only when the client does not take
// its replies.
//
// State: kOpen; kFinishing (the last reply waits to be sent); kLingering (all is sent and our side
// shut down; what the client still sends is dropped until it closes too, because closing at once
// would reset the connection and could destroy the last reply on its way); kClosed.
//
// A client that does not read: its replies collect here. Above the soft limit (Config::OutputLimit)
// nothing more is read or run for it; it is cut off after the soft time, or at once above the hard
// limit. Requests read but not run are kept as bytes and parsed again.
//
// Thread-safety: one thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "command/session.hpp"
#include "resp/output_buffer.hpp"
#include "resp/parser.hpp"
#include "server/clients.hpp"
#include "server/input_buffer.hpp"
#include "server/loop.hpp"
#include "server/socket.hpp"

namespace nidus::server {

class Connection : public EventTarget {
 public:
  /// Takes the client's place in the registry, reserved before, and gives it back when it closes.
  Connection(Loop& loop, AcceptedSocket socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Reads what came, answers it. Errors: std::bad_alloc; close() it then.
  void on_events(std::uint32_t events);
  /// The same in two steps, so that the keys of many clients are fetched side by side: reads into
  /// `at` (of Loop::kAheadBytes) and returns what came, for run_ahead(). Nothing is read when this
  /// is not the usual case; on_events() takes the events then.
  std::optional<std::string_view> read_ahead(std::uint32_t events, char* at);
  void run_ahead(std::string_view bytes);
  int database() const { return session_.database; }
  /// Goes on with what is left to read or to run.
  void resume();
  /// Answers what has arrived, then closes; one whose requests wait for its reading is asked again.
  void drain();
  /// At least once a second: timeouts, limits in time; gives memory back that is not needed.
  void sweep();
  void close();

  bool closed() const { return state_ == State::kClosed; }
  std::uint64_t id() const { return session_.id; }
  std::size_t position = 0;  // in the worker's list
  bool queued = false;       // stands in Loop::again

 private:
  enum class State : std::uint8_t { kOpen, kFinishing, kLingering, kClosed };
  enum class Progress { kDone, kStopped };

  void read();
  std::size_t receive(char* at, std::size_t room);
  void discard();
  void on_end_of_input();
  void process(std::string_view bytes);
  Progress execute();
  void keep(std::string_view rest);
  void run_again();

  resp::OutputBuffer& output() { return pending_.empty() ? loop_.output : pending_; }
  std::size_t pending_bytes() const { return pending_.size() - sent_; }
  std::size_t pause_mark() const;
  bool paused() const { return pending_bytes() > pause_mark(); }
  void send_output();
  void send_pending();
  bool send_some(const char* data, std::size_t size, std::size_t& sent);
  void want_writable(bool wanted);
  void check_output_limit();
  void finish();
  void linger();
  void unregister();
  void account();

  Loop& loop_;
  FileDescriptor fd_;
  State state_ = State::kOpen;
  bool wants_writable_ = false;
  bool peer_closed_ = false;  // it has shut down at least its writing side
  bool blocked_ = false;      // input_ holds complete requests that have not been run
  bool registered_ = true;
  std::size_t skip_ = 0;  // of those, the first ones have been run
  InputBuffer input_;
  resp::Parser parser_;
  resp::OutputBuffer pending_;  // replies the socket has not taken; sent_ bytes of them are gone
  std::size_t sent_ = 0;
  std::size_t accounted_bytes_ = 0;
  std::int64_t active_ms_;         // steady clock
  std::int64_t over_soft_ms_ = 0;  // since when the output is above the soft limit; 0: it is not
  std::int64_t linger_until_ms_ = 0;
  command::Session session_;
  ClientRecord record_;
};

}  // namespace nidus::server
