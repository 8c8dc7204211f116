// SPDX-License-Identifier: Apache-2.0

// The two readers of requests (see parser.hpp): the fast one for requests complete in the buffer,
// the careful one for everything else.

#include "resp/parser.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "resp/inline_request.hpp"
#include "resp/number.hpp"

namespace nidus::resp {
namespace {

// Redis: the count is an int.
constexpr std::int64_t kMaxClaimedArgs = 2147483647;
// Before AUTH, and what a claim must exceed to be called invalid instead (proto-max-bulk-len).
constexpr std::size_t kUnauthenticatedArgs = 10;
constexpr std::size_t kUnauthenticatedBulkBytes = 16 * 1024;
constexpr std::size_t kUnauthenticatedInvalidBytes = std::size_t{512} << 20;

// `$0\r\n\r\n`
constexpr std::size_t kMinArgumentBytes = 6;

// Memory for the arguments of an unfinished request that a connection keeps.
constexpr std::size_t kRetainedSpans = 64;

// Up to ten digits and their CR from `at` on, all before `end`; returns the CR. Null when there is
// anything else (the careful reader then says what).
const char* read_digits(const char* at, const char* end, std::size_t& value) {
  constexpr std::ptrdiff_t kMaxDigits = 10;
  const char* const stop = end - at > kMaxDigits + 1 ? at + kMaxDigits + 1 : end;
  const char* const begin = at;
  std::size_t n = 0;
  while (at < stop) {
    const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
    if (digit > 9) break;
    n = n * 10 + digit;
    ++at;
  }
  if (at == stop || at == begin || *at != '\r' || *begin == '0') return nullptr;
  value = n;
  return at;
}

}  // namespace

// The limits as they hold for this client, authenticated or not.
struct Parser::EffectiveLimits {
  explicit EffectiveLimits(const Limits& limits)
      : max_args(limits.max_args),
        max_bulk_bytes(limits.max_bulk_bytes),
        max_line_bytes(limits.max_inline_bytes),
        authenticated(limits.authenticated) {
    if (!authenticated) {
      max_args = std::min(max_args, kUnauthenticatedArgs);
      max_bulk_bytes = std::min(max_bulk_bytes, kUnauthenticatedBulkBytes);
    }
  }

