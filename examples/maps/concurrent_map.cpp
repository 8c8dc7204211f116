// SPDX-License-Identifier: Apache-2.0

// Two threads count words in a ConcurrentMap.

#include <nidus/map/concurrent_map.hpp>
#include <string>
#include <thread>

int main() {
  nidus::ConcurrentMap<std::string, int> words;
  const auto count = [&words] {
    for (const char* word : {"to", "be", "or", "not", "to", "be"}) {
      words.upsert(
          word, [](int& times) { ++times; }, 1);
    }
  };
  std::thread other(count);
  count();
  other.join();
  return words.find("be") == 4 && words.size() == 4 && words.erase("or") ? 0 : 1;
}
