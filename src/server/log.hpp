// SPDX-License-Identifier: Apache-2.0
#pragma once

// The server's log: one line an event, as text for people or as JSON for programs, to standard
// error or a file. An event is a fixed sentence and named fields (addresses, counts, limits); keys,
// values and passwords of clients are never among them. spdlog does the writing.
//
// Thread-safety: every call from every thread; open_log() once, before the others matter.

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include <nidus/base/error.hpp>

#include "server/config.hpp"

namespace nidus::server {

struct LogField {
  LogField(std::string_view field, std::string_view text) : name(field), value(text) {}
  LogField(std::string_view field, const char* text) : name(field), value(text) {}
  template <std::integral T>
  LogField(std::string_view field, T number)
      : name(field), value(std::to_string(number)), is_number(true) {}

  std::string_view name;
  std::string value;
  bool is_number = false;
};

/// Sends the log to `file` (appending), or to standard error if it is empty. Before this call the
/// log goes to standard error as text. Errors: the file cannot be opened; the log is as before.
Expected<void> open_log(LogLevel level, LogFormat format, const std::string& file);

void set_log_level(LogLevel level);

/// Writes "message name=value ..." or {"message": ..., "name": ...} if `level` is logged at all.
void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

inline void log_debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log(LogLevel::kDebug, message, fields);
}
inline void log_info(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log(LogLevel::kInfo, message, fields);
}
inline void log_warning(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log(LogLevel::kWarning, message, fields);
}
inline void log_error(std::string_view message, std::initializer_list<LogField> fields = {}) {
  log(LogLevel::kError, message, fields);
}

/// One line without its time and level; log()'s formatting, for tests.
std::string format_event(LogFormat format, std::string_view message,
                         std::initializer_list<LogField> fields);

}  // namespace nidus::server
