// SPDX-License-Identifier: Apache-2.0

// The HTTP listener over a real socket on loopback: keep-alive, limits, broken requests, stopping.

#include "server/http_listener.hpp"

#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "server/config.hpp"

namespace nidus::server {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct TestSource : http::Source {
  http::Figures figures() override { return {}; }
  bool ready() override { return true; }
};

class Client {
 public:
  explicit Client(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{5, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& bytes) { ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  /// What comes until the peer closes, or until `mark` has come.
  std::string receive(const std::string& mark = "") {
    std::string got;
    char part[4096];
    while (mark.empty() || got.find(mark) == std::string::npos) {
      const ssize_t n = ::recv(fd_, part, sizeof part, 0);
      if (n <= 0) break;
      got.append(part, static_cast<std::size_t>(n));
    }
    return got;
  }
  /// True if the peer closed (within the patience above).
  bool is_closed() {
    char byte;
    return ::recv(fd_, &byte, 1, 0) == 0;
  }

 private:
  int fd_;
};

class HttpListenerTest : public testing::Test {
 protected:
  void start(HttpLimits limits = {}) {
    listener_ = std::make_unique<HttpListener>(source_, limits);
    const auto started = listener_->start("127.0.0.1", kAnyPort);
    ASSERT_TRUE(started) << started.error().message;
  }
  std::string ask(const std::string& request) {
    Client client(listener_->port());
    client.send(request);
    return client.receive();
  }
  TestSource source_;
  std::unique_ptr<HttpListener> listener_;
};

TEST_F(HttpListenerTest, AnswersMetricsWithItsLength) {
  start();
  const std::string got = ask("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(got, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(got, HasSubstr("# TYPE nidus_commands_total counter\n"));
  const std::size_t body = got.find("\r\n\r\n") + 4;
  EXPECT_THAT(got, HasSubstr("Content-Length: " + std::to_string(got.size() - body) + "\r\n"));
}

TEST_F(HttpListenerTest, AConnectionServesSeveralRequests) {
  start();
  Client client(listener_->port());
  for (int i = 0; i < 3; ++i) {
    client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.receive("ok\"}\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
}

TEST_F(HttpListenerTest, HeadGivesTheLengthAndNoBody) {
  start();
  const std::string got = ask("HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(got, HasSubstr("Content-Length: 16\r\n"));
  EXPECT_THAT(got, EndsWith("\r\n\r\n"));
}

TEST_F(HttpListenerTest, UnknownPathsAndMethodsAreJsonErrors) {
  start();
  EXPECT_THAT(ask("GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  const std::string got = ask("DELETE /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(got, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(got, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_THAT(got, HasSubstr("\"error\":\"method not allowed\""));
}

TEST_F(HttpListenerTest, WhatIsNotHttpIsRefusedAndClosed) {
  start();
  EXPECT_THAT(ask("*1\r\n$4\r\nPING\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\nA: " + std::string(20'000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpListenerTest, ARequestThatNeverEndsIsCutOff) {
  start({.request_time = milliseconds(100)});
  Client client(listener_->port());
  client.send("GET /metrics HTTP/1.1\r\n");
  EXPECT_TRUE(client.is_closed());
}

TEST_F(HttpListenerTest, AnIdleConnectionIsClosed) {
  start({.idle_time = milliseconds(100)});
  Client client(listener_->port());
  client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.receive("ok\"}\n"), HasSubstr("200 OK"));
  EXPECT_TRUE(client.is_closed());
}

TEST_F(HttpListenerTest, ConnectionsAboveTheLimitAreClosedAndTheOthersServed) {
  start({.connections = 1});
  Client first(listener_->port());
  first.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(first.receive("ok\"}\n"), HasSubstr("200 OK"));
  Client second(listener_->port());
  EXPECT_TRUE(second.is_closed());
  first.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(first.receive("ok\"}\n"), HasSubstr("200 OK"));
}

TEST_F(HttpListenerTest, StopsWithConnectionsOpen) {
  start();
  Client idle(listener_->port());
  Client half(listener_->port());
  half.send("GET /met");
  std::this_thread::sleep_for(milliseconds(20));
  listener_->stop();
  listener_->stop();  // a second time does nothing
  EXPECT_TRUE(idle.is_closed());
}

TEST_F(HttpListenerTest, APortInUseIsAnErrorThatNamesIt) {
  start();
  HttpListener other(source_);
  const auto started = other.start("127.0.0.1", listener_->port());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("port " + std::to_string(listener_->port())));
  EXPECT_FALSE(other.start("localhost", kAnyPort));
}

}  // namespace
}  // namespace nidus::server
