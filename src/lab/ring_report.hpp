// SPDX-License-Identifier: Apache-2.0
#pragma once

// `nidus ring`: which node owns what under a placement, and what a change of nodes moves.

#include <cstdint>
#include <string>
#include <vector>

#include <nidus/base/error.hpp>
#include <nidus/ring/nodes.hpp>

#include "lab/model.hpp"
#include "lab/table.hpp"

namespace nidus::lab {

/// Keys from a file, or so many invented ones: key:0, key:1, ...
class Keys {
 public:
  explicit Keys(std::size_t invented) : size_(invented) {}
  explicit Keys(std::vector<std::string> lines) : lines_(std::move(lines)), size_(lines_.size()) {}

  std::size_t size() const { return size_; }
  std::string operator[](std::size_t i) const {
    return lines_.empty() ? "key:" + std::to_string(i) : lines_[i];
  }

 private:
  std::vector<std::string> lines_;
  std::size_t size_;
};

struct RingQuestion {
  std::string placement = "ring";
  ModelOptions options;
  std::vector<ring::Node> nodes;
  std::vector<ring::Node> add;      // then
  std::vector<std::string> remove;  // nodes that leave at the same moment
  std::size_t replicas = 1;
};

struct RingAnswer {
  ModelPtr before, after;  // after: nothing without a change
  const Model& last() const { return after ? *after : *before; }
};

/// Errors: the nodes are wrong; a node that is added is there already; one that leaves is not.
Expected<RingAnswer> answer(const RingQuestion& question);

/// nodes: the share of each; summary; with a change: change and moves.
Expected<Tables> report(const RingQuestion& question, const RingAnswer& answer, const Keys& keys);

/// Each key with the nodes of its copies, after the change if there is one.
Tables owners_of_keys(const RingQuestion& question, const RingAnswer& answer, const Keys& keys);

}  // namespace nidus::lab
