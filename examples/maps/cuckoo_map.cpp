// SPDX-License-Identifier: Apache-2.0

// Counts visits in a CuckooMap and adds them up.

#include <cassert>
#include <nidus/map/cuckoo_map.hpp>
#include <string>

int main() {
  nidus::CuckooMap<std::string, int> visits;
  for (const char* page : {"home", "about", "home"}) ++visits[page];
  visits.insert_or_assign("blog", 7);
  assert(visits.find("home")->second == 2 && !visits.contains("shop"));
  int total = 0;
  for (const auto [page, count] : visits) total += count;
  return total == 10 && visits.erase("about") == 1 ? 0 : 1;
}
