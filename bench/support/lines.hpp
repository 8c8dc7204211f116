// SPDX-License-Identifier: Apache-2.0
#pragma once

// The limit of a lookup in memory: the time in which this machine fetches random cache lines whose
// addresses are known beforehand, with nothing to compute but a sum.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include <sys/mman.h>

namespace nidus::bench {

class RandomLines {
 public:
  /// Over this much memory, in huge pages where the system has them.
  explicit RandomLines(std::size_t bytes)
      : count_(std::max<std::size_t>(bytes / kLineBytes, 64)), random_(1) {
    void* memory = mmap(nullptr, count_ * kLineBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::exit(1);
    madvise(memory, count_ * kLineBytes, MADV_HUGEPAGE);
    words_ = static_cast<std::uint64_t*>(memory);
    for (std::size_t i = 0; i < count_; ++i) words_[i * kWords] = i;
  }
  ~RandomLines() { munmap(words_, count_ * kLineBytes); }
  RandomLines(const RandomLines&) = delete;
  RandomLines& operator=(const RandomLines&) = delete;

  /// Nanoseconds for `lines` independent lines, the average of `n` times; the better of leaving the
  /// order to the processor and of asking 32 ahead.
  double run(std::size_t lines, std::size_t n) {
    std::vector<std::uint32_t> at(lines * n + kAhead);
    double best = std::numeric_limits<double>::infinity();
    for (const bool ask : {false, true}) {
      for (auto& line : at) line = static_cast<std::uint32_t>(random_() % count_);
      std::uint64_t sum = 0;
      const auto start = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < lines * n; ++i) {
        if (ask) __builtin_prefetch(words_ + at[i + kAhead] * kWords);
        sum += words_[at[i] * kWords];
      }
      const std::chrono::duration<double, std::nano> took =
          std::chrono::steady_clock::now() - start;
      sink_ = sum;
      best = std::min(best, took.count() / static_cast<double>(n));
    }
    return best;
  }

 private:
  static constexpr std::size_t kLineBytes = 64, kWords = 8, kAhead = 32;
  std::size_t count_;
  std::uint64_t* words_ = nullptr;
  std::mt19937_64 random_;
  volatile std::uint64_t sink_ = 0;
};

}  // namespace nidus::bench
