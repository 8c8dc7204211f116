// SPDX-License-Identifier: Apache-2.0
#pragma once

// The definition of a glob match, for tests: tries everything a `*` may take, and asks of each
// class byte by byte what it holds. Exponential; for short patterns only.

#include <cctype>
#include <string_view>
#include <utility>

namespace nidus::resp::testing {

class GlobOracle {
 public:
  explicit GlobOracle(bool ignore_case) : ignore_case_(ignore_case) {}

  bool matches(std::string_view pattern, std::string_view text) const {
    // The empty text has a rule of its own in Redis: stars in front of nothing do not match it.
    if (text.empty()) return pattern.empty() || pattern == "*";
    return rest_matches(pattern, text);
  }

 private:
  bool rest_matches(std::string_view pattern, std::string_view text) const {
    if (pattern.empty()) return text.empty();
    if (pattern.front() == '*') {
      for (std::size_t taken = 0; taken <= text.size(); ++taken) {
        if (rest_matches(pattern.substr(1), text.substr(taken))) return true;
      }
      return false;
    }
    if (text.empty()) return false;
    const auto [matched, length] = item_matches(pattern, text.front());
    return matched && rest_matches(pattern.substr(length), text.substr(1));
  }

  // The item at the pattern's front: does it take `c`, and how long is it?
  std::pair<bool, std::size_t> item_matches(std::string_view pattern, char c) const {
    switch (pattern.front()) {
      case '?':
        return {true, 1};
      case '[':
        return class_matches(pattern, c);
      case '\\':
        if (pattern.size() > 1) return {same(pattern[1], c), 2};
        [[fallthrough]];
      default:
        return {same(pattern.front(), c), 1};
    }
  }

  std::pair<bool, std::size_t> class_matches(std::string_view pattern, char c) const {
    std::size_t i = 1;
    const bool negated = pattern.substr(i, 1) == "^";
    if (negated) ++i;
    bool found = false;
    while (i < pattern.size() && pattern[i] != ']') {
      const std::string_view rest = pattern.substr(i);
      if (rest.size() >= 2 && rest[0] == '\\') {
        found |= rest[1] == c;
        i += 2;
      } else if (rest.size() >= 3 && rest[1] == '-') {
        int low = static_cast<signed char>(rest[0]);
        int high = static_cast<signed char>(rest[2]);
        if (low > high) std::swap(low, high);
        found |= lower(low) <= lower(static_cast<signed char>(c)) &&
                 lower(static_cast<signed char>(c)) <= lower(high);
        i += 3;
      } else {
        found |= same(rest[0], c);
        i += 1;
      }
    }
    return {found != negated, i < pattern.size() ? i + 1 : i};
  }

  bool same(char a, char b) const {
    return lower(static_cast<signed char>(a)) == lower(static_cast<signed char>(b));
  }
  int lower(int c) const { return ignore_case_ && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

  bool ignore_case_;
};

}  // namespace nidus::resp::testing
