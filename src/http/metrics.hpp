// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures as Prometheus' text format 0.0.4: names nidus_*, base units in the names, counters that
// end in _total, HELP and TYPE for each.

#include <string>

#include "http/figures.hpp"

namespace nidus::http {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

std::string metrics_text(const Figures& figures);

}  // namespace nidus::http
