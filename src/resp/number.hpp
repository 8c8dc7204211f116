// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers as Redis reads and writes them: the strict decimal integers of commands and of protocol
// lengths, and the long doubles of INCRBYFLOAT. Used by the parser and by the command layer.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nidus::resp {

/// The longest int64 in decimal: "-9223372036854775808".
inline constexpr std::size_t kMaxInt64Chars = 20;

/// A decimal int64 that would be written the same way: "0", "17", "-3". Not " 1", "1 ", "01", "-0",
/// "+1", "" or anything out of range.
///
/// Cost: one pass, no allocation
std::optional<std::int64_t> parse_int64(std::string_view text);

/// The same for uint64: no sign at all.
std::optional<std::uint64_t> parse_uint64(std::string_view text);

/// Writes `value` in decimal. Requires: room for kMaxInt64Chars bytes at `out`.
/// @returns the first byte behind the digits
inline char* format_int64(char* out, std::int64_t value) {
  return std::to_chars(out, out + kMaxInt64Chars, value).ptr;
}

/// A floating number as strtold reads it (also "1e5", "0x10", "inf"), but the whole of `text`,
/// without blanks before or behind, in range, and not NaN. Infinity is a value here; INCRBYFLOAT
/// refuses the sum instead. Assumes the C locale for numbers.
std::optional<long double> parse_long_double(std::string_view text);

/// INCRBYFLOAT's form: 17 digits behind the point, trailing zeros removed, "0" for "-0",
/// "inf"/"-inf".
std::string format_long_double(long double value);

}  // namespace nidus::resp
