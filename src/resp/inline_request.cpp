// SPDX-License-Identifier: Apache-2.0

// Splits an inline request. Each argument is first read as if its bytes stood in the line as they
// are (plain, or quoted as a whole without escapes); only when that fails is it decoded byte by
// byte.

#include "resp/inline_request.hpp"

#include <cstddef>

namespace nidus::resp {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Vertical tab and form feed separate arguments but do not end one: Redis' rule.
bool ends_plain(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    default:
      return c;
  }
}

// A closing quote must end the argument.
bool closes(std::string_view line, std::size_t quote) {
  return quote + 1 == line.size() || is_blank(line[quote + 1]);
}

// One byte of a `"` string from line[i] on; steps behind what it read.
char read_double_quoted(std::string_view line, std::size_t& i) {
  const std::size_t left = line.size() - i;
  if (line[i] != '\\' || left < 2) return line[i++];
  if (left >= 4 && line[i + 1] == 'x') {
    const int high = hex_digit(line[i + 2]);
    const int low = hex_digit(line[i + 3]);
    if (high >= 0 && low >= 0) {
      i += 4;
      return static_cast<char>(high * 16 + low);
    }
  }
  i += 2;
  return escaped(line[i - 1]);
}

char read_single_quoted(std::string_view line, std::size_t& i) {
  if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '\'') ++i;
  return line[i++];
}

// Reads the argument at line[i], whatever it holds, into `out`; steps behind both.
// False: an unbalanced quote.
bool decode(std::string_view line, std::size_t& i, char*& out) {
  char quote = 0;
  while (i < line.size()) {
    const char c = line[i];
    if (quote != 0 && c == quote) {
      return closes(line, i++);
    }
    if (quote == '"') {
      *out++ = read_double_quoted(line, i);
    } else if (quote == '\'') {
      *out++ = read_single_quoted(line, i);
    } else if (ends_plain(c)) {
      return true;
    } else {
      if (c == '"' || c == '\'') {
        quote = c;
      } else {
        *out++ = c;
      }
      ++i;
    }
  }
  return quote == 0;
}

// Reads the argument at line[i] if its bytes stand in the line as they are, and steps behind it.
bool view(std::string_view line, std::size_t& i, Arg& arg) {
  std::size_t end = i;
  const char quote = line[i];
  if (quote == '"' || quote == '\'') {
    ++end;
    while (end < line.size() && line[end] != quote && line[end] != '\\') ++end;
    if (end == line.size() || line[end] != quote || !closes(line, end)) return false;
    arg = line.substr(i + 1, end - i - 1);
    i = end + 1;
    return true;
  }
  while (end < line.size() && !ends_plain(line[end])) {
    if (line[end] == '"' || line[end] == '\'') return false;
    ++end;
  }
  arg = line.substr(i, end - i);
  i = end;
  return true;
}

}  // namespace

bool split_inline(std::string_view line, RequestBatch& batch) {
  // An argument takes a byte and, but for the last, a blank behind it.
  Arg* args = batch.reserve_args(line.size() / 2 + 1);
  std::size_t count = 0;
  char* unescaped = nullptr;
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && is_blank(line[i])) ++i;
    if (i == line.size()) break;
    if (!view(line, i, args[count])) {
      // Decoding never makes an argument longer, so one block of the line's size is enough.
      if (unescaped == nullptr) unescaped = batch.reserve_unescaped(line.size());
      char* const begin = unescaped;
      if (!decode(line, i, unescaped)) return false;
      args[count] = Arg(begin, static_cast<std::size_t>(unescaped - begin));
    }
    ++count;
  }
  if (count > 0) batch.commit(count);
  return true;
}

}  // namespace nidus::resp
