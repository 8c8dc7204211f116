// SPDX-License-Identifier: Apache-2.0

// One class template makes a Model of any placement. See model.hpp.

#include "lab/model.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include <nidus/ring/bounded_load.hpp>
#include <nidus/ring/jump.hpp>
#include <nidus/ring/ketama.hpp>
#include <nidus/ring/maglev.hpp>
#include <nidus/ring/modulo.hpp>
#include <nidus/ring/rendezvous.hpp>
#include <nidus/ring/ring.hpp>
#include <nidus/ring/slot_table.hpp>

namespace nidus::lab {
namespace {

template <ring::Placement P>
class ModelOf final : public Model {
 public:
  ModelOf(P placement, typename P::Options options)
      : placement_(std::move(placement)), options_(options) {}

  static Expected<ModelPtr> make(Expected<P> built, typename P::Options options) {
    if (!built) return tl::unexpected(std::move(built.error()));
    return std::make_unique<ModelOf>(std::move(*built), options);
  }

  std::string_view name() const override { return P::kName; }
  const ring::NodeSet& nodes() const override { return placement_.nodes(); }
  std::uint64_t hash_key(std::string_view key) const override { return P::hash_key(key); }
  std::uint64_t slot_hash(unsigned slot) const override { return ring::slot_hash<P>(slot); }
  void owner_batch(std::span<const std::uint64_t> hashes,
                   std::span<ring::NodeIndex> out) const override {
    placement_.owner_batch(hashes, out);
  }
  std::size_t owners(std::uint64_t hash, std::span<ring::NodeIndex> out) const override {
    return placement_.owners(hash, out);
  }
  std::optional<std::vector<ring::Arc>> arcs() const override {
    if constexpr (P::kOnCircle) {
      return placement_.arcs();
    } else {
      return std::nullopt;
    }
  }
  std::size_t memory_bytes() const override { return placement_.memory_bytes(); }
  Expected<ModelPtr> next(std::vector<ring::Node> nodes) const override {
    return make(ring::next(placement_, std::move(nodes), options_), options_);
  }

 private:
  P placement_;
  typename P::Options options_;
};

constexpr auto kNames = std::to_array<std::string_view>(
    {ring::Ring::kName, ring::BoundedLoad::kName, ring::Rendezvous::kName, ring::Ketama::kName,
     ring::KetamaTwemproxy::kName, ring::Jump::kName, ring::Maglev::kName, ring::Modulo::kName});

template <class P>
typename P::Options options_for(const ModelOptions& options) {
  typename P::Options own;
  if constexpr (std::is_same_v<P, ring::Ring> || std::is_same_v<P, ring::BoundedLoad>) {
    own.tokens = options.tokens;
  }
  if constexpr (std::is_same_v<P, ring::BoundedLoad>) own.epsilon = options.epsilon;
  return own;
}

template <class P>
Expected<ModelPtr> make(std::vector<ring::Node> nodes, const ModelOptions& options) {
  const auto own = options_for<P>(options);
  return ModelOf<P>::make(P::build(std::move(nodes), own), own);
}

}  // namespace

std::vector<ring::NodeIndex> Model::owners_of(std::span<const std::uint64_t> hashes) const {
  std::vector<ring::NodeIndex> owners(hashes.size());
  owner_batch(hashes, owners);
  return owners;
}

std::vector<ring::NodeIndex> Model::slot_owners() const {
  std::vector<std::uint64_t> hashes(ring::kHashSlots);
  for (unsigned slot = 0; slot < ring::kHashSlots; ++slot) hashes[slot] = slot_hash(slot);
  return owners_of(hashes);
}

std::span<const std::string_view> model_names() { return kNames; }

Expected<ModelPtr> make_model(std::string_view name, std::vector<ring::Node> nodes,
                              const ModelOptions& options) {
  using namespace ring;
  if (name == Ring::kName) return make<Ring>(std::move(nodes), options);
  if (name == BoundedLoad::kName) return make<BoundedLoad>(std::move(nodes), options);
  if (name == Rendezvous::kName) return make<Rendezvous>(std::move(nodes), options);
  if (name == Ketama::kName) return make<Ketama>(std::move(nodes), options);
  if (name == KetamaTwemproxy::kName) return make<KetamaTwemproxy>(std::move(nodes), options);
  if (name == Jump::kName) return make<Jump>(std::move(nodes), options);
  if (name == Maglev::kName) return make<Maglev>(std::move(nodes), options);
  if (name == Modulo::kName) return make<Modulo>(std::move(nodes), options);
  return fail("there is no placement '" + std::string(name) + "'");
}

}  // namespace nidus::lab
