// SPDX-License-Identifier: Apache-2.0

// Paths, methods and what is said about wrong ones.

#include "http/router.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nidus::http {
namespace {

using testing::HasSubstr;

struct TestSource : Source {
  Figures figures() override { return {}; }
  bool ready() override { return is_ready; }
  bool is_ready = true;
};

TEST(Router, MetricsAreTextOfPrometheusVersion) {
  TestSource source;
  const Response response = respond({"GET", "/metrics"}, source);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(response.body, HasSubstr("nidus_connected_clients 0"));
}

TEST(Router, HealthIsAboutTheProcessAndReadinessAboutServing) {
  TestSource source;
  EXPECT_EQ(respond({"GET", "/readyz"}, source).status, 200);
  source.is_ready = false;
  EXPECT_EQ(respond({"GET", "/readyz"}, source).status, 503);
  EXPECT_EQ(respond({"GET", "/healthz"}, source).status, 200);
}

TEST(Router, AQueryDoesNotChangeThePath) {
  TestSource source;
  EXPECT_EQ(respond({"GET", "/healthz?verbose=1"}, source).status, 200);
}

TEST(Router, AnythingElseIs404AsJson) {
  TestSource source;
  for (const char* target : {"/", "", "/metrics/", "//metrics", "/METRICS", "*", "/../metrics"}) {
    const Response response = respond({"GET", target}, source);
    EXPECT_EQ(response.status, 404) << target;
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_THAT(response.body, HasSubstr("\"error\":\"not found\""));
  }
}

TEST(Router, OtherMethodsAreRefusedWithTheAllowedOnes) {
  TestSource source;
  const Response response = respond({"POST", "/metrics"}, source);
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.allow, "GET, HEAD");
  EXPECT_EQ(respond({"HEAD", "/metrics"}, source).status, 200);
  EXPECT_EQ(respond({"POST", "/"}, source).status, 404);
}

}  // namespace
}  // namespace nidus::http
