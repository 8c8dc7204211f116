// SPDX-License-Identifier: Apache-2.0

// The HTTP listener: accepts, reads one request after the other of each connection, writes what
// http/router.hpp answers. Everything runs on the one thread of its io_context, so that nothing
// here needs a lock; see http_listener.hpp.

#include "server/http_listener.hpp"

#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "http/router.hpp"
#include "server/config.hpp"
#include "server/log.hpp"

namespace nidus::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// What the connections share with their listener, on its thread.
struct Shared {
  http::Source& source;
  HttpLimits limits;
  std::size_t open_connections = 0;
};

/// One connection. It lives as long as an operation of its own is pending.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {
    ++shared_.open_connections;
  }
  ~Connection() { --shared_.open_connections; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(shared_.limits.header_bytes);
    parser_->body_limit(shared_.limits.body_bytes);
    stream_.expires_after(first_ ? shared_.limits.request_time : shared_.limits.idle_time);
    first_ = false;
    bhttp::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->answer(error); });
  }

 private:
  void answer(error_code error) {
    if (!error) {
      const auto& request = parser_->get();
      const http::Request parsed{view(request.method_string()), view(request.target())};
      return write(respond(parsed), request.keep_alive(), request.method() == bhttp::verb::head);
    }
    if (error == bhttp::error::header_limit || error == bhttp::error::buffer_overflow) {
      return refuse(431, "the request's header is too large");
    }
    if (error == bhttp::error::body_limit) return refuse(413, "the request's body is too large");
    // Errors of the protocol are answered; a peer that left or timed out is not.
    if (error.category() == bhttp::make_error_code(bhttp::error::bad_method).category() &&
        error != bhttp::error::end_of_stream && error != bhttp::error::partial_message) {
      return refuse(400, "this is not HTTP/1.1");
    }
  }

  http::Response respond(const http::Request& request) {
    try {
      return http::respond(request, shared_.source);
    } catch (const std::bad_alloc&) {  // the server goes on; the scrape comes again
      return http::error_response(500, "out of memory", "try again");
    }
  }

  void refuse(int status, std::string_view error) {
    write(http::error_response(status, error, "there are /metrics, /healthz and /readyz"), false,
          false);
  }

  void write(http::Response response, bool keep_alive, bool head_only) {
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(response.status));
    response_.set(bhttp::field::content_type, response.content_type);
    if (!response.allow.empty()) response_.set(bhttp::field::allow, response.allow);
    response_.set(bhttp::field::cache_control, "no-store");
    response_.keep_alive(keep_alive);
    response_.content_length(response.body.size());
    if (!head_only) response_.body() = std::move(response.body);
    stream_.expires_after(shared_.limits.request_time);
    bhttp::async_write(stream_, response_,
                       [self = shared_from_this(), keep_alive](error_code error, std::size_t) {
                         if (!error && keep_alive) return self->read();
                         self->close();
                       });
  }

  void close() {
    error_code ignored;  // the peer may be gone already
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  static std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_{64 * 1024};  // the most it may grow to
  std::optional<bhttp::request_parser<bhttp::string_body>> parser_;
  bhttp::response<bhttp::string_body> response_;
  bool first_ = true;
};

}  // namespace

struct HttpListener::State {
  State(http::Source& source, const HttpLimits& limits) : shared{source, limits} {}

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return retry_later(error);
      // Above the limit the connection is closed at once: a scrape is retried, a queue would grow.
      if (shared.open_connections < shared.limits.connections) {
        std::make_shared<Connection>(std::move(socket), shared)->read();
      }
      accept();
    });
  }

  /// Out of descriptors, for instance: without a pause this would spin.
  void retry_later(error_code error) {
    log_warning("cannot accept HTTP connections for now", {{"error", error.message()}});
    pause.expires_after(std::chrono::milliseconds(100));
    pause.async_wait([this](error_code stopped) {
      if (!stopped) accept();
    });
  }

  Shared shared;  // outlives the connections, whose handlers the context holds
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::thread thread;
};

HttpListener::HttpListener(http::Source& source, HttpLimits limits)
    : source_(source), limits_(limits) {}

HttpListener::~HttpListener() { stop(); }

Expected<void> HttpListener::start(const std::string& address, int port) {
  auto state = std::make_shared<State>(source_, limits_);
  const auto failed = [&](error_code error) {
    return fail("http-bind: cannot listen on " + address + " port " + std::to_string(port) + ": " +
                error.message());
  };
  error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) return fail("http-bind: '" + address + "' is not an IP address");
  const tcp::endpoint endpoint(ip, static_cast<std::uint16_t>(port == kAnyPort ? 0 : port));
  state->acceptor.open(endpoint.protocol(), error);
  if (!error) state->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) state->acceptor.bind(endpoint, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failed(error);
  port_ = state->acceptor.local_endpoint().port();
  state->accept();
  state->thread = std::thread([state = state.get()] { state->context.run(); });
  state_ = std::move(state);
  return {};
}

void HttpListener::stop() {
  if (!state_) return;
  state_->context.stop();
  state_->thread.join();
  state_.reset();
}

}  // namespace nidus::server
