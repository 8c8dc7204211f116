// SPDX-License-Identifier: Apache-2.0

// The main of a fuzz body in the normal build, where there is no libFuzzer: feeds it every file of
// the corpus folders given, and every prefix of the short ones (input that ends in mid-request is
// what parsers see most). Exits 1 when there is nothing to replay: such a test could not fail.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// Prefixes cost the square of the size, so only inputs up to this many bytes are cut.
constexpr std::size_t kMaxBytesToCut = 512;

void replay(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const std::size_t first = bytes.size() <= kMaxBytesToCut ? 0 : bytes.size();
  for (std::size_t size = first; size <= bytes.size(); ++size) {
    // A fresh copy of exactly this size, so that a sanitizer sees a read past its end.
    const std::vector<std::uint8_t> input(bytes.begin(),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(size));
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) {
        replay(entry.path());
        ++files;
      }
    }
  }
  std::printf("replayed %d files\n", files);
  if (files == 0) std::fprintf(stderr, "no corpus file found\n");
  return files == 0 ? 1 : 0;
}
