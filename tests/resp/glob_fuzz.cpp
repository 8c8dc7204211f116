// SPDX-License-Identifier: Apache-2.0

// Fuzz body of the glob matcher: the first byte chooses whether case matters, a newline parts the
// pattern from the text. Short inputs are checked against the definition.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "glob_oracle.hpp"
#include "resp/glob.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool ignore_case = (data[0] & 1) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t newline = bytes.find('\n');
  if (newline == std::string_view::npos) return 0;
  const std::string_view pattern = bytes.substr(0, newline);
  const std::string_view text = bytes.substr(newline + 1);
  const bool matched = nidus::resp::glob_match(pattern, text, ignore_case);
  // The definition tries every way to share the text among the stars.
  const auto stars = std::count(pattern.begin(), pattern.end(), '*');
  if (text.size() > 24 || stars > 5) return 0;
  const nidus::resp::testing::GlobOracle oracle(ignore_case);
  if (oracle.matches(pattern, text) != matched) std::abort();
  return 0;
}
