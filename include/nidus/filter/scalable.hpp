// SPDX-License-Identifier: Apache-2.0
#pragma once

// A filter that grows: a chain of filters of one kind. When a layer is full, the next is `growth` times
// as large and has half its rate, so that the rates of all layers together stay below the one that was
// asked for (1/2 + 1/4 + ... of it). Source: Almeida et al., "Scalable Bloom filters".
//
// Erasing from a chain must not take another key's copy, which a layer cannot tell apart from the
// key's own. The cuckoo layers refine each other (cuckoo_places.hpp): twins in a layer are twins in
// all earlier ones. So erase takes the copy of the newest layer that has one. If that was a twin's,
// the key's own copy stands in an earlier layer, and answers for the twin from now on.
// Invariant: every stored key has a copy of its own, or of a twin, in some layer

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nidus/base/error.hpp>
#include <nidus/filter/blocked_bloom.hpp>
#include <nidus/filter/bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>
#include <nidus/filter/filter.hpp>
#include <nidus/filter/image.hpp>
#include <nidus/filter/sizing.hpp>

namespace nidus::filter {

struct ScalableOptions {
  double capacity = 1000;     // keys of the first layer
  double fpr = 0.01;          // of the whole chain, however long; 1e-9 to below 1
  unsigned growth = 2;        // from layer to layer, 1 to 32768; cuckoo: the next power of two
  unsigned bucket_slots = 4;  // cuckoo only
  friend bool operator==(const ScalableOptions&, const ScalableOptions&) = default;

  bool valid() const {
    return capacity >= 1 && capacity <= kMostBits && fpr >= 1e-9 && fpr < 1 && growth >= 1 &&
           growth <= 32768 && (bucket_slots == 2 || bucket_slots == 4 || bucket_slots == 8);
  }
};

inline constexpr std::size_t kMaxLayers = 32;

/// How a chain of F makes its layers: add() appends the next or says that there is none; capacity()
/// is the number of keys at which a layer is full; fit() checks layers from outside.
template <class F>
struct Layering {
  static double capacity(const ScalableOptions& options, const std::vector<F>&, std::size_t i) {
    return std::floor(options.capacity * std::pow(options.growth, static_cast<double>(i)));
  }
  static bool add(const ScalableOptions& options, std::vector<F>& layers) {
    const double items = capacity(options, layers, layers.size());
    const double fpr = std::ldexp(options.fpr, -static_cast<int>(layers.size()) - 1);
    if constexpr (std::same_as<F, BloomFilter>) {
      layers.emplace_back(bloom_shape(items, fpr));
    } else {
      layers.emplace_back(blocked_bloom_shape(items, fpr));
    }
    return true;
  }
  static bool fit(const ScalableOptions&, const std::vector<F>&) { return true; }
};

template <>
struct Layering<CuckooFilter> {
  using Layers = std::vector<CuckooFilter>;

  static double capacity(const ScalableOptions& options, const Layers& layers, std::size_t i) {
    return std::floor(static_cast<double>(layers[i].slots()) *
                      cuckoo_max_load(options.bucket_slots));
  }
  static bool add(const ScalableOptions& options, Layers& layers) {
    if (layers.empty()) {
      const auto root = cuckoo_shape(options.capacity, options.fpr / 2, options.bucket_slots);
      if (root) layers.emplace_back(*root);
      return root.has_value();
    }
    const CuckooShape root = layers.front().shape();
    const CuckooRefinement next = refinement(options, layers.size());
    if (root.tag_bits + next.longer > kMaxTagBits || next.split >= 32) return false;
    layers.emplace_back(root, next);
    return true;
  }
  static bool fit(const ScalableOptions& options, const Layers& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].shape() != layers.front().shape() ||
          layers[i].shape().bucket_slots != options.bucket_slots ||
          layers[i].refinement() != refinement(options, i)) {
        return false;
      }
    }
    return true;
  }

 private:
  static CuckooRefinement refinement(const ScalableOptions& options, std::size_t i) {
    const auto layer = static_cast<unsigned>(i);
    return {static_cast<unsigned>(std::bit_width(options.growth - 1)) * layer, layer};
  }
};

