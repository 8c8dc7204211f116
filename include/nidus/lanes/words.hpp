// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lanes over the small arrays of a map's bucket: 64-bit words of which some bits count, and 16-bit
// tags. Not for words that other threads write: for those, shared_words.hpp. A backend is a stateless
// type with
//
//   match<N>(words, keep, wanted)   bit i: (words[i] & keep) == wanted
//   match_tags<N>(tags, tag)        bit i: tags[i] == tag
//   load(word), store(word, value)  how a bucket touches one word, tag or flag
//
// ScalarWords is the reference; VectorWords (Google Highway) must give the same masks.

#include <cstdint>
#include <type_traits>

#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL  // Highway 1.0.3 refuses -march=icelake or later without it
#endif
#include <hwy/highway.h>

#include <nidus/lanes/mask_bits.hpp>

namespace nidus::lanes {

/// For memory of one thread.
struct PlainAccess {
  template <class T>
  static T load(const T& word) {
    return word;
  }
  template <class T>
  static void store(T& word, std::type_identity_t<T> value) {
    word = value;
  }
};

struct ScalarWords : PlainAccess {
  template <unsigned N>
  static unsigned match(const std::uint64_t* words, std::uint64_t keep, std::uint64_t wanted) {
    unsigned mask = 0;
    for (unsigned i = 0; i < N; ++i) {
      mask |= static_cast<unsigned>((words[i] & keep) == wanted) << i;
    }
    return mask;
  }

  template <unsigned N>
  static unsigned match_tags(const std::uint16_t* tags, std::uint16_t tag) {
    unsigned mask = 0;
    for (unsigned i = 0; i < N; ++i) mask |= static_cast<unsigned>(tags[i] == tag) << i;
    return mask;
  }
};

struct VectorWords : PlainAccess {
  template <unsigned N>
  static unsigned match(const std::uint64_t* words, std::uint64_t keep, std::uint64_t wanted) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<std::uint64_t, N> d;
    const auto kept_bits = hn::Set(d, keep);
    const auto target = hn::Set(d, wanted);
    unsigned mask = 0;
    for (unsigned i = 0; i < N; i += static_cast<unsigned>(hn::Lanes(d))) {
      mask |= mask_bits(d, hn::Eq(hn::And(hn::LoadU(d, words + i), kept_bits), target)) << i;
    }
    return mask;
  }

  template <unsigned N>
  static unsigned match_tags(const std::uint16_t* tags, std::uint16_t tag) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<std::uint16_t, N> d;
    const auto target = hn::Set(d, tag);
    unsigned mask = 0;
    for (unsigned i = 0; i < N; i += static_cast<unsigned>(hn::Lanes(d))) {
      mask |= mask_bits(d, hn::Eq(hn::LoadU(d, tags + i), target)) << i;
    }
    return mask;
  }
};

}  // namespace nidus::lanes
