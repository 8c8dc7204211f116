// SPDX-License-Identifier: Apache-2.0

// A recursive descent over the syntax line (command_syntax.hpp). The lines are our own, so anything
// odd is taken as a word rather than refused; a test reads every line of the table.

#include "command/command_syntax.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <utility>

namespace nidus::command {
namespace {

using Arguments = std::vector<SyntaxArgument>;

struct Type {
  std::string_view name;
  std::string_view words;  // argument names of this type, each between blanks
};
constexpr Type kTypes[] = {
    {"key", " key newkey destkey source destination key1 key2 "},
    {"pattern", " pattern "},
    {"unix-time", " unix-time-seconds unix-time-milliseconds "},
    {"double", " float-increment "},
    {"integer",
     " seconds milliseconds offset start end increment decrement count cursor index db bit len "
     "min-match-len destination-db client-id protover id maxage "},
};

std::string_view type_of(std::string_view name) {
  const std::string word = " " + std::string(name) + " ";
  for (const Type& type : kTypes) {
    if (type.words.find(word) != std::string_view::npos) return type.name;
  }
  return "string";
}

bool is_token(std::string_view word) {
  return std::isupper(static_cast<unsigned char>(word.front())) != 0 &&
         std::none_of(word.begin(), word.end(),
                      [](unsigned char c) { return std::islower(c) != 0; });
}

std::string folded(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

SyntaxArgument block(Arguments arguments) {
  SyntaxArgument made;
  made.name = arguments.front().name;
  made.type = "block";
  made.arguments = std::move(arguments);
  return made;
}

SyntaxArgument single(Arguments sequence) {
  return sequence.size() == 1 ? std::move(sequence.front()) : block(std::move(sequence));
}

class SyntaxReader {
 public:
  explicit SyntaxReader(std::string_view text) : text_(text) {}

  /// A sequence of arguments up to `|`, a closing bracket or the end. `repeats` tells of "...".
  Arguments sequence(bool& repeats) {
    Arguments made;
    repeats = false;
    for (std::string_view word = peek(); !word.empty() && !ends_sequence(word); word = peek()) {
      next();
      if (word == "...") {
        repeats = true;
      } else if (word == "[" || word == "<") {
        group(made, word == "[");
      } else if (is_token(word)) {
        made.push_back(token(word));
      } else {
        made.push_back(plain(word));
      }
    }
    return made;
  }

  /// Skips a stray separator at the top level; false at the end.
  bool skip() {
    const bool more = !peek().empty();
    if (more) next();
    return more;
  }

 private:
  static constexpr std::string_view kMarks = "[]<>|";

  static bool ends_sequence(std::string_view word) {
    return word == "|" || word == "]" || word == ">";
  }

  std::string_view peek() {
    at_ = std::min(text_.find_first_not_of(' ', at_), text_.size());
    if (at_ == text_.size()) return {};
    if (kMarks.find(text_[at_]) != std::string_view::npos) return text_.substr(at_, 1);
    const std::size_t end = text_.find_first_of(" []<>|", at_);
    return text_.substr(at_, end == std::string_view::npos ? end : end - at_);
  }
  void next() { at_ += peek().size(); }

  static SyntaxArgument plain(std::string_view word) {
    SyntaxArgument made;
    made.name = word;
    made.type = type_of(word);
    return made;
  }

  // A token takes the plain words behind it as its arguments.
  SyntaxArgument token(std::string_view word) {
    Arguments values;
    for (std::string_view value = peek();
         !value.empty() && kMarks.find(value.front()) == std::string_view::npos && value != "..." &&
         !is_token(value);
         value = peek()) {
      next();
      values.push_back(plain(value));
    }
    SyntaxArgument made;
    if (values.empty()) {
      made.type = "pure-token";
      made.name = folded(word);
    } else {
      made = single(std::move(values));
    }
    made.token = word;
    return made;
  }

  void group(Arguments& before, bool optional) {
    Arguments alternatives;
    bool repeats = false;
    do {
      bool repeats_here = false;
      Arguments one = sequence(repeats_here);
      repeats |= repeats_here;
      if (!one.empty()) alternatives.push_back(single(std::move(one)));
      if (peek() != "|") break;
      next();
    } while (true);
    next();  // the closing bracket
    if (alternatives.empty()) return;
    if (optional && repeats && merge_repeat(before, alternatives)) return;
    SyntaxArgument made;
    if (alternatives.size() == 1) {
      made = std::move(alternatives.front());
    } else {
      made.name = alternatives.front().name;
      made.type = "oneof";
      made.arguments = std::move(alternatives);
    }
    made.optional |= optional;
    made.multiple |= repeats;
    before.push_back(std::move(made));
  }

  /// "key value [key value ...]": the bracket names what stands before it, which is then multiple.
  static bool merge_repeat(Arguments& before, const Arguments& alternatives) {
    if (alternatives.size() != 1) return false;
    const SyntaxArgument& repeated = alternatives.front();
    const std::span<const SyntaxArgument> parts =
        repeated.type == "block" && repeated.token.empty()
            ? std::span<const SyntaxArgument>(repeated.arguments)
            : std::span<const SyntaxArgument>(&repeated, 1);
    if (before.size() < parts.size()) return false;
    const auto first = before.end() - static_cast<std::ptrdiff_t>(parts.size());
    const bool same = std::equal(parts.begin(), parts.end(), first, before.end(),
                                 [](const SyntaxArgument& a, const SyntaxArgument& b) {
                                   return a.name == b.name && a.token == b.token;
                                 });
    if (!same) return false;
    SyntaxArgument made =
        single(Arguments(std::make_move_iterator(first), std::make_move_iterator(before.end())));
    made.multiple = true;
    before.erase(first, before.end());
    before.push_back(std::move(made));
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<SyntaxArgument> parse_syntax(std::string_view syntax) {
  SyntaxReader reader(syntax);
  Arguments all;
  do {
    bool repeats = false;
    Arguments part = reader.sequence(repeats);
    if (repeats && !part.empty()) part.back().multiple = true;
    std::move(part.begin(), part.end(), std::back_inserter(all));
  } while (reader.skip());
  return all;
}

}  // namespace nidus::command
