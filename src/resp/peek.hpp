// SPDX-License-Identifier: Apache-2.0
#pragma once

// A glance at bytes that have not been parsed yet: which key will the first request ask for? The
// server prefetches it while it still reads from other clients. A wrong answer costs a prefetch and
// nothing else, so only the usual form is looked at.

#include <cstddef>
#include <string_view>

namespace nidus::resp {

/// The second argument of the first request, if the bytes begin with a multibulk request and hold
/// it whole; else empty. Thread-safety: pure. Cost: some ten bytes are looked at.
inline std::string_view peek_second_argument(std::string_view bytes) {
  // Moves behind "<mark><number>\r\n"; numbers of more than 6 digits are not usual.
  const auto number = [&bytes](char mark, std::size_t& value) {
    if (bytes.size() < 4 || bytes[0] != mark) return false;
    value = 0;
    for (std::size_t i = 1; i < bytes.size() && i < 8; ++i) {
      const auto digit = static_cast<unsigned char>(bytes[i] - '0');
      if (digit > 9) {
        if (bytes[i] != '\r' || bytes.size() < i + 2) return false;
        bytes.remove_prefix(i + 2);
        return true;
      }
      value = value * 10 + digit;
    }
    return false;
  };
  std::size_t args = 0, size = 0;
  if (!number('*', args) || args < 2) return {};
  if (!number('$', size) || bytes.size() < size + 2) return {};
  bytes.remove_prefix(size + 2);
  if (!number('$', size) || bytes.size() < size) return {};
  return bytes.substr(0, size);
}

}  // namespace nidus::resp
