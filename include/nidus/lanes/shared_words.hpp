// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lanes over words that other threads write meanwhile, and the copying of whole objects under such
// circumstances. The caller holds a version against which it checks afterwards what it has read.
//
// Every store is a release and every load an acquire: a reader that sees a word of a write under
// way sees the lock that was taken before it, and so notices. On x86-64 both are plain moves.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nidus/base/platform.hpp>
#include <nidus/lanes/words.hpp>

namespace nidus::lanes {

struct SharedAccess {
  template <class T>
  static T load(const T& word) {
    return __atomic_load_n(&word, __ATOMIC_ACQUIRE);  // acquire: pairs with store()
  }
  template <class T>
  static void store(T& word, std::type_identity_t<T> value) {
    // release: after the lock, and after what the word makes visible
    __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  }
};

/// Compares as Base does; a reader orders it by fence_after_vector_loads(). ThreadSanitizer, which
/// would report the vector load, sees single loads.
template <class Base>
struct SharedWords : SharedAccess {
  template <unsigned N>
  static unsigned match(const std::uint64_t* words, std::uint64_t keep, std::uint64_t wanted) {
#if NIDUS_TSAN
    unsigned mask = 0;
    for (unsigned i = 0; i < N; ++i) {
      mask |= static_cast<unsigned>((load(words[i]) & keep) == wanted) << i;
    }
    return mask;
#else
    return Base::template match<N>(words, keep, wanted);
#endif
  }

  template <unsigned N>
  static unsigned match_tags(const std::uint16_t* tags, std::uint16_t tag) {
#if NIDUS_TSAN
    unsigned mask = 0;
    for (unsigned i = 0; i < N; ++i) mask |= static_cast<unsigned>(load(tags[i]) == tag) << i;
    return mask;
#else
    return Base::template match_tags<N>(tags, tag);
#endif
  }
};

namespace detail {
template <std::size_t kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type [[gnu::may_alias]] = std::uint8_t;
};
template <>
struct WordOf<2> {
  using Type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct WordOf<4> {
  using Type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct WordOf<8> {
  using Type [[gnu::may_alias]] = std::uint64_t;
};
}  // namespace detail

/// The widest word, up to 8 bytes, of which objects of this size at this alignment are made.
constexpr std::size_t word_bytes(std::size_t size, std::size_t alignment) {
  std::size_t word = 8;
  while (word > 1 && (size % word != 0 || alignment % word != 0)) word /= 2;
  return word;
}

/// Copies an object that others may write, word by word: it may be torn, so it is bytes until the
/// caller has checked its version.
template <std::size_t kWord, std::size_t kBytes>
void load_object(const void* from, void* to) {
  using Word = typename detail::WordOf<kWord>::Type;
  const auto* source = static_cast<const Word*>(from);
  for (std::size_t i = 0; i < kBytes / kWord; ++i) {
    const Word word = __atomic_load_n(source + i, __ATOMIC_ACQUIRE);  // acquire: see SharedAccess
    __builtin_memcpy(static_cast<std::byte*>(to) + i * kWord, &word, kWord);
  }
}

/// Stores an object that others may read.
template <std::size_t kWord, std::size_t kBytes>
void store_object(void* to, const void* from) {
  using Word = typename detail::WordOf<kWord>::Type;
  auto* target = static_cast<Word*>(to);
  for (std::size_t i = 0; i < kBytes / kWord; ++i) {
    Word word;
    __builtin_memcpy(&word, static_cast<const std::byte*>(from) + i * kWord, kWord);
    __atomic_store_n(target + i, word, __ATOMIC_RELEASE);  // release: see SharedAccess
  }
}

}  // namespace nidus::lanes
