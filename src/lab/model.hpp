// SPDX-License-Identifier: Apache-2.0
#pragma once

// A placement that is chosen by name at run time: the library's placements behind one interface.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nidus/ring/nodes.hpp>
#include <nidus/ring/token_array.hpp>

namespace nidus::lab {

struct ModelOptions {
  std::uint32_t tokens = 1024;  // ring, bounded
  double epsilon = 0.05;        // bounded
};

class Model {
 public:
  virtual ~Model() = default;

  virtual std::string_view name() const = 0;
  virtual const ring::NodeSet& nodes() const = 0;
  virtual std::uint64_t hash_key(std::string_view key) const = 0;
  virtual std::uint64_t slot_hash(unsigned slot) const = 0;
  virtual void owner_batch(std::span<const std::uint64_t> hashes,
                           std::span<ring::NodeIndex> out) const = 0;
  virtual std::size_t owners(std::uint64_t hash, std::span<ring::NodeIndex> out) const = 0;
  /// Nothing if the placement knows no circle.
  virtual std::optional<std::vector<ring::Arc>> arcs() const = 0;
  virtual std::size_t memory_bytes() const = 0;
  /// The placement after a change of nodes.
  virtual Expected<std::unique_ptr<Model>> next(std::vector<ring::Node> nodes) const = 0;

  std::vector<ring::NodeIndex> owners_of(std::span<const std::uint64_t> hashes) const;
  std::vector<ring::NodeIndex> slot_owners() const;  // of the 16384 hash slots
};

using ModelPtr = std::unique_ptr<Model>;

/// The names that make_model() knows, the default first.
std::span<const std::string_view> model_names();

Expected<ModelPtr> make_model(std::string_view name, std::vector<ring::Node> nodes,
                              const ModelOptions& options);

}  // namespace nidus::lab
