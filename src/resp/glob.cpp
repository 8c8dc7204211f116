// SPDX-License-Identifier: Apache-2.0

// Matching of glob patterns (see glob.hpp). All rules for classes stand in walk_class(), which both
// the matcher and the compiler of bitmaps follow.

#include "resp/glob.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nidus::resp {
namespace {

// A class up to this long is read anew at each step; a longer one gets a bitmap, which then takes
// fewer bytes than the class itself.
constexpr std::size_t kShortClassBytes = 64;

// Redis gives up on a text that gets further than this many stars (one at the end takes all).
constexpr unsigned kMaxStars = 1000;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

char fold(char c, bool ignore_case) {
  return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Ranges are ordered as signed bytes, as Redis' are on x86: [\x01-\xff] is -1 to 1.
int ordinal(char c) { return static_cast<signed char>(c); }

struct ClassEnd {
  std::size_t end;  // behind `]`, or the pattern's end when that is missing
  bool negated;
};

// Walks through the class whose `[` is pattern[begin]; calls one of
//   escaped(c)      a byte behind a backslash: exactly this byte
//   literal(c)      a byte: either case when case is ignored
//   range(low, high)
template <typename Visitor>
ClassEnd walk_class(std::string_view pattern, std::size_t begin, Visitor& visitor) {
  std::size_t i = begin + 1;
  const bool negated = i < pattern.size() && pattern[i] == '^';
  if (negated) ++i;
  while (i < pattern.size()) {
    const std::size_t left = pattern.size() - i;
    if (pattern[i] == '\\' && left >= 2) {
      visitor.escaped(pattern[i + 1]);
      i += 2;
    } else if (pattern[i] == ']') {
      return {i + 1, negated};
    } else if (left >= 3 && pattern[i + 1] == '-') {
      const auto [low, high] = std::minmax(pattern[i], pattern[i + 2],
                                           [](char a, char b) { return ordinal(a) < ordinal(b); });
      visitor.range(low, high);
      i += 3;
    } else {
      visitor.literal(pattern[i]);
      ++i;
    }
  }
  return {pattern.size(), negated};
}

// Is one byte in the class?
struct Membership {
  char c;
  bool ignore_case;
  bool found = false;

  void escaped(char member) { found |= member == c; }
  void literal(char member) { found |= fold(member, ignore_case) == fold(c, ignore_case); }
  void range(char low, char high) {
    const int at = ordinal(fold(c, ignore_case));
    found |= at >= ordinal(fold(low, ignore_case)) && at <= ordinal(fold(high, ignore_case));
  }
};

// All bytes of the class at once, in constant time for each of its parts.
struct Collection {
  bool ignore_case;
  std::array<bool, 256> exact{};
  // Ranges of folded bytes as differences: +1 where one begins, -1 behind its end.
  std::array<std::int64_t, 257> edges{};

  static std::size_t index(char c) { return static_cast<std::size_t>(ordinal(c) + 128); }
  void escaped(char member) { exact[index(member)] = true; }
  void literal(char member) { range(member, member); }
  void range(char low, char high) {
    const std::size_t first = index(fold(low, ignore_case));
    const std::size_t last = index(fold(high, ignore_case));
    if (first > last) return;  // folding can turn a range round: [A-_]
    ++edges[first];
    --edges[last + 1];
  }

  std::array<std::uint64_t, 4> bits(bool negated) const {
    std::array<bool, 256> folded{};
    std::int64_t open = 0;
    for (std::size_t i = 0; i < 256; ++i) {
      open += edges[i];
      folded[i] = open > 0;
    }
    std::array<std::uint64_t, 4> result{};
    for (unsigned byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      const bool member = exact[index(c)] || folded[index(fold(c, ignore_case))];
      if (member != negated) result[byte / 64] |= std::uint64_t{1} << byte % 64;
    }
    return result;
  }
};

}  // namespace

Glob::Glob(std::string_view pattern, bool ignore_case)
    : pattern_(pattern), ignore_case_(ignore_case) {
  if (pattern.size() <= kShortClassBytes) return;
  std::size_t i = 0;
  while (i < pattern.size()) {
    if (pattern[i] == '[') {
      Collection collection{ignore_case};
      const ClassEnd found = walk_class(pattern, i, collection);
      if (found.end - i > kShortClassBytes) {
        long_classes_.push_back({i, found.end, collection.bits(found.negated)});
      }
      i = found.end;
    } else {
      i += pattern[i] == '\\' ? 2 : 1;
    }
  }
}

bool Glob::matches(std::string_view text) const {
  if (matches_everything()) return true;
  if (text.empty()) return pattern_.empty();
  std::size_t at = 0;         // in the pattern
  std::size_t i = 0;          // in the text
  std::size_t retry = kNone;  // behind the last `*` met: where a mismatch goes back to
  std::size_t retry_text = 0;
  unsigned stars = 0;
  while (i < text.size()) {
    if (at < pattern_.size() && pattern_[at] == '*') {
      while (at < pattern_.size() && pattern_[at] == '*') ++at;
      if (at == pattern_.size()) return true;
      if (++stars > kMaxStars) return false;
      retry = at;
      retry_text = i = skip_to_candidate(at, text, i);
    } else if (at < pattern_.size() && step(at, text[i])) {
      ++i;
    } else {
      if (retry == kNone) return false;
      at = retry;
      retry_text = i = skip_to_candidate(at, text, retry_text + 1);
    }
  }
  while (at < pattern_.size() && pattern_[at] == '*') ++at;
  return at == pattern_.size();
}

/// Where from text[from] on the pattern behind a `*` can begin to match: at a plain byte, the next
/// one like it.
std::size_t Glob::skip_to_candidate(std::size_t at, std::string_view text, std::size_t from) const {
  const char c = pattern_[at];
  if (ignore_case_ || c == '?' || c == '[' || c == '\\' || from >= text.size()) return from;
  return std::min(text.find(c, from), text.size());
}

/// Does `c` match the one-byte item at pattern_[at]? Steps behind the item either way.
bool Glob::step(std::size_t& at, char c) const {
  switch (pattern_[at]) {
    case '?':
      ++at;
      return true;
    case '[':
      return class_matches(at, c);
    case '\\':
      if (at + 1 < pattern_.size()) ++at;
      break;
    default:
      break;
  }
  return fold(pattern_[at++], ignore_case_) == fold(c, ignore_case_);
}

bool Glob::class_matches(std::size_t& at, char c) const {
  if (!long_classes_.empty()) {
    const auto found =
        std::lower_bound(long_classes_.begin(), long_classes_.end(), at,
                         [](const LongClass& a, std::size_t begin) { return a.begin < begin; });
    if (found != long_classes_.end() && found->begin == at) {
      at = found->end;
      const auto byte = static_cast<unsigned char>(c);
      return (found->bits[byte / 64] >> byte % 64 & 1) != 0;
    }
  }
  Membership membership{c, ignore_case_};
  const ClassEnd found = walk_class(pattern_, at, membership);
  at = found.end;
  return membership.found != found.negated;
}

bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case) {
  return Glob(pattern, ignore_case).matches(text);
}

}  // namespace nidus::resp
