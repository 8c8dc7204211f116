// SPDX-License-Identifier: Apache-2.0

// The table of the string commands (see spec.hpp); their handlers stand in strings_*.cpp.

#include "command/registry.hpp"
#include "command/strings_handlers.hpp"

namespace nidus::command {
namespace {

constexpr KeyRange kOneKey = {1, 1, 1};
constexpr KeyRange kAllKeys = {1, -1, 1};
constexpr KeyRange kPairs = {1, -1, 2};
constexpr std::string_view kConstant = "The same for any number of keys.";
constexpr std::string_view kCopies = "Grows with the value's size: every write copies the value.";
constexpr std::uint32_t kGrows = kWrite | kDenyOom;

constexpr CommandSpec kCommands[] = {
    {"append", 3, kGrows | kFast, kOneKey, "string", "2.0.0", kCopies,
     "Adds bytes at the end of a value; a missing key starts empty. Gives the new length.",
     "key value", append},
    {"decr", 2, kGrows | kFast, kOneKey, "string", "1.0.0", kConstant,
     "Takes one from the integer stored at a key; a missing key counts as 0.", "key", decr},
    {"decrby", 3, kGrows | kFast, kOneKey, "string", "1.0.0", kConstant,
     "Takes a number from the integer stored at a key; a missing key counts as 0.", "key decrement",
     decrby},
    {"get", 2, kReadonly | kFast, kOneKey, "string", "1.0.0", kConstant,
     "Gives the value of a key, or null.", "key", get},
    {"getdel", 2, kWrite | kFast, kOneKey, "string", "6.2.0", kConstant,
     "Gives the value of a key and removes the key.", "key", getdel},
    {"getex", -2, kWrite | kFast, kOneKey, "string", "6.2.0", kConstant,
     "Gives the value of a key and sets or removes its expiry.",
     "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | "
     "PERSIST]",
     getex},
    {"getrange", 4, kReadonly, kOneKey, "string", "2.4.0", "Grows with the bytes returned.",
     "Gives the bytes from start to end of a value; negative positions count from its end.",
     "key start end", getrange},
    {"getset", 3, kGrows | kFast, kOneKey, "string", "1.0.0", kConstant,
     "Stores a value and gives the one before. SET with GET does the same.", "key value", getset},
    {"incr", 2, kGrows | kFast, kOneKey, "string", "1.0.0", kConstant,
     "Adds one to the integer stored at a key; a missing key counts as 0.", "key", incr},
    {"incrby", 3, kGrows | kFast, kOneKey, "string", "1.0.0", kConstant,
     "Adds a number to the integer stored at a key; a missing key counts as 0.", "key increment",
     incrby},
    {"incrbyfloat", 3, kGrows | kFast, kOneKey, "string", "2.6.0", kConstant,
     "Adds a floating-point number to the number stored at a key; a missing key counts as 0.",
     "key increment", incrbyfloat},
    {"lcs",
     -3,
     kReadonly,
     {1, 2, 1},
     "string",
     "7.0.0",
     "Grows with the product of both sizes, in time and in memory.",
     "Gives the longest common subsequence of two values, its length, or where it lies.",
     "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
     lcs},
    {"mget", -2, kReadonly | kFast, kAllKeys, "string", "1.0.0",
     "Grows with the number of keys, which are fetched in parallel.",
     "Gives the values of several keys as of one moment; null for each missing one.",
     "key [key ...]", mget},
    {"mset", -3, kGrows, kPairs, "string", "1.0.1", "Grows with the number of keys.",
     "Stores several values at once: no other client sees only some of them.",
     "key value [key value ...]", mset},
    {"msetnx", -3, kGrows, kPairs, "string", "1.0.1", "Grows with the number of keys.",
     "Stores several values if none of the keys exists, else nothing.", "key value [key value ...]",
     msetnx},
    {"psetex", 4, kGrows, kOneKey, "string", "2.6.0", kConstant,
     "Stores a value that expires after some milliseconds.", "key milliseconds value", psetex},
    {"set", -3, kGrows, kOneKey, "string", "1.0.0", kConstant,
     "Stores a value, under conditions and with an expiry if wanted. An expiry that the key had "
     "is gone unless KEEPTTL is given.",
     "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | "
     "PXAT unix-time-milliseconds | KEEPTTL]",
     set},
    {"setex", 4, kGrows, kOneKey, "string", "2.0.0", kConstant,
     "Stores a value that expires after some seconds.", "key seconds value", setex},
    {"setnx", 3, kGrows | kFast, kOneKey, "string", "1.0.0", kConstant,
     "Stores a value if the key does not exist.", "key value", setnx},
    {"setrange", 4, kGrows, kOneKey, "string", "2.2.0", kCopies,
     "Writes bytes over a value from an offset on; a gap is filled with zeros. Gives the length.",
     "key offset value", setrange},
    {"strlen", 2, kReadonly | kFast, kOneKey, "string", "2.2.0", kConstant,
     "Gives the length of a value in bytes; 0 for a missing key.", "key", strlen},
    {"substr", 4, kReadonly, kOneKey, "string", "1.0.0", "Grows with the bytes returned.",
     "The old name of GETRANGE.", "key start end", getrange},
};

}  // namespace

std::span<const CommandSpec> string_commands() { return kCommands; }

}  // namespace nidus::command
