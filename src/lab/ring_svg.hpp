// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ring as a picture.

#include <string>

#include <nidus/base/error.hpp>

#include "lab/ring_report.hpp"

namespace nidus::lab {

/// An SVG document: the circle, each arc in its node's colour, with a legend; after a change a thin
/// outer band shows what has moved.
/// Errors: the placement knows no circle; no nodes.
Expected<std::string> ring_svg(const RingAnswer& answer);

}  // namespace nidus::lab
