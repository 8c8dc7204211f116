// SPDX-License-Identifier: Apache-2.0

// The table of paths and their answers; see router.hpp.

#include "http/router.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "http/metrics.hpp"

namespace nidus::http {
namespace {

Response metrics(Source& source) {
  return {200, kMetricsContentType, metrics_text(source.figures()), {}};
}

Response health(Source&) { return {200, "application/json", "{\"status\":\"ok\"}\n", {}}; }

Response readiness(Source& source) {
  if (source.ready()) return {200, "application/json", "{\"status\":\"ready\"}\n", {}};
  return {503, "application/json", "{\"status\":\"not ready\"}\n", {}};
}

struct Route {
  std::string_view path;
  Response (*answer)(Source&);
};

constexpr Route kRoutes[] = {
    {"/metrics", &metrics},
    {"/healthz", &health},
    {"/readyz", &readiness},
};

}  // namespace

Response error_response(int status, std::string_view error, std::string_view hint) {
  boost::json::object body;
  body["error"] = error;
  body["hint"] = hint;
  return {status, "application/json", boost::json::serialize(body) + "\n", {}};
}

Response respond(const Request& request, Source& source) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  for (const Route& route : kRoutes) {
    if (route.path != path) continue;
    if (request.method == "GET" || request.method == "HEAD") return route.answer(source);
    Response refused = error_response(405, "method not allowed", "use GET or HEAD");
    refused.allow = "GET, HEAD";
    return refused;
  }
  return error_response(404, "not found", "there are /metrics, /healthz and /readyz");
}

}  // namespace nidus::http
