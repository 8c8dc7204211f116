// SPDX-License-Identifier: Apache-2.0
#pragma once

// Redis' glob patterns (KEYS, SCAN MATCH, CONFIG GET): `*`, `?`, `[a-z]`, `[^x]`, `\` escapes, byte
// by byte. Compile a Glob once for many texts, or call glob_match() for one.
//
// Matching is a loop with one point of return, the last `*` met, never a recursion: a `*` that has
// found its rest once never needs another try, because a later `*` can take up all a longer match
// would leave. Long classes become bitmaps when compiled, so a step costs at most a short class.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nidus::resp {

/// Thread-safety: matches() is const and may run on any number of threads
class Glob {
 public:
  /// `pattern` must outlive the Glob. With `ignore_case`, ASCII letters match either way.
  /// Cost: one pass over the pattern; memory at most its size, and none without long classes
  explicit Glob(std::string_view pattern, bool ignore_case = false);

  /// Whether the whole of `text` matches. The empty text matches "" and "*" only, as in Redis.
  /// Cost: O(text) for usual patterns; at worst text x (pattern between two stars); no allocation
  bool matches(std::string_view text) const;

  /// The pattern is "*": everything matches, and callers may skip the calls.
  bool matches_everything() const { return pattern_ == "*"; }

  /// The pattern has nothing special: it matches itself alone, so one look-up answers KEYS
  /// (not meaningful with ignore_case).
  bool is_literal() const { return pattern_.find_first_of("*?[\\") == std::string_view::npos; }

 private:
  struct LongClass {
    std::size_t begin;  // of `[` in the pattern
    std::size_t end;    // behind `]`
    std::array<std::uint64_t, 4> bits;
  };

  std::size_t skip_to_candidate(std::size_t at, std::string_view text, std::size_t from) const;
  bool step(std::size_t& at, char c) const;
  bool class_matches(std::size_t& at, char c) const;

  std::string_view pattern_;
  bool ignore_case_;
  std::vector<LongClass> long_classes_;  // by begin
};

/// One match without keeping the compiled pattern.
bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case = false);

}  // namespace nidus::resp
