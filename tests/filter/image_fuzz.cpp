// SPDX-License-Identifier: Apache-2.0

// Fuzz body of the readers of images. The first byte chooses the kind of filter, the rest is the
// image. It is read as it is, and once more with its length and checksum put right, so that hostile
// parameters come as far as a liar would bring them. What loads must work as a filter, and must save
// to the very bytes that it came from.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <nidus/filter/counting_bloom.hpp>
#include <nidus/filter/scalable.hpp>

namespace {

using namespace nidus::filter;

void require(bool condition) {
  if (!condition) std::abort();
}

template <class F>
void use(const std::string& image) {
  auto filter = F::load(image);
  if (!filter) return require(!filter.error().message.empty());
  std::string saved;
  filter->save(saved);
  require(saved == image);
  for (int i = 0; i < 20; ++i) {
    const Insert outcome = filter->insert(i);
    require(outcome == Insert::kFull || filter->may_contain(i));
  }
  const KeyHash keys[] = {1, 2, 3};
  bool out[3];
  filter->may_contain_batch(std::span<const KeyHash>(keys), std::span<bool>(out));
  if constexpr (ErasableFilter<F>) {
    for (int i = 0; i < 40; ++i) filter->erase(i);
  }
  require(filter->expected_fpr() >= 0);
  filter->clear();
  require(filter->count() == 0);
}

template <class F>
void read(std::string image) {
  use<F>(image);
  detail::ImageHeader header;
  if (image.size() < sizeof header) return;
  std::memcpy(&header, image.data(), sizeof header);
  std::memcpy(header.magic, detail::kMagic, sizeof header.magic);
  header.version = kImageVersion;
  header.kind = static_cast<std::uint32_t>(F::kKind);
  header.payload_bytes = image.size() - sizeof header;
  header.checksum = detail::checksum(header, std::string_view(image).substr(sizeof header));
  std::memcpy(image.data(), &header, sizeof header);
  use<F>(image);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string image(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      read<BloomFilter>(image);
      break;
    case 1:
      read<BlockedBloomFilter>(image);
      break;
    case 2:
      read<CountingBloomFilter>(image);
      break;
    case 3:
      read<CuckooFilter>(image);
      break;
    case 4:
      read<ScalableBloomFilter>(image);
      break;
    case 5:
      read<ScalableBlockedBloomFilter>(image);
      break;
    default:
      read<ScalableCuckooFilter>(image);
      break;
  }
  return 0;
}
