// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replies out: appends RESP2 or RESP3 to an OutputBuffer, the last step before the socket. What a
// RESP2 client cannot read (maps, sets, booleans, doubles) is written as Redis writes it for RESP2.
// The replies of the hot path (status, integer, bulk, null, array) are inline here.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "resp/number.hpp"
#include "resp/output_buffer.hpp"

namespace nidus::resp {

/// Errors:        std::bad_alloc when the buffer grows
/// Thread-safety: none
/// Cost:          a store or two and one copy a reply; no allocation while capacity lasts
class Writer {
 public:
  /// `protocol` is 2 or 3. The buffer must outlive the writer.
  explicit Writer(OutputBuffer& out, int protocol = 2) : out_(&out), protocol_(protocol) {}

  int protocol() const { return protocol_; }
  void set_protocol(int protocol) { protocol_ = protocol; }
  OutputBuffer& buffer() { return *out_; }

  /// `+text`. Requires: no CR or LF in it.
  void simple(std::string_view text);
  /// `+OK`
  void ok() { raw("+OK\r\n"); }
  /// `-text`; the code comes first: "ERR syntax error". CR and LF at the ends are dropped and
  /// become blanks inside, so that a client's bytes in a message cannot forge a reply.
  void error(std::string_view code_and_message);
  /// `:value`
  void integer(std::int64_t value);
  /// `$size` and the bytes
  void bulk(std::string_view bytes);
  /// The header of a bulk of `n` bytes and its CRLF; the caller fills the `n` bytes returned before
  /// the next call on this writer.
  char* bulk_reserve(std::size_t n);
  /// The integer's digits as a bulk: `$2\r\n42\r\n`
  void bulk_integer(std::int64_t value);
  /// `$-1`, or `_` in RESP3
  void null() { protocol_ == 2 ? raw("$-1\r\n") : raw("_\r\n"); }
  /// `*-1`, or `_` in RESP3 (an aborted EXEC)
  void null_array() { protocol_ == 2 ? raw("*-1\r\n") : raw("_\r\n"); }
  /// The header of an array; `n` replies follow.
  void array(std::size_t n) { header('*', n); }
  /// The header of a map; 2 x `pairs` replies follow. RESP2: an array of them.
  void map(std::size_t pairs) { protocol_ == 2 ? header('*', 2 * pairs) : header('%', pairs); }
  /// The header of a set; RESP2: an array.
  void set(std::size_t n) { header(protocol_ == 2 ? '*' : '~', n); }
  /// The header of a push message; RESP2: an array.
  void push(std::size_t n) { header(protocol_ == 2 ? '*' : '>', n); }
  /// `#t` / `#f`; RESP2: `:1` / `:0`
  void boolean(bool value);
  /// `,value` in RESP3, a bulk in RESP2; 17 significant digits, "inf", "-inf", "nan"
  void real(double value);
  /// `=size` with a format of three letters ("txt"); RESP2: a bulk without it.
  void verbatim(std::string_view format, std::string_view text);
  /// Bytes that are a reply already.
  void raw(std::string_view bytes) { out_->append(bytes); }

 private:
  // A type byte, 20 digits, CRLF.
  static constexpr std::size_t kMaxHeaderBytes = 24;

  static char* put_header(char* at, char type, std::uint64_t n);
  static void copy(char* to, const char* from, std::size_t n);
  void header(char type, std::uint64_t n);

  OutputBuffer* out_;
  int protocol_;
};

/// Writes `type`, `n` in decimal and CRLF; always stores eight bytes. Room: kMaxHeaderBytes.
inline char* Writer::put_header(char* at, char type, std::uint64_t n) {
  // Up to two digits (nearly all lengths and counts) the header is one word, built in a register.
  const auto first = static_cast<unsigned char>(type);
  if (n < 10) {
    const std::uint64_t word = first | (('0' + n) << 8) | std::uint64_t{0x0A0D} << 16;
    std::memcpy(at, &word, sizeof word);
    return at + 4;
  }
  if (n < 100) {
    const std::uint64_t tens = n / 10;
    const std::uint64_t word =
        first | (('0' + tens) << 8) | (('0' + n - 10 * tens) << 16) | std::uint64_t{0x0A0D} << 24;
    std::memcpy(at, &word, sizeof word);
    return at + 5;
  }
  *at = type;
  at = std::to_chars(at + 1, at + kMaxHeaderBytes, n).ptr;
  std::memcpy(at, "\r\n", 2);
  return at + 2;
}

/// memcpy, with the call spared for up to 64 bytes: two overlapping moves of a fixed size.
inline void Writer::copy(char* to, const char* from, std::size_t n) {
  if (n >= 16 && n <= 32) {
    char first[16], last[16];
    std::memcpy(first, from, 16);
    std::memcpy(last, from + n - 16, 16);
    std::memcpy(to, first, 16);
    std::memcpy(to + n - 16, last, 16);
  } else if (n >= 8 && n < 16) {
    std::uint64_t first, last;
    std::memcpy(&first, from, 8);
    std::memcpy(&last, from + n - 8, 8);
    std::memcpy(to, &first, 8);
    std::memcpy(to + n - 8, &last, 8);
  } else if (n > 0) {
    std::memcpy(to, from, n);
  }
}

inline void Writer::header(char type, std::uint64_t n) {
  char* begin = out_->reserve(kMaxHeaderBytes);
  out_->commit(static_cast<std::size_t>(put_header(begin, type, n) - begin));
}

inline void Writer::integer(std::int64_t value) {
  if (value >= 0) return header(':', static_cast<std::uint64_t>(value));
  char* begin = out_->reserve(kMaxHeaderBytes);
  *begin = ':';
  char* end = format_int64(begin + 1, value);
  std::memcpy(end, "\r\n", 2);
  out_->commit(static_cast<std::size_t>(end + 2 - begin));
}

inline char* Writer::bulk_reserve(std::size_t n) {
  char* begin = out_->reserve(n + kMaxHeaderBytes + 2);
  char* bytes = put_header(begin, '$', n);
  std::memcpy(bytes + n, "\r\n", 2);
  out_->commit(static_cast<std::size_t>(bytes + n + 2 - begin));
  return bytes;
}

inline void Writer::bulk(std::string_view bytes) {
  copy(bulk_reserve(bytes.size()), bytes.data(), bytes.size());
}

}  // namespace nidus::resp
