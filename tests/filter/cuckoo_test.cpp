// SPDX-License-Identifier: Apache-2.0

// The cuckoo filter's own promises: places, packed tags, full tables, copies.

#include <random>

#include <gtest/gtest.h>
#include <nidus/filter/cuckoo_filter.hpp>

#include "keys.hpp"

namespace nidus::filter {
namespace {

using testing::fill;
using testing::image_of;

void expect_involution(const CuckooPlaces& places, std::uint64_t first_tag, std::uint64_t last_tag,
                       std::uint64_t step = 1) {
  for (std::uint64_t wide = first_tag; wide <= last_tag; wide += step) {
    const auto tag = static_cast<std::uint32_t>(wide);
    for (std::uint64_t bucket = 0; bucket < places.buckets(); ++bucket) {
      const std::uint64_t other = places.alternate(bucket, tag);
      ASSERT_LT(other, places.buckets());
      ASSERT_NE(other, bucket) << "tag " << tag;
      ASSERT_EQ(places.alternate(other, tag), bucket) << "tag " << tag;
    }
  }
}

TEST(CuckooPlaces, AlternateOfTheAlternateIsTheBucketForAllTagsAt1024Buckets) {
  expect_involution(CuckooPlaces(1024, 12, 0, 0), 1, (1u << 12) - 1);
  expect_involution(CuckooPlaces(1024, 4, 0, 0), 1, 15);
  expect_involution(CuckooPlaces(1024, 16, 0, 0), 1, (1u << 16) - 1);
  expect_involution(CuckooPlaces(1024, 32, 0, 0), 1, 0xffffffff, 9'999'991);
}

TEST(CuckooPlaces, AlternateOfTheAlternateIsTheBucketForEveryEvenNumberOfBuckets) {
  for (std::uint64_t buckets = 2; buckets <= 1100; buckets += 2) {
    expect_involution(CuckooPlaces(buckets, 6, 0, 0), 1, 63);
  }
  for (const std::uint64_t buckets : {1000, 1022, 1026, 1366, 9998}) {
    expect_involution(CuckooPlaces(buckets, 10, 0, 0), 1, 1023);
  }
}

TEST(CuckooPlaces, AlternateOfTheAlternateIsTheBucketInRefinedLayers) {
  for (unsigned split = 1; split <= 6; ++split) {
    expect_involution(CuckooPlaces(46, 8, split, split), 1u << split, (256u << split) - 1);
  }
}

TEST(CuckooPlaces, FinerPlaceDeterminesTheCoarserOne) {
  constexpr unsigned kRootBits = 9;
  for (const std::uint64_t root : {2, 38, 1000}) {
    for (unsigned fine = 1; fine <= 8; ++fine) {
      for (unsigned coarse = 0; coarse < fine; ++coarse) {
        const CuckooPlaces f(root, kRootBits, 2 * fine, fine),
            c(root, kRootBits, 2 * coarse, coarse);
        for (std::uint64_t i = 0; i < 500; ++i) {
          const CuckooPlace in_fine = f.place(i), in_coarse = c.place(i);
          const unsigned drop = 2 * (fine - coarse);
          ASSERT_EQ(in_fine.tag >> (fine - coarse), in_coarse.tag);
          ASSERT_EQ(in_fine.first >> drop, in_coarse.first);
          ASSERT_EQ(in_fine.second >> drop, in_coarse.second);
        }
      }
    }
  }
}

TEST(CuckooPlaces, TagIsNeverTheMarkOfAnEmptySlotAndIsUniform) {
  constexpr std::uint64_t kKeys = 300'000;
  const CuckooPlaces places(1024, 4, 0, 0);
  std::uint64_t seen[16] = {};
  for (std::uint64_t i = 0; i < kKeys; ++i) ++seen[places.tag(i)];
  EXPECT_EQ(seen[0], 0u);
  // Five standard deviations of a binomial count of 20 000.
  for (unsigned tag = 1; tag < 16; ++tag) EXPECT_NEAR(double(seen[tag]), kKeys / 15.0, 5 * 137.0);
  EXPECT_EQ(places.tag(KeyHash(0, 0)), 1u);  // a hash of all zeros has a tag as well
  EXPECT_EQ(places.tag(KeyHash(0, ~std::uint64_t{0})), 15u);
}

TEST(PackedTags, HoldEveryWidthAndBucketSizeAsAnArrayWould) {
  constexpr std::uint64_t kBuckets = 40;
  std::mt19937_64 random(1);
  for (const unsigned slots : {2u, 4u, 8u}) {
    for (unsigned bits = 4; bits <= 32; ++bits) {
      PackedTags tags(kBuckets, slots, bits);
      std::vector<std::uint32_t> model(kBuckets * slots);
      const std::uint64_t values = std::min<std::uint64_t>(std::uint64_t{1} << bits, 5);
      for (int i = 0; i < 600; ++i) {
        const std::uint64_t bucket = random() % kBuckets;
        const auto slot = static_cast<unsigned>(random() % slots);
        // Few values, so that they repeat; the largest among them.
        const auto tag = static_cast<std::uint32_t>(
            random() % 4 == 0 ? (std::uint64_t{1} << bits) - 1 : random() % values);
        tags.set(bucket, slot, tag);
        model[bucket * slots + slot] = tag;
        const std::uint64_t looked = random() % kBuckets;
        const auto first = model.begin() + static_cast<std::ptrdiff_t>(looked * slots);
        for (const std::uint32_t wanted : {tag, 0u, 1u}) {
          const auto found = std::find(first, first + slots, wanted) - first;
          ASSERT_EQ(tags.find(looked, wanted), static_cast<unsigned>(found)) << bits;
          ASSERT_EQ(tags.contains(looked, wanted), found != slots);
          ASSERT_EQ(tags.copies(looked, wanted), std::count(first, first + slots, wanted));
        }
      }
      for (std::size_t i = 0; i < model.size(); ++i) {
        ASSERT_EQ(tags.get(i / slots, static_cast<unsigned>(i % slots)), model[i]) << bits;
      }
    }
  }
}

TEST(CuckooFilter, FailingInsertLeavesTheFilterBitForBit) {
  for (const unsigned slots : {2u, 4u, 8u}) {
    CuckooFilter filter(CuckooShape{130, slots, 9});
    std::uint64_t failed = 0, added = 0;
    for (std::uint64_t i = 0; failed < 50; ++i) {
      const CuckooFilter before = filter;
      const Insert outcome = filter.insert(i);
      if (outcome == Insert::kAdded) {
        ++added;
        continue;
      }
      ++failed;
      ASSERT_EQ(filter, before);
      ASSERT_EQ(image_of(filter), image_of(before));
    }
    EXPECT_EQ(filter.count(), added);
  }
}

TEST(CuckooFilter, FullFilterHasLostNothing) {
  for (const unsigned slots : {2u, 4u, 8u}) {
    CuckooFilter filter(CuckooShape{1000, slots, 12});
    std::vector<std::uint64_t> kept;
    for (std::uint64_t i = 0; i < 2000 * slots; ++i) {
      if (filter.insert(i) == Insert::kAdded) kept.push_back(i);
    }
    EXPECT_GT(filter.load(), slots == 2 ? 0.9 : 0.98);
    for (const std::uint64_t key : kept) ASSERT_TRUE(filter.may_contain(key));
    for (const std::uint64_t key : kept) ASSERT_TRUE(filter.erase(key));
    EXPECT_EQ(filter, CuckooFilter(CuckooShape{1000, slots, 12}));
  }
}

TEST(CuckooFilter, FillsToTheLoadThatSizingCountsOnAtEverySize) {
  for (const unsigned slots : {2u, 4u, 8u}) {
    for (double items = 500; items <= 500'000; items *= 3.7) {
      const auto shape = cuckoo_shape(items, 0.4, slots);
      ASSERT_TRUE(shape);
      CuckooFilter filter(*shape);
      const auto n = static_cast<std::uint64_t>(items);
      EXPECT_EQ(fill(filter, n), n) << slots << " slots, tags of " << shape->tag_bits;
    }
  }
}

TEST(CuckooFilter, SameKeyIsStoredTwiceTheBucketSizeAndTheNextInsertSaysSo) {
  for (const unsigned slots : {2u, 4u, 8u}) {
    CuckooFilter filter(CuckooShape{100, slots, 16});
    fill(filter, 50 * slots);
    std::uint64_t key = testing::kNeverInserted;
    while (filter.copies(key) != 0) ++key;
    for (unsigned i = 0; i < 2 * slots; ++i) {
      EXPECT_EQ(filter.copies(key), i);
      ASSERT_EQ(filter.insert(key), Insert::kAdded) << i;
    }
    const CuckooFilter before = filter;
    EXPECT_EQ(filter.insert(key), Insert::kTooManyCopies);
    EXPECT_EQ(filter, before);
    for (std::uint64_t i = 0; i < 50 * slots; ++i) ASSERT_TRUE(filter.may_contain(i));
    for (unsigned i = 0; i < 2 * slots; ++i) ASSERT_TRUE(filter.erase(key));
    EXPECT_FALSE(filter.may_contain(key));
  }
}

TEST(CuckooFilter, OddNumberOfBucketsIsRoundedUp) {
  EXPECT_EQ(CuckooFilter(CuckooShape{7, 4, 8}).shape().buckets, 8u);
  EXPECT_EQ(CuckooFilter(CuckooShape{1, 4, 8}).shape().buckets, 2u);
}

TEST(CuckooFilter, LoadedFilterIsEqualAtEveryWidth) {
  for (const unsigned slots : {2u, 4u, 8u}) {
    for (unsigned bits = kMinTagBits; bits <= kMaxTagBits; ++bits) {
      CuckooFilter filter(CuckooShape{62, slots, bits});
      fill(filter, 40 * slots);
      const auto loaded = CuckooFilter::load(image_of(filter));
      ASSERT_TRUE(loaded) << loaded.error().message;
      ASSERT_EQ(*loaded, filter);
      ASSERT_EQ(image_of(*loaded), image_of(filter));
    }
  }
}

}  // namespace
}  // namespace nidus::filter
