// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the tests feed a parser: as a connection would, in pieces, keeping what was not consumed.
// Each call gets a fresh copy of exactly the bytes it may read, so that AddressSanitizer sees a
// read past the end, and so that the address changes between any two calls.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "resp/parser.hpp"

namespace nidus::resp::testing {

using Request = std::vector<std::string>;

/// What came of a stream of bytes.
struct Outcome {
  std::vector<Request> requests;
  std::string error;         ///< empty: none
  std::size_t consumed = 0;  ///< in all

  bool operator==(const Outcome&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  for (const Request& request : outcome.requests) {
    for (const std::string& arg : request) out << '[' << arg << ']';
    out << '\n';
  }
  return out << "error '" << outcome.error << "', consumed " << outcome.consumed;
}

inline std::string encode(const Request& request) {
  std::string bytes;
  const auto line = [&](char type, std::size_t n) {
    bytes += type;
    bytes += std::to_string(n);
    bytes += "\r\n";
  };
  line('*', request.size());
  for (const std::string& arg : request) {
    line('$', arg.size());
    bytes += arg;
    bytes += "\r\n";
  }
  return bytes;
}

/// A connection's side of the parser.
class Feeder {
 public:
  explicit Feeder(const Limits& limits = {},
                  std::size_t max_requests = static_cast<std::size_t>(-1))
      : limits_(limits), max_requests_(max_requests) {}

  /// Gives new bytes; false after an error.
  bool feed(std::string_view bytes) {
    unconsumed_ += bytes;
    // With max_requests, more requests may lie ready: go on until none comes.
    while (outcome_.error.empty() && parse_once()) {
    }
    return outcome_.error.empty();
  }

  const Outcome& outcome() const { return outcome_; }
  const Parser& parser() const { return parser_; }

 private:
  bool parse_once() {
    const auto copy = std::make_unique<char[]>(unconsumed_.size());
    std::copy(unconsumed_.begin(), unconsumed_.end(), copy.get());
    batch_.clear();
    const ParseStatus status =
        parser_.parse({copy.get(), unconsumed_.size()}, limits_, batch_, max_requests_);
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      outcome_.requests.emplace_back(batch_[i].begin(), batch_[i].end());
    }
    outcome_.consumed += parser_.consumed();
    unconsumed_.erase(0, parser_.consumed());
    if (status == ParseStatus::kError) outcome_.error = parser_.error();
    return batch_.size() > 0 && batch_.size() == max_requests_;
  }

  Limits limits_;
  std::size_t max_requests_;
  Parser parser_;
  RequestBatch batch_;
  std::string unconsumed_;
  Outcome outcome_;
};

inline Outcome parse_at_once(std::string_view bytes, const Limits& limits = {}) {
  Feeder feeder(limits);
  feeder.feed(bytes);
  return feeder.outcome();
}

/// Pieces of `piece` bytes.
inline Outcome parse_in_pieces(std::string_view bytes, std::size_t piece,
                               const Limits& limits = {}) {
  Feeder feeder(limits);
  for (std::size_t at = 0; at < bytes.size() && feeder.feed(bytes.substr(at, piece)); at += piece) {
  }
  return feeder.outcome();
}

/// Two pieces, the second beginning at `split`.
inline Outcome parse_split(std::string_view bytes, std::size_t split, const Limits& limits = {}) {
  Feeder feeder(limits);
  if (feeder.feed(bytes.substr(0, split))) feeder.feed(bytes.substr(split));
  return feeder.outcome();
}

}  // namespace nidus::resp::testing
