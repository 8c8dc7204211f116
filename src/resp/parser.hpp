// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes from a client in, requests out: the first step after the socket. Multibulk requests
// (`*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`) and inline ones (`GET k\r\n`), as redis-server 7.0 reads them.
//
// Two readers share the work. The fast one takes a multibulk request that lies complete in the
// buffer, writes views straight into the batch and gives up at anything else, leaving no trace. The
// careful one then reads the same request as a state machine that stops and resumes at any byte; it
// alone knows errors, limits and progress. Progress is kept as offsets from the request's first
// byte, because the caller's buffer may move between two calls.
//
// Where redis-server's answer depends on how the network cut the bytes, here it does not:
// a line without end is "too big" when its first 64 KiB + 1 bytes hold no end, however they came;
// NUL is an ordinary byte (redis-server waits for more input behind it).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "resp/request_batch.hpp"

namespace nidus::resp {

/// What one client may ask for. The parser also holds a client that has not authenticated to
/// 10 arguments of 16 KiB, with Redis' error texts for it (`authenticated = false`).
struct Limits {
  std::size_t max_args = 1024 * 1024;
  std::size_t max_bulk_bytes = std::size_t{512} << 20;
  std::size_t max_inline_bytes = 64 * 1024;  ///< also the longest `*n` or `$n` line
  bool authenticated = true;
};

enum class ParseStatus {
  kOk,    ///< all consumed, max_requests reached, or the last request needs more bytes
  kError  ///< a protocol error: answer the batch, then `-ERR ` + error(), then close
};

/// Thread-safety: none; one parser a connection
class Parser {
 public:
  /// Parses as many complete requests as `bytes` holds, at most `max_requests`, and appends them to
  /// the batch. Empty lines, `*0` and `*-1` are consumed and give no request.
  ///
  /// @param bytes  starts at the first byte not yet consumed: what the last call left comes again,
  ///               at the same or another address, with new bytes behind it
  /// @param limits may change between calls (AUTH)
  /// Errors:        kError until reset(); requests before the error are in the batch and consumed
  /// Cost:          O(new bytes), however small the pieces; allocates in proportion to the bytes
  ///                received, never on a claimed length
  ParseStatus parse(std::string_view bytes, const Limits& limits, RequestBatch& batch,
                    std::size_t max_requests = static_cast<std::size_t>(-1));

  /// Bytes of the last call that belong to finished requests (or ignored ones). The caller drops
  /// them once the batch is executed.
  std::size_t consumed() const { return consumed_; }

  /// The error's text, without `-ERR `: "Protocol error: invalid bulk length". It may hold one
  /// arbitrary byte of the client's; Writer::error() makes it safe to send.
  std::string_view error() const { return error_; }

  /// A lower bound of the bytes the unfinished request takes from its first byte on, as claimed by
  /// the client within the limits; 0 when nothing is known. Grow a buffer by what arrived, with
  /// this as a hint where to stop doubling, never on the claim alone.
  std::size_t needed_bytes_hint() const { return needed_bytes_; }

  /// Bytes held for the unfinished request, for the account of memory.
  std::size_t capacity_bytes() const { return pending_.capacity() * sizeof(Span); }

  /// Back to the state of a new connection.
  void reset();

 private:
  struct Span {
    std::size_t offset;
    std::size_t size;
  };
  enum class Step { kDone, kNeedMore, kError };
  enum class Number { kNeedMore, kTooBig, kInvalid, kValid };
  struct EffectiveLimits;

  static const char* parse_complete(const char* at, const char* end, const EffectiveLimits& limits,
                                    RequestBatch& batch, std::size_t goal);
  Step parse_careful(std::string_view bytes, const EffectiveLimits& limits, RequestBatch& batch);
  std::size_t find_line_end(std::string_view bytes, char mark, const EffectiveLimits& limits);
  Step parse_inline(std::string_view bytes, const EffectiveLimits& limits, RequestBatch& batch);
  Step parse_count(std::string_view bytes, const EffectiveLimits& limits);
  Step parse_argument(std::string_view bytes, const EffectiveLimits& limits);
  Number read_number(std::string_view bytes, const EffectiveLimits& limits, std::int64_t& value);
  void finish_multibulk(std::string_view bytes, RequestBatch& batch);
  Step fail(std::string_view text);
  void forget_progress();

  // All offsets count from the unfinished request's first byte.
  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
  static constexpr std::size_t kTooBig = static_cast<std::size_t>(-2);
  std::size_t position_ = 0;           // behind what is parsed of it
  std::size_t scanned_ = 0;            // no line end lies between position_ and here
  std::size_t args_left_ = kUnknown;   // kUnknown: `*n` not read yet
  std::size_t bulk_bytes_ = kUnknown;  // kUnknown: `$n` of the next argument not read yet
  FlatArray<Span> pending_;            // its arguments so far
  std::size_t pending_count_ = 0;

  std::size_t consumed_ = 0;
  std::size_t needed_bytes_ = 0;
  bool failed_ = false;
  std::string error_;
};

}  // namespace nidus::resp
