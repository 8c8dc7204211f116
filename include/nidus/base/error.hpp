// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one type for "the environment failed": I/O, corrupt bytes, a bad option. Outcomes that a
// caller expects (absent, full, refused) are enums or optionals instead; broken preconditions are
// assertions. An Error's message says what, where and what to do.

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace nidus {

struct Error {
  std::string message;
};

template <class T>
using Expected = tl::expected<T, Error>;

/// Makes the error branch of an Expected.
inline tl::unexpected<Error> fail(std::string message) {
  return tl::unexpected<Error>(Error{std::move(message)});
}

}  // namespace nidus
