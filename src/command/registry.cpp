// SPDX-License-Identifier: Apache-2.0

// The table of commands (see registry.hpp): an open-addressed table whose key is the name folded to
// lower case and packed into two words, so that a look-up is a multiplication and two compares.

#include "command/registry.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "command/arguments.hpp"

namespace nidus::command {
namespace {

constexpr std::size_t kMaxNameBytes = 16;

/// A name of at most 16 bytes as two words; the words are equal if the names are, because no name
/// holds NUL and sizes are compared apart.
struct PackedName {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// ASCII capitals in eight bytes at once to lower case; other bytes stay.
std::uint64_t to_lower(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  const std::uint64_t seven_bits = bytes & (kEach * 0x7f);
  const std::uint64_t from_a = seven_bits + kEach * (0x80 - 'A');    // top bit: >= 'A'
  const std::uint64_t behind_z = seven_bits + kEach * (0x7f - 'Z');  // top bit: > 'Z'
  const std::uint64_t capital = (from_a ^ behind_z) & ~bytes & (kEach * 0x80);
  return bytes | (capital >> 2);  // 0x80 >> 2 is the bit by which the cases differ
}

/// Up to eight bytes without reading behind them: two overlapping loads.
std::uint64_t load(const char* bytes, std::size_t n) {
  if (n == 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
  }
  if (n >= 4) {
    std::uint32_t first, last;
    std::memcpy(&first, bytes, 4);
    std::memcpy(&last, bytes + n - 4, 4);
    return first | static_cast<std::uint64_t>(last) << (8 * (n - 4));
  }
  if (n == 0) return 0;
  const auto byte = [&](std::size_t i) {
    return std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  };
  return byte(0) | byte(n / 2) | byte(n - 1);
}

PackedName pack(std::string_view name) {
  if (name.size() <= 8) return {to_lower(load(name.data(), name.size())), 0};
  return {to_lower(load(name.data(), 8)), to_lower(load(name.data() + 8, name.size() - 8))};
}

class CommandTable {
 public:
  CommandTable() {
    for (const auto family : {string_commands(), bitmap_commands(), key_commands(),
                              expire_commands(), scan_commands(), transaction_commands(),
                              connection_commands(), server_commands(), introspection_commands()}) {
      for (const CommandSpec& spec : family) add(spec);
    }
    std::sort(sorted_.begin(), sorted_.end(),
              [](const CommandSpec* a, const CommandSpec* b) { return a->name < b->name; });
  }

  const CommandSpec* find(std::string_view name) const {
    if (name.size() > kMaxNameBytes) return nullptr;
    const PackedName packed = pack(name);
    for (std::size_t i = slot_of(packed);; i = (i + 1) % kSlots) {
      const Slot& slot = slots_[i];
      if (slot.spec == nullptr) return nullptr;
      if (slot.name.low == packed.low && slot.name.high == packed.high) {
        // A NUL behind the name would be packed like its end.
        return slot.spec->name.size() == name.size() ? slot.spec : nullptr;
      }
    }
  }

  std::span<const CommandSpec* const> sorted() const { return sorted_; }

 private:
  // Some 70 commands: at most a quarter full, so most look-ups end at their first slot.
  static constexpr unsigned kSlotBits = 9;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
  struct Slot {
    PackedName name;
    const CommandSpec* spec = nullptr;
  };

  static std::size_t slot_of(const PackedName& name) {
    // An odd constant without pattern (the golden ratio's bits): the product's top bits mix well.
    const std::uint64_t mixed = (name.low ^ (name.high << 7)) * 0x9E3779B97F4A7C15;
    return mixed >> (64 - kSlotBits);
  }

  void add(const CommandSpec& spec) {
    assert(spec.name.size() <= kMaxNameBytes && find(spec.name) == nullptr);
    assert(sorted_.size() < kSlots / 2);
    const PackedName packed = pack(spec.name);
    std::size_t i = slot_of(packed);
    while (slots_[i].spec != nullptr) i = (i + 1) % kSlots;
    slots_[i] = {packed, &spec};
    sorted_.push_back(&spec);
  }

  std::array<Slot, kSlots> slots_;
  std::vector<const CommandSpec*> sorted_;
};

const CommandTable& table() {
  static const CommandTable commands;
  return commands;
}

}  // namespace

const CommandSpec* find_command(std::string_view name) { return table().find(name); }

const CommandSpec* find_subcommand(const CommandSpec& container, std::string_view name) {
  for (const CommandSpec& spec : container.subcommands) {
    if (is_word(name, spec.name)) return &spec;
  }
  return nullptr;
}

std::span<const CommandSpec* const> all_commands() { return table().sorted(); }

}  // namespace nidus::command
