// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handlers of the bitmap commands, for their table in bits.cpp, and what they share. A value is
// a row of bits; bit 0 is the highest bit of the first byte.

#include <cstdint>
#include <optional>

#include "command/context.hpp"

namespace nidus::command {

void setbit(Context& context);
void getbit(Context& context);
void bitcount(Context& context);
void bitpos(Context& context);
void bitop(Context& context);
void bitfield(Context& context);
void bitfield_ro(Context& context);

/// A bit's offset as commands take it: within the largest value. `factor` multiplies it first
/// (BITFIELD's "#3" counts whole fields). Otherwise the error is replied.
std::optional<std::uint64_t> bit_offset(Context& context, std::string_view text,
                                        unsigned factor = 1);

}  // namespace nidus::command
