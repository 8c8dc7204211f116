// SPDX-License-Identifier: Apache-2.0

// LCS: the longest common subsequence of two values, by the textbook's table of the lengths of all
// pairs of prefixes, and a walk back from its end. Where both neighbours are as long, the walk
// leaves out the second value's byte; this choice shows in the reply, and is Redis'.

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "command/arguments.hpp"
#include "command/strings_handlers.hpp"
#include "resp/number.hpp"

namespace nidus::command {
namespace {

struct Options {
  bool length = false, places = false, match_lengths = false;
  std::int64_t shortest = 0;
};

/// A run of equal bytes: [a, a + size) of the first value equals [b, b + size) of the second.
struct Match {
  std::size_t a, b, size;
};

class PrefixLengths {
 public:
  PrefixLengths(std::string_view a, std::string_view b)
      : row_(b.size() + 1), cells_((a.size() + 1) * row_) {
    for (std::size_t i = 1; i <= a.size(); ++i) {
      for (std::size_t j = 1; j <= b.size(); ++j) {
        cell(i, j) =
            a[i - 1] == b[j - 1] ? at(i - 1, j - 1) + 1 : std::max(at(i - 1, j), at(i, j - 1));
      }
    }
  }
  std::uint32_t at(std::size_t i, std::size_t j) const { return cells_[i * row_ + j]; }

 private:
  std::uint32_t& cell(std::size_t i, std::size_t j) { return cells_[i * row_ + j]; }
  std::size_t row_;
  std::vector<std::uint32_t> cells_;
};

/// The matches, last first.
std::vector<Match> walk_back(const PrefixLengths& lengths, std::string_view a, std::string_view b) {
  std::vector<Match> matches;
  std::size_t i = a.size(), j = b.size();
  while (i > 0 && j > 0) {
    if (a[i - 1] == b[j - 1]) {
      --i;
      --j;
      if (!matches.empty() && matches.back().a == i + 1 && matches.back().b == j + 1) {
        matches.back() = {i, j, matches.back().size + 1};
      } else {
        matches.push_back({i, j, 1});
      }
    } else if (lengths.at(i - 1, j) > lengths.at(i, j - 1)) {
      --i;
    } else {
      --j;
    }
  }
  return matches;
}

bool read_options(Context& context, Options& options) {
  for (std::size_t i = 3; i < context.args.size(); ++i) {
    const std::string_view arg = context.arg(i);
    if (is_word(arg, "idx")) {
      options.places = true;
    } else if (is_word(arg, "len")) {
      options.length = true;
    } else if (is_word(arg, "withmatchlen")) {
      options.match_lengths = true;
    } else if (is_word(arg, "minmatchlen") && i + 1 < context.args.size()) {
      const auto shortest = integer_argument(context, ++i);
      if (!shortest) return false;
      options.shortest = std::max<std::int64_t>(*shortest, 0);
    } else {
      context.reply.error(kSyntaxError);
      return false;
    }
  }
  if (options.length && options.places) {
    context.reply.error("ERR If you want both the length and indexes, please just use IDX.");
    return false;
  }
  return true;
}

/// The table must fit into what one value may take.
bool table_fits(Context& context, std::string_view a, std::string_view b) {
  const std::uint64_t cells = (std::uint64_t{a.size()} + 1) * (b.size() + 1);
  if (cells <= engine::kMaxValueBytes / sizeof(std::uint32_t)) return true;
  context.reply.error(
      "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  return false;
}

void reply_span(resp::Writer& reply, std::size_t begin, std::size_t size) {
  reply.array(2);
  reply.integer(static_cast<std::int64_t>(begin));
  reply.integer(static_cast<std::int64_t>(begin + size - 1));
}

void reply_places(Context& context, std::vector<Match> matches, const Options& options,
                  std::uint32_t length) {
  std::erase_if(matches, [&](const Match& match) {
    return match.size < static_cast<std::uint64_t>(options.shortest);
  });
  resp::Writer& reply = context.reply;
  reply.map(2);
  reply.bulk("matches");
  reply.array(matches.size());
  for (const Match& match : matches) {
    reply.array(options.match_lengths ? 3 : 2);
    reply_span(reply, match.a, match.size);
    reply_span(reply, match.b, match.size);
    if (options.match_lengths) reply.integer(static_cast<std::int64_t>(match.size));
  }
  reply.bulk("len");
  reply.integer(length);
}

}  // namespace

void lcs(Context& context) {
  Options options;
  if (!read_options(context, options)) return;
  const engine::KeyRef keys[] = {context.key(1), context.key(2)};
  const engine::Item* items[2];
  context.db->find_batch(keys, context.now, items);
  const std::string_view a = items[0] != nullptr ? items[0]->value() : std::string_view();
  const std::string_view b = items[1] != nullptr ? items[1]->value() : std::string_view();
  if (!table_fits(context, a, b)) return;
  try {
    const PrefixLengths lengths(a, b);
    const std::uint32_t length = lengths.at(a.size(), b.size());
    if (options.length) return context.reply.integer(length);
    std::vector<Match> matches = walk_back(lengths, a, b);
    if (options.places) return reply_places(context, std::move(matches), options, length);
    std::string common;
    std::reverse(matches.begin(), matches.end());
    for (const Match& match : matches) common.append(a.substr(match.a, match.size));
    context.reply.bulk(common);
  } catch (const std::bad_alloc&) {
    context.reply.error("ERR Insufficient memory, failed allocating transient memory for LCS");
  }
}

}  // namespace nidus::command
