// SPDX-License-Identifier: Apache-2.0

// Prints where each key of a textbook table goes, up to the first that finds no place.

#include <cstdio>
#include <nidus/map/classic_cuckoo.hpp>

int main() {
  nidus::ClassicCuckoo<2, 1> nest({.buckets = 8, .rehashes = 0, .grows = false});
  const auto tell = [](const nidus::map::ClassicStep& step) {
    using Kind = nidus::map::ClassicStep::Kind;
    if (step.kind == Kind::kPlaced)
      std::printf("%zu: %llu\n", step.to, (unsigned long long)step.key);
  };
  std::uint64_t key = 1;
  while (nest.insert(key, tell)) ++key;  // up to the first key without a place
  return nest.load() > 0.2 && !nest.contains(key) ? 0 : 1;
}
