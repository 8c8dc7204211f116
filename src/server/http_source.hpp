// SPDX-License-Identifier: Apache-2.0
#pragma once

// The server's figures as HTTP wants them: INFO's and /metrics' numbers come from the same places.

#include "http/figures.hpp"
#include "server/server.hpp"

namespace nidus::server {

/// Thread-safety: every call from every thread, while the server exists.
class HttpSource : public http::Source {
 public:
  explicit HttpSource(Server& server) : server_(server) {}
  http::Figures figures() override;
  bool ready() override { return server_.ready(); }

 private:
  Server& server_;
};

}  // namespace nidus::server
