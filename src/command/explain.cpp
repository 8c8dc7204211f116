// SPDX-License-Identifier: Apache-2.0

// NIDUS.EXPLAIN key: where a key lives and why, from its hash to the item, with the nanoseconds of
// each stage. A map in RESP3, a flat array in RESP2. The read does not count as a use of the key.

#include <array>
#include <cstdio>
#include <string>

#include <nidus/ring/hash_slots.hpp>

#include "command/introspection.hpp"
#include "engine/score.hpp"

namespace nidus::command {
namespace {

using engine::Explanation;
using engine::Item;

class Fields {
 public:
  explicit Fields(resp::Writer& reply) : reply_(reply) {}
  template <class Number>
  void integer(std::string_view name, Number value) {
    reply_.bulk(name);
    reply_.integer(static_cast<std::int64_t>(value));
  }
  void text(std::string_view name, std::string_view value) {
    reply_.bulk(name);
    reply_.bulk(value);
  }
  void boolean(std::string_view name, bool value) {
    reply_.bulk(name);
    reply_.boolean(value);
  }
  void null(std::string_view name) {
    reply_.bulk(name);
    reply_.null();
  }
  void slots(std::string_view name, unsigned mask) {
    reply_.bulk(name);
    reply_.array(static_cast<std::size_t>(__builtin_popcount(mask)));
    for (int i = 0; mask != 0; ++i, mask >>= 1) {
      if ((mask & 1) != 0) reply_.integer(i);
    }
  }

 private:
  resp::Writer& reply_;
};

std::string hex(std::uint64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

// How far the key was moved from the bucket where it would rather be.
std::uint64_t displacement(const Explanation& why) {
  if (why.bucket != 2) return 0;
  return why.bucket1 > why.bucket2 ? why.bucket1 - why.bucket2 : why.bucket2 - why.bucket1;
}

constexpr std::array kItemFields = {"bucket",      "slot",       "displacement",  "key_bytes",
                                    "value_bytes", "item_bytes", "expires_at_ms", "ttl_ms",
                                    "idle_ms",     "frequency",  "score"};

void place_fields(Fields& out, const Explanation& why, std::string_view key) {
  out.text("hash", hex(why.hash, 16));
  out.integer("hash_slot", ring::hash_slot(key));
  out.text("tag", hex(why.tag, 4));
  out.integer("directory_index", why.directory_index);
  out.integer("directory_bits", why.directory_bits);
  out.integer("segment_buckets", why.segment_buckets);
  out.integer("segment_keys", why.segment_keys);
  out.integer("bucket_1", why.bucket1);
  out.integer("bucket_2", why.bucket2);
  out.slots("tag_matches_1", why.tag_matches1);
  out.slots("tag_matches_2", why.tag_matches2);
  out.boolean("second_bucket_read", why.second_bucket_read);
  out.boolean("found", why.item != nullptr);
}
constexpr std::size_t kPlaceFields = 13;

void item_fields(Fields& out, const Explanation& why, engine::Policy policy, engine::Millis now) {
  const Item& item = *why.item;
  const bool lfu = engine::is_lfu(policy);
  out.integer("bucket", why.bucket);
  out.integer("slot", why.slot);
  out.integer("displacement", displacement(why));
  out.integer("key_bytes", item.key_bytes());
  out.integer("value_bytes", item.value_bytes());
  out.integer("item_bytes", item.allocated_bytes());
  out.integer("expires_at_ms", item.has_expiry() ? item.expires_at() : -1);
  out.integer("ttl_ms", item.has_expiry() ? item.expires_at() - now : -1);
  if (lfu) {
    out.null("idle_ms");
    out.integer("frequency", engine::frequency(item.access(), now));
  } else {
    out.integer("idle_ms", engine::idle_ms(item.access(), now));
    out.null("frequency");
  }
  out.integer("score", why.score);
}

}  // namespace

void explain(Context& context) {
  const std::string_view key = context.arg(1);
  const Explanation why = context.db->explain(key, context.now);
  const engine::Policy policy = context.keyspace.policy();
  context.reply.map(kPlaceFields + kItemFields.size() + 4);
  Fields out(context.reply);
  place_fields(out, why, key);
  if (why.item != nullptr) {
    item_fields(out, why, policy, context.now);
  } else {
    for (const std::string_view name : kItemFields) out.null(name);
  }
  out.text("policy", engine::policy_name(policy));
  out.integer("hash_ns", why.hash_ns);
  out.integer("bucket_ns", why.bucket_ns);
  out.integer("item_ns", why.item_ns);
}

}  // namespace nidus::command
