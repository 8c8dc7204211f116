// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file format of all filters: a header of 80 bytes, then the payload. Numbers are little-endian.
//
//   0  "NIDUSFLT"    8  version (4)   12  kind (4)     16  six parameters of the kind (8 each)
//   64 payload bytes (8)              72  XXH3-64 of bytes 0..71 and the payload (8)
//
// A reader checks magic, version, kind, length and checksum here; the filter then checks that its
// parameters make sense and that the payload has the size that they say, before it allocates.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <nidus/base/error.hpp>
#include <nidus/filter/key_hash.hpp>

namespace nidus::filter {

static_assert(std::endian::native == std::endian::little,
              "images are the bytes of memory: this machine would have to swap them");

enum class Kind : std::uint32_t {
  kBloom = 1,
  kBlockedBloom = 2,
  kCountingBloom = 3,
  kCuckoo = 4,
  kScalable = 16,  // plus the kind of its layers
};

using ImageParameters = std::array<std::uint64_t, 6>;

struct Image {
  ImageParameters parameters;
  std::string_view payload;
};

inline constexpr std::uint32_t kImageVersion = 1;

namespace detail {

struct ImageHeader {
  char magic[8];
  std::uint32_t version, kind;
  ImageParameters parameters;
  std::uint64_t payload_bytes, checksum;
};
static_assert(sizeof(ImageHeader) == 80);

inline constexpr char kMagic[] = "NIDUSFLT";

inline std::uint64_t checksum(const ImageHeader& header, std::string_view payload) {
  const std::uint64_t seed = XXH3_64bits(&header, sizeof header - sizeof header.checksum);
  return XXH3_64bits_withSeed(payload.data(), payload.size(), seed);
}

}  // namespace detail

/// Appends one image to `out`.
inline void write_image(std::string& out, Kind kind, const ImageParameters& parameters,
                        std::string_view payload) {
  detail::ImageHeader header{};
  std::memcpy(header.magic, detail::kMagic, sizeof header.magic);
  header.version = kImageVersion;
  header.kind = static_cast<std::uint32_t>(kind);
  header.parameters = parameters;
  header.payload_bytes = payload.size();
  header.checksum = detail::checksum(header, payload);
  out.append(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(payload);
}

/// The parts of an image that fills `bytes`. Errors: not one of ours, another kind or version, cut
/// off, or damaged
inline Expected<Image> read_image(std::string_view bytes, Kind kind) {
  detail::ImageHeader header;
  if (bytes.size() < sizeof header) {
    return fail("filter image: shorter than its header of 80 bytes; it was cut off");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::string_view payload = bytes.substr(sizeof header);
  if (std::memcmp(header.magic, detail::kMagic, sizeof header.magic) != 0) {
    return fail("filter image: does not start with NIDUSFLT; these bytes are something else");
  }
  if (header.version != kImageVersion) {
    return fail("filter image: version " + std::to_string(header.version) +
                ", this program reads version " + std::to_string(kImageVersion));
  }
  if (header.kind != static_cast<std::uint32_t>(kind)) {
    return fail("filter image: holds a filter of kind " + std::to_string(header.kind) +
                ", expected " + std::to_string(static_cast<std::uint32_t>(kind)));
  }
  if (header.payload_bytes != payload.size()) {
    return fail("filter image: its header tells of " + std::to_string(header.payload_bytes) +
                " bytes, " + std::to_string(payload.size()) + " follow");
  }
  if (header.checksum != detail::checksum(header, payload)) {
    return fail("filter image: the checksum does not fit; the bytes are damaged");
  }
  return Image{header.parameters, payload};
}

}  // namespace nidus::filter
