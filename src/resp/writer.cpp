// SPDX-License-Identifier: Apache-2.0

// The rarer replies (see writer.hpp).

#include "resp/writer.hpp"

#include <cassert>
#include <charconv>
#include <cmath>

namespace nidus::resp {

void Writer::simple(std::string_view text) {
  assert(text.find_first_of("\r\n") == std::string_view::npos);
  char* at = out_->reserve(text.size() + 3);
  *at++ = '+';
  copy(at, text.data(), text.size());
  std::memcpy(at + text.size(), "\r\n", 2);
  out_->commit(text.size() + 3);
}

void Writer::error(std::string_view code_and_message) {
  const auto is_line_end = [](char c) { return c == '\r' || c == '\n'; };
  std::string_view text = code_and_message;
  while (!text.empty() && is_line_end(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_line_end(text.front())) text.remove_prefix(1);
  char* at = out_->reserve(text.size() + 3);
  *at++ = '-';
  for (const char c : text) *at++ = is_line_end(c) ? ' ' : c;
  std::memcpy(at, "\r\n", 2);
  out_->commit(text.size() + 3);
}

void Writer::bulk_integer(std::int64_t value) {
  char digits[kMaxInt64Chars];
  const char* end = format_int64(digits, value);
  bulk({digits, static_cast<std::size_t>(end - digits)});
}

void Writer::boolean(bool value) {
  if (protocol_ == 2) return raw(value ? ":1\r\n" : ":0\r\n");
  raw(value ? "#t\r\n" : "#f\r\n");
}

void Writer::real(double value) {
  // The longest is "-2.2250738585072014e-308".
  char buffer[32];
  std::string_view text = "nan";
  if (!std::isnan(value)) {
    // printf's %.17g, whatever the locale.
    const auto result =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 17);
    text = {buffer, static_cast<std::size_t>(result.ptr - buffer)};
  }
  if (protocol_ == 2) return bulk(text);
  raw(",");
  raw(text);
  raw("\r\n");
}

void Writer::verbatim(std::string_view format, std::string_view text) {
  assert(format.size() == 3);
  if (protocol_ == 2) return bulk(text);
  header('=', text.size() + 4);
  raw(format);
  raw(":");
  raw(text);
  raw("\r\n");
}

}  // namespace nidus::resp