template <Filter F>
class Scalable {
 public:
  static constexpr Kind kKind =
      Kind{static_cast<std::uint32_t>(Kind::kScalable) + static_cast<std::uint32_t>(F::kKind)};

  /// Requires: options.valid(); for cuckoo a rate that a tag of 32 bits keeps. Errors: std::bad_alloc
  explicit Scalable(ScalableOptions options) : options_(options) {
    assert(options.valid());
    [[maybe_unused]] const bool added = Layering<F>::add(options_, layers_);
    assert(added);
  }

  /// As F's, in the layer that is open; kFull only when kMaxLayers layers, or the widest tags, are.
  /// kTooManyCopies counts all layers. Errors: std::bad_alloc from growing; nothing is then changed
  Insert insert(KeyHash key) {
    if constexpr (ErasableFilter<F>) {
      if (copies(key) >= 2 * options_.bucket_slots) return Insert::kTooManyCopies;
    } else {
      if (may_contain(key)) return Insert::kMaybePresent;
    }
    Insert outcome = insert_at(open_, key);
    if (outcome == Insert::kFull && use_emptied()) outcome = insert_at(open_, key);
    if (outcome == Insert::kFull && grow()) outcome = insert_at(open_, key);
    return outcome;
  }

  bool erase(KeyHash key) requires ErasableFilter<F> {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      if (layers_[i].erase(key)) return true;
    }
    return false;
  }

  /// The newest layer first: it holds the most keys.
  bool may_contain(KeyHash key) const {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      if (layers_[i].may_contain(key)) return true;
    }
    return false;
  }

  /// Layer by layer, each only for the keys that no newer one has.
  template <class Key>
  void may_contain_batch(std::span<const Key> keys, std::span<bool> out) const {
    assert(out.size() == keys.size());
    for (std::size_t first = 0; first < keys.size(); first += kGroup) {
      const std::size_t n = std::min(kGroup, keys.size() - first);
      group(keys.subspan(first, n), out.subspan(first, n));
    }
  }
  void may_contain_batch(std::span<const KeyHash> keys, std::span<bool> out) const {
    may_contain_batch<KeyHash>(keys, out);
  }

  /// Slots of all layers that hold the key's tag.
  std::uint64_t copies(KeyHash key) const requires ErasableFilter<F> {
    std::uint64_t copies = 0;
    for (const F& layer : layers_) copies += layer.copies(key);
    return copies;
  }

  /// Back to one empty layer.
  void clear() {
    layers_.erase(layers_.begin() + 1, layers_.end());
    layers_.front().clear();
    open_ = 0;
  }
  std::uint64_t count() const {
    std::uint64_t count = 0;
    for (const F& layer : layers_) count += layer.count();
    return count;
  }
  std::uint64_t bits() const {
    std::uint64_t bits = 0;
    for (const F& layer : layers_) bits += layer.bits();
    return bits;
  }
  double expected_fpr() const {
    double none = 1;
    for (const F& layer : layers_) none *= 1 - layer.expected_fpr();
    return 1 - none;
  }
  const ScalableOptions& options() const { return options_; }
  std::span<const F> layers() const { return layers_; }
  /// Keys that fit before the chain grows again, if none is erased.
  double capacity() const {
    double capacity = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) capacity += capacity_of(i);
    return capacity;
  }

  void save(std::string& out) const {
    std::string payload, image;
    for (const F& layer : layers_) {
      image.clear();
      layer.save(image);
      const std::uint64_t bytes = image.size();
      payload.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
      payload += image;
    }
    write_image(out, kKind,
                {std::bit_cast<std::uint64_t>(options_.capacity),
                 std::bit_cast<std::uint64_t>(options_.fpr), options_.growth, options_.bucket_slots,
                 layers_.size(), open_},
                payload);
  }
  static Expected<Scalable> load(std::string_view bytes) {
    const auto image = read_image(bytes, kKind);
    if (!image) return tl::make_unexpected(image.error());
    const auto [capacity, fpr, growth, slots, layers, open] = image->parameters;
    Scalable chain;
    chain.options_ = {std::bit_cast<double>(capacity), std::bit_cast<double>(fpr),
                      static_cast<unsigned>(growth), static_cast<unsigned>(slots)};
    if (!chain.options_.valid() || growth > UINT32_MAX || slots > UINT32_MAX || layers == 0 ||
        layers > kMaxLayers || open >= layers) {
      return fail("filter chain image: its parameters are out of range");
    }
    std::string_view rest = image->payload;
    for (std::uint64_t i = 0; i < layers; ++i) {
      std::uint64_t size = 0;
      if (rest.size() >= sizeof size) std::memcpy(&size, rest.data(), sizeof size);
      if (rest.size() < sizeof size || size > rest.size() - sizeof size) {
        return fail("filter chain image: layer " + std::to_string(i) + " is cut off");
      }
      auto layer = F::load(rest.substr(sizeof size, size));
      if (!layer) return tl::make_unexpected(layer.error());
      chain.layers_.push_back(std::move(*layer));
      rest.remove_prefix(sizeof size + size);
    }
    // A bit a key is less than any layer has; it bounds what the next layer allocates.
    const auto first_bits = static_cast<double>(chain.layers_.front().bits());
    if (!rest.empty() || chain.options_.capacity > first_bits ||
        !Layering<F>::fit(chain.options_, chain.layers_)) {
      return fail("filter chain image: its layers do not fit its parameters");
    }
    chain.open_ = open;
    return chain;
  }
  friend bool operator==(const Scalable&, const Scalable&) = default;

 private:
  static constexpr std::size_t kGroup = 256;

  Scalable() = default;

  double capacity_of(std::size_t i) const { return Layering<F>::capacity(options_, layers_, i); }
  bool has_room(std::size_t i, double share) const {
    return static_cast<double>(layers_[i].count()) < share * capacity_of(i);
  }
  Insert insert_at(std::size_t i, KeyHash key) {
    return has_room(i, 1) ? layers_[i].insert(key) : Insert::kFull;
  }
  /// Opens a layer that erasing has emptied by a good part.
  bool use_emptied() {
    constexpr double kEmptied = 0.9;
    if constexpr (ErasableFilter<F>) {
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (i == open_ || !has_room(i, kEmptied)) continue;
        open_ = i;
        return true;
      }
    }
    return false;
  }
  bool grow() {
    if (layers_.size() == kMaxLayers || !Layering<F>::add(options_, layers_)) return false;
    open_ = layers_.size() - 1;
    return true;
  }

  template <class Key>
  void group(std::span<const Key> keys, std::span<bool> out) const {
    KeyHash left[kGroup];
    std::size_t index[kGroup];
    bool found[kGroup];
    std::size_t n = keys.size();
    for (std::size_t i = 0; i < n; ++i) {
      left[i] = KeyHash(keys[i]);
      index[i] = i;
    }
    for (std::size_t layer = layers_.size(); layer-- > 0 && n > 0;) {
      layers_[layer].may_contain_batch(std::span<const KeyHash>(left, n), std::span(found, n));
      std::size_t kept = 0;
      for (std::size_t i = 0; i < n; ++i) {
        out[index[i]] = found[i];
        if (found[i]) continue;
        left[kept] = left[i];
        index[kept++] = index[i];
      }
      n = kept;
    }
  }

  ScalableOptions options_;
  std::vector<F> layers_;
  std::size_t open_ = 0;
};

using ScalableBloomFilter = Scalable<BloomFilter>;
using ScalableBlockedBloomFilter = Scalable<BlockedBloomFilter>;
using ScalableCuckooFilter = Scalable<CuckooFilter>;

static_assert(Filter<ScalableBloomFilter> && ErasableFilter<ScalableCuckooFilter>);

}  // namespace nidus::filter
