// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of an inline request, one line typed by a person or a script: `SET k "a b\x00"`.
// The parser finds the line; this splits it.

#include <string_view>

#include "resp/request_batch.hpp"

namespace nidus::resp {

/// Splits `line` (without its line end) at blanks and appends its arguments as one request; a line
/// of blanks appends nothing. Quotes start anywhere in an argument and end it; within `"` the
/// escapes are \n \r \t \a \b \xHH and \ before any other byte for that byte, within `'` only \'.
///
/// @returns false for an unbalanced quote, or one with no blank behind it; the batch is unchanged
/// Cost:    one pass; arguments are views into `line` unless a quote in the middle or an escape
///          changes their bytes, and then one allocation of the line's size holds all of them
bool split_inline(std::string_view line, RequestBatch& batch);

}  // namespace nidus::resp