  std::size_t max_args;
  std::size_t max_bulk_bytes;
  std::size_t max_line_bytes;
  bool authenticated;
};

ParseStatus Parser::parse(std::string_view bytes, const Limits& limits, RequestBatch& batch,
                          std::size_t max_requests) {
  consumed_ = 0;
  needed_bytes_ = 0;
  if (failed_) return ParseStatus::kError;
  assert(bytes.size() >= scanned_);  // the unconsumed bytes come again
  const EffectiveLimits effective(limits);
  const std::size_t room = static_cast<std::size_t>(-1) - batch.size();
  const std::size_t goal = batch.size() + std::min(max_requests, room);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  Step step = Step::kDone;
  while (at != end && batch.size() < goal) {
    if (scanned_ == 0) {
      at = parse_complete(at, end, effective, batch, goal);
      if (at == end || batch.size() == goal) break;
    }
    step = parse_careful({at, static_cast<std::size_t>(end - at)}, effective, batch);
    if (step != Step::kDone) break;
    at += position_;
    forget_progress();
  }
  consumed_ = static_cast<std::size_t>(at - bytes.data());
  return step == Step::kError ? ParseStatus::kError : ParseStatus::kOk;
}

/// Reads multibulk requests from `at` on as long as each lies complete before `end` and within the
/// limits, up to `goal` in the batch. Returns the first byte it did not take.
///
/// Like the careful reader it does not look at the byte behind a CR nor at the two behind an
/// argument; Redis does not either.
const char* Parser::parse_complete(const char* at, const char* const end,
                                   const EffectiveLimits& limits, RequestBatch& batch,
                                   std::size_t goal) {
  const std::size_t max_args = limits.max_args;
  const std::size_t max_bulk_bytes = limits.max_bulk_bytes;
  while (batch.size() < goal) {
    const char* p = at;
    const auto left = [&] { return static_cast<std::size_t>(end - p); };
    if (left() < 4 + kMinArgumentBytes || *p != '*') return at;
    std::size_t count = static_cast<unsigned char>(p[1]) - std::size_t{'0'};
    if (p[2] != '\r' || count > 9) [[unlikely]] {
      p = read_digits(p + 1, end - 1, count);
      if (p == nullptr) return at;
      p += 2;
    } else {
      p += 4;
    }
    // More arguments than bytes can hold are not complete: nothing is allocated on the claim alone.
    if (count == 0 || count > max_args || left() / kMinArgumentBytes < count) return at;
    Arg* const args = batch.reserve_args(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (left() < kMinArgumentBytes || *p != '$') return at;
      std::size_t size = static_cast<unsigned char>(p[1]) - std::size_t{'0'};
      if (p[2] == '\r' && size <= 9) {
        p += 4;
      } else if (const std::size_t ones = static_cast<unsigned char>(p[2]) - std::size_t{'0'};
                 p[3] == '\r' && ones <= 9 && size - 1 < 9) {
        size = size * 10 + ones;
        p += 5;
      } else {
        p = read_digits(p + 1, end - 1, size);
        if (p == nullptr) return at;
        p += 2;
      }
      if (size > max_bulk_bytes || left() < size + 2) return at;
      args[i] = Arg(p, size);
      p += size + 2;
    }
    batch.commit(count);
    at = p;
  }
  return at;
}

/// Goes on with the unfinished request, whose first byte is bytes[0]. kDone: it is finished, and
/// position_ is behind it.
Parser::Step Parser::parse_careful(std::string_view bytes, const EffectiveLimits& limits,
                                   RequestBatch& batch) {
  if (bytes.front() != '*') return parse_inline(bytes, limits, batch);
  Step step = Step::kDone;
  if (args_left_ == kUnknown) step = parse_count(bytes, limits);
  while (step == Step::kDone && args_left_ > 0) step = parse_argument(bytes, limits);
  if (step == Step::kDone) finish_multibulk(bytes, batch);
  if (step == Step::kNeedMore && args_left_ != kUnknown) {
    const bool inside = bulk_bytes_ != kUnknown;
    needed_bytes_ = position_ + (inside ? bulk_bytes_ + 2 : kMinArgumentBytes) +
                    (args_left_ - 1) * kMinArgumentBytes;
  }
  return step;
}

/// The first `mark` at or behind position_; kUnknown when it may still come, kTooBig when the line
/// is longer than allowed. Bytes without it are looked at once.
std::size_t Parser::find_line_end(std::string_view bytes, char mark,
                                  const EffectiveLimits& limits) {
  const std::size_t left = bytes.size() - position_;
  const std::size_t window_end = position_ + std::min(left, limits.max_line_bytes + 1);
  if (scanned_ < window_end) {
    const void* found = std::memchr(bytes.data() + scanned_, mark, window_end - scanned_);
    if (found != nullptr) {
      scanned_ = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
      return scanned_;
    }
    scanned_ = window_end;
  }
  return left > limits.max_line_bytes ? kTooBig : kUnknown;
}

Parser::Step Parser::parse_inline(std::string_view bytes, const EffectiveLimits& limits,
                                  RequestBatch& batch) {
  std::size_t size = find_line_end(bytes, '\n', limits);
  if (size == kUnknown) return Step::kNeedMore;
  if (size == kTooBig) return fail("too big inline request");
  position_ = size + 1;
  if (size > 0 && bytes[size - 1] == '\r') --size;
  if (!split_inline(bytes.substr(0, size), batch)) return fail("unbalanced quotes in request");
  return Step::kDone;
}

/// Reads the line at position_: one byte of type, a number, CR and one byte more. kValid: steps
/// behind it.
Parser::Number Parser::read_number(std::string_view bytes, const EffectiveLimits& limits,
                                   std::int64_t& value) {
  const std::size_t cr = find_line_end(bytes, '\r', limits);
  if (cr == kUnknown) return Number::kNeedMore;
  if (cr == kTooBig) return Number::kTooBig;
  if (bytes.size() - cr < 2) return Number::kNeedMore;
  const std::size_t line = position_;
  position_ = scanned_ = cr + 2;
  if (cr == line) return Number::kInvalid;  // not even a type
  const std::optional<std::int64_t> parsed = parse_int64(bytes.substr(line + 1, cr - line - 1));
  if (!parsed) return Number::kInvalid;
  value = *parsed;
  return Number::kValid;
}

Parser::Step Parser::parse_count(std::string_view bytes, const EffectiveLimits& limits) {
  std::int64_t count = 0;
  switch (read_number(bytes, limits, count)) {
    case Number::kNeedMore:
      return Step::kNeedMore;
    case Number::kTooBig:
      return fail("too big mbulk count string");
    case Number::kInvalid:
      return fail("invalid multibulk length");
    case Number::kValid:
      break;
  }
  if (count <= 0) {
    args_left_ = 0;
    return Step::kDone;
  }
  if (static_cast<std::uint64_t>(count) > limits.max_args) {
    return fail(limits.authenticated || count > kMaxClaimedArgs
                    ? "invalid multibulk length"
                    : "unauthenticated multibulk length");
  }
  args_left_ = static_cast<std::size_t>(count);
  return Step::kDone;
}

/// Reads the next argument, its header first if it is not known yet.
Parser::Step Parser::parse_argument(std::string_view bytes, const EffectiveLimits& limits) {
  if (bulk_bytes_ == kUnknown) {
    const std::size_t line = position_;
    std::int64_t size = 0;
    const Number number = read_number(bytes, limits, size);
    if (number == Number::kNeedMore) return Step::kNeedMore;
    if (number == Number::kTooBig) return fail("too big bulk count string");
    if (bytes[line] != '$') {
      fail("expected '$', got '");
      error_ += bytes[line];
      error_ += '\'';
      return Step::kError;
    }
    if (number == Number::kInvalid || size < 0) return fail("invalid bulk length");
    const auto claimed = static_cast<std::uint64_t>(size);
    if (claimed > limits.max_bulk_bytes) {
      return fail(limits.authenticated || claimed > kUnauthenticatedInvalidBytes
                      ? "invalid bulk length"
                      : "unauthenticated bulk length");
    }
    bulk_bytes_ = static_cast<std::size_t>(claimed);
  }
  if (bytes.size() - position_ < bulk_bytes_ + 2) return Step::kNeedMore;
  pending_.ensure(pending_count_ + 1);
  pending_.data()[pending_count_++] = Span{position_, bulk_bytes_};
  position_ += bulk_bytes_ + 2;
  scanned_ = position_;
  bulk_bytes_ = kUnknown;
  --args_left_;
  return Step::kDone;
}

/// Turns the offsets of a finished request into views; `*0` has none and is no request.
void Parser::finish_multibulk(std::string_view bytes, RequestBatch& batch) {
  if (pending_count_ == 0) return;
  Arg* const args = batch.reserve_args(pending_count_);
  for (std::size_t i = 0; i < pending_count_; ++i) {
    const Span span = pending_.data()[i];
    args[i] = bytes.substr(span.offset, span.size);
  }
  batch.commit(pending_count_);
}

Parser::Step Parser::fail(std::string_view text) {
  failed_ = true;
  error_ = "Protocol error: ";
  error_ += text;
  return Step::kError;
}

void Parser::forget_progress() {
  position_ = 0;
  scanned_ = 0;
  args_left_ = kUnknown;
  bulk_bytes_ = kUnknown;
  pending_count_ = 0;
  pending_.shrink_to(kRetainedSpans);
}

void Parser::reset() {
  forget_progress();
  consumed_ = 0;
  needed_bytes_ = 0;
  failed_ = false;
  error_.clear();
}

}  // namespace nidus::resp
