// SPDX-License-Identifier: Apache-2.0

// `nidus ring`: its flags, the nodes and keys they name, and where the answer goes. The work is
// lab/ring_report.hpp's. See ring_command.hpp.

#include "cli/ring_command.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <map>
#include <utility>

#include "cli/report.hpp"
#include "lab/ring_svg.hpp"

namespace nidus::cli {
namespace {

constexpr const char* kFooter =
    "A node is NAME or NAME:WEIGHT; behind a name with a colon its weight must stand: "
    "10.0.0.1:7000:1.\n"
    "Example: nidus ring --nodes a:1,b:2,c --add d --zones a=east,b=west,c=east,d=west --replicas "
    "2";

Expected<ring::Node> parse_node(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return ring::Node{text, 1, ""};
  ring::Node node{text.substr(0, colon), 0, ""};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, node.weight);
  if (error != std::errc() || stop != end) {
    return fail("node '" + text + "': '" + text.substr(colon + 1) +
                "' is no weight; write NAME:WEIGHT");
  }
  return node;
}

Expected<std::vector<ring::Node>> parse_nodes(const std::vector<std::string>& texts) {
  std::vector<ring::Node> nodes;
  for (const std::string& text : texts) {
    auto node = parse_node(text);
    if (!node) return tl::unexpected(node.error());
    nodes.push_back(std::move(*node));
  }
  return nodes;
}

Expected<std::map<std::string, std::string>> parse_zones(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> zones;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos) return fail("zone '" + text + "': write NODE=ZONE");
    zones[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return zones;
}

std::string placement_list() {
  std::string list;
  for (const std::string_view name : lab::model_names()) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file.good();
}

}  // namespace

RingCommand::RingCommand(CLI::App& parent)
    : app_(parent.add_subcommand("ring", "Show which node owns what, and what a change moves")),
      placement_(lab::model_names().front()) {
  app_->footer(kFooter);
  app_->add_option("--nodes", nodes_, "The nodes, with their weights")
      ->required()
      ->delimiter(',')
      ->option_text("NODE,...");
  app_->add_option("--placement", placement_, placement_list() + " [" + placement_ + "]")
      ->option_text("NAME");
  app_->add_option("--vnodes", options_.tokens,
                   "Tokens of a node of weight 1 [" + std::to_string(options_.tokens) + "]")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  app_->add_option("--bound", options_.epsilon, "bounded: a node holds 1 + E of its share [0.05]")
      ->option_text("E");
  auto* file = app_->add_option("--keys", keys_file_, "Keys, one a line; - reads standard input")
                   ->option_text("FILE");
  app_->add_option("--count", count_, "Invented keys key:0, key:1, ... [100000]")
      ->option_text("N")
      ->excludes(file)
      ->check(CLI::Range(1, 100'000'000));
  app_->add_option("--add", add_, "Nodes that join")->delimiter(',')->option_text("NODE,...");
  app_->add_option("--remove", remove_, "Nodes that leave")
      ->delimiter(',')
      ->option_text("NAME,...");
  app_->add_option("--replicas", replicas_, "Copies of a key, zones apart [1]")
      ->option_text("R")
      ->check(CLI::Range(1, 100));
  app_->add_option("--zones", zones_, "The zones of nodes")
      ->delimiter(',')
      ->option_text("NODE=ZONE,...");
  app_->add_flag("--owners", list_owners_, "List each key with its owners instead");
  app_->add_option("--svg", svg_file_, "Draw the ring into a file")->option_text("FILE");
  format_.add_flags(*app_);
}

Expected<lab::RingQuestion> RingCommand::question() const {
  lab::RingQuestion question{placement_, options_, {}, {}, remove_, replicas_};
  const auto known = lab::model_names();
  if (std::find(known.begin(), known.end(), placement_) == known.end()) {
    return fail("there is no placement '" + placement_ + "'; take one of " + placement_list());
  }
  auto nodes = parse_nodes(nodes_), add = parse_nodes(add_);
  if (!nodes) return tl::unexpected(nodes.error());
  if (!add) return tl::unexpected(add.error());
  auto zones = parse_zones(zones_);
  if (!zones) return tl::unexpected(zones.error());
  for (auto* list : {&*nodes, &*add}) {
    for (ring::Node& node : *list) {
      const auto zone = zones->extract(node.name);
      if (!zone.empty()) node.zone = zone.mapped();
    }
  }
  if (!zones->empty())
    return fail("--zones names '" + zones->begin()->first + "', which is no node");
  question.nodes = std::move(*nodes);
  question.add = std::move(*add);
  return question;
}

Expected<lab::Keys> RingCommand::keys() const {
  if (keys_file_.empty()) return lab::Keys(count_);
  std::ifstream file;
  if (keys_file_ != "-") file.open(keys_file_, std::ios::binary);
  std::istream& in = keys_file_ == "-" ? std::cin : file;
  if (!in) return fail("cannot read the keys in '" + keys_file_ + "'");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (in.bad() || lines.empty()) return fail("there are no keys in '" + keys_file_ + "'");
  return lab::Keys(std::move(lines));
}

int RingCommand::run() {
  const auto asked = question();
  if (!asked) return report(kUsageError, asked.error().message);
  const auto answered = lab::answer(*asked);
  if (!answered) return report(kUsageError, answered.error().message);
  if (!svg_file_.empty()) {
    const auto svg = lab::ring_svg(*answered);
    if (!svg) return report(kUsageError, svg.error().message);
    if (!write_file(svg_file_, *svg)) return report(kFailure, "cannot write '" + svg_file_ + "'");
  }
  const auto keys = this->keys();
  if (!keys) return report(kFailure, keys.error().message);
  const auto tables = list_owners_ ? Expected<lab::Tables>(owners_of_keys(*asked, *answered, *keys))
                                   : lab::report(*asked, *answered, *keys);
  if (!tables) return report(kUsageError, tables.error().message);
  print(*tables, format_, std::cout);
  std::cout << std::flush;
  return std::cout ? kSuccess : report(kFailure, "cannot write to standard output");
}

}  // namespace nidus::cli
