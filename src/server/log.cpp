// SPDX-License-Identifier: Apache-2.0

// Formats events and hands them to spdlog; see log.hpp. spdlog's pattern gives time and level, and
// what stands behind them is formatted here, with every text escaped: a client cannot forge a line.

#include "server/log.hpp"

#include <memory>
#include <utility>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

namespace nidus::server {
namespace {

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%e%z %-7l %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";

struct Log {
  std::shared_ptr<spdlog::logger> logger;
  LogFormat format;
};

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::shared_ptr<Log> make_log(spdlog::sink_ptr sink, LogLevel level, LogFormat format) {
  auto logger = std::make_shared<spdlog::logger>("nidus", std::move(sink));
  logger->set_pattern(format == LogFormat::kJson ? kJsonPattern : kTextPattern);
  logger->set_level(spdlog_level(level));
  logger->flush_on(spdlog::level::debug);  // few lines, and the last one counts
  return std::make_shared<Log>(Log{std::move(logger), format});
}

/// The log of this process. Replaced as a whole by open_log().
std::shared_ptr<Log>& place_of_log() {
  static std::shared_ptr<Log> place = make_log(std::make_shared<spdlog::sinks::stderr_sink_mt>(),
                                               LogLevel::kInfo, LogFormat::kText);
  return place;
}
std::shared_ptr<Log> current_log() { return std::atomic_load(&place_of_log()); }

std::string json_string(std::string_view text) {
  return boost::json::serialize(boost::json::string(text));
}

std::string text_value(const LogField& field) {
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; };
  bool plain = !field.value.empty();
  for (const char c : field.value) plain = plain && is_plain(c);
  return plain ? field.value : json_string(field.value);
}

}  // namespace

std::string format_event(LogFormat format, std::string_view message,
                         std::initializer_list<LogField> fields) {
  std::string out;
  if (format == LogFormat::kText) {
    out = message;
    for (const LogField& field : fields) {
      out.append(" ").append(field.name).append("=").append(text_value(field));
    }
    return out;
  }
  out = "\"message\":" + json_string(message);
  for (const LogField& field : fields) {
    out.append(",").append(json_string(field.name)).append(":");
    out.append(field.is_number ? field.value : json_string(field.value));
  }
  return out;
}

Expected<void> open_log(LogLevel level, LogFormat format, const std::string& file) {
  spdlog::sink_ptr sink;
  try {
    if (file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    }
  } catch (const spdlog::spdlog_ex& error) {
    return fail("log-file: " + std::string(error.what()));
  }
  std::atomic_store(&place_of_log(), make_log(std::move(sink), level, format));
  return {};
}

void set_log_level(LogLevel level) { current_log()->logger->set_level(spdlog_level(level)); }

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  const std::shared_ptr<Log> log = current_log();
  if (!log->logger->should_log(spdlog_level(level))) return;
  log->logger->log(spdlog_level(level), "{}", format_event(log->format, message, fields));
}

}  // namespace nidus::server
