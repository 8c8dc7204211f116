// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every write leaves the engine as one Mutation: the absolute state of one key after it (value and
// expiry, or its absence), or the clearing of a whole database. Durability and replication attach
// here. The engine calls the sink while it holds the key's stripe, so that for one key the order of
// mutations is the order of the writes; a sink must not call back into the keyspace.

#include <string_view>

#include "engine/item.hpp"

namespace nidus::engine {

struct Mutation {
  enum class Kind { kSet, kErase, kExpired, kEvicted, kClear };
  Kind kind;
  int group;
  int database;
  std::string_view key;    // empty for kClear
  std::string_view value;  // kSet only
  Millis expires_at = kNoExpiry;
};

class MutationSink {
 public:
  virtual ~MutationSink() = default;
  /// Thread-safety: called from every thread, under the stripe of the key.
  virtual void apply(const Mutation& mutation) = 0;
};

}  // namespace nidus::engine
