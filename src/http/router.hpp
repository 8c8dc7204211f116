// SPDX-License-Identifier: Apache-2.0
#pragma once

// One HTTP request in, one response out; no I/O. The listener (server/http_listener.hpp) speaks the
// protocol. The paths: /metrics, /healthz (the process answers), /readyz (it serves clients).

#include <string>
#include <string_view>

#include "http/figures.hpp"

namespace nidus::http {

struct Request {
  std::string_view method;
  std::string_view target;  // as sent, with its query
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string allow;  // the header Allow, for status 405
};

/// Errors: 404 and 405, as JSON: {"error": "...", "hint": "..."}.
/// Thread-safety: as Source
Response respond(const Request& request, Source& source);

/// An error as respond() writes it; also for what the listener itself refuses.
Response error_response(int status, std::string_view error, std::string_view hint);

}  // namespace nidus::http
