// SPDX-License-Identifier: Apache-2.0

// Reading and writing numbers by Redis' rules (see number.hpp).

#include "resp/number.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nidus::resp {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// 4933 digits of the largest long double, sign, point and 17 digits; also Redis' bound on input.
constexpr std::size_t kMaxLongDoubleChars = 5 * 1024;

}  // namespace

std::optional<std::uint64_t> parse_uint64(std::string_view text) {
  // std::from_chars takes neither blanks nor a plus sign, and for unsigned no minus; what is left
  // to refuse are leading zeros.
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_int64(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  const std::optional<std::uint64_t> magnitude = parse_uint64(text.substr(negative ? 1 : 0));
  if (!magnitude) return std::nullopt;
  constexpr std::uint64_t kMinMagnitude = std::uint64_t{1} << 63;
  if (negative) {
    if (*magnitude == 0 || *magnitude > kMinMagnitude) return std::nullopt;
    return static_cast<std::int64_t>(std::uint64_t{0} - *magnitude);
  }
  if (*magnitude >= kMinMagnitude) return std::nullopt;
  return static_cast<std::int64_t>(*magnitude);
}

std::optional<long double> parse_long_double(std::string_view text) {
  if (text.empty() || text.size() >= kMaxLongDoubleChars || is_blank(text.front())) {
    return std::nullopt;
  }
  char terminated[kMaxLongDoubleChars];  // strtold needs the end marked
  std::memcpy(terminated, text.data(), text.size());
  terminated[text.size()] = '\0';
  char* stop = nullptr;
  errno = 0;
  const long double value = std::strtold(terminated, &stop);
  if (stop != terminated + text.size() || std::isnan(value)) return std::nullopt;
  // Out of range is an error, a denormal result is not.
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

std::string format_long_double(long double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char digits[kMaxLongDoubleChars];
  // 17 digits behind the point: more would show the noise of binary fractions ("0.1").
  const int size = std::snprintf(digits, sizeof digits, "%.17Lf", value);
  std::string_view text(digits, static_cast<std::size_t>(size));
  if (text.find('.') != std::string_view::npos) {
    text.remove_suffix(text.size() - 1 - text.find_last_not_of('0'));
    if (text.back() == '.') text.remove_suffix(1);
  }
  return text == "-0" ? "0" : std::string(text);
}

}  // namespace nidus::resp
