#include "replay/memory/sm/coalescer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

using machine::v1::Hierarchy;
using testing::ElementsAre;
using testing::SizeIs;
using Kind = Coalescer::Kind;

constexpr LaneMask kWarp = 0xffffffff;
constexpr uint32_t kNoLargest = 256;

struct Request {
  Hierarchy::Coalescing mode = Hierarchy::COMPUTE_20;
  uint32_t line_bytes = 128;
  Kind kind = Kind::kRead;
  uint32_t bytes = 4;
  LaneMask lanes = kWarp;
  uint32_t largest = kNoLargest;
};

TransactionList Coalesce(const Request& request, const std::function<uint64_t(uint64_t)>& address) {
  LaneAddresses addresses{};
  for (uint64_t lane = 0; lane < 32; ++lane) addresses[lane] = address(lane);
  TransactionList out;
  Coalescer(request.mode, 32, request.line_bytes, request.largest)
      .Coalesce(request.kind, request.bytes, request.lanes, addresses, out);
  return out;
}

// "address/bytes" of each transaction, in order.
std::vector<std::string> Sizes(const Request& request, const std::function<uint64_t(uint64_t)>& address) {
  std::vector<std::string> sizes;
  for (const Transaction& transaction : Coalesce(request, address)) {
    sizes.push_back(absl::StrCat("0x", absl::Hex(transaction.address), "/", transaction.bytes));
  }
  return sizes;
}

const Request k13 = {.mode = Hierarchy::COMPUTE_13};
const Request k20 = {.mode = Hierarchy::COMPUTE_20};

// Loads of 4 bytes by 32 lanes. Compute 1.3 serves each half-warp by itself.
TEST(Coalescer, AlignedRow) {
  const auto row = [](uint64_t lane) { return 0x1000 + 4 * lane; };
  EXPECT_THAT(Sizes(k13, row), ElementsAre("0x1000/64", "0x1040/64"));
  EXPECT_THAT(Sizes(k20, row), ElementsAre("0x1000/128"));
}

TEST(Coalescer, RowOffByAWord) {
  const auto row = [](uint64_t lane) { return 0x1004 + 4 * lane; };
  EXPECT_THAT(Sizes(k13, row), ElementsAre("0x1000/128", "0x1040/64", "0x1080/32"));
  EXPECT_THAT(Sizes(k20, row), ElementsAre("0x1000/128", "0x1080/128"));
}

TEST(Coalescer, EverySecondWord) {
  const auto row = [](uint64_t lane) { return 0x1000 + 8 * lane; };
  EXPECT_THAT(Sizes(k13, row), ElementsAre("0x1000/128", "0x1080/128"));
  EXPECT_THAT(Sizes(k20, row), ElementsAre("0x1000/128", "0x1080/128"));
}

TEST(Coalescer, OneWord) {
  const auto word = [](uint64_t) { return 0x1040; };
  EXPECT_THAT(Sizes(k13, word), ElementsAre("0x1040/32", "0x1040/32"));
  EXPECT_THAT(Sizes(k20, word), ElementsAre("0x1000/128"));
}

TEST(Coalescer, OneWordPerLine) {
  const auto column = [](uint64_t lane) { return 0x1000 + 128 * lane; };
  const TransactionList of13 = Coalesce(k13, column);
  ASSERT_EQ(of13.size(), 32);
  for (const Transaction& transaction : of13) EXPECT_EQ(transaction.bytes, 32);
  EXPECT_THAT(Sizes(k20, column), SizeIs(32));
}

TEST(Coalescer, UpperHalfWarpOfARow) {
  const auto row = [](uint64_t lane) { return 0x1000 + 4 * lane; };
  Request upper = k13;
  upper.lanes = 0xffff0000;
  EXPECT_THAT(Sizes(upper, row), ElementsAre("0x1040/64"));
  upper.mode = Hierarchy::COMPUTE_20;
  EXPECT_THAT(Sizes(upper, row), ElementsAre("0x1000/128"));
}

TEST(Coalescer, NarrowAccessesOfCompute13StartWithNarrowSegments) {
  Request bytes = k13;
  bytes.bytes = 1;
  EXPECT_THAT(Sizes(bytes, [](uint64_t lane) { return 0x1000 + 3 * lane; }),
              ElementsAre("0x1000/32", "0x1020/32", "0x1020/32", "0x1040/32"));
  bytes.bytes = 2;
  EXPECT_THAT(Sizes(bytes, [](uint64_t lane) { return 0x1000 + 4 * lane; }), ElementsAre("0x1000/64", "0x1040/64"));
}

TEST(Coalescer, WideAccessesAreMadeInParts) {
  Request wide = k20;
  wide.bytes = 8;
  EXPECT_THAT(Sizes(wide, [](uint64_t lane) { return 0x1000 + 8 * lane; }), ElementsAre("0x1000/128", "0x1080/128"));
  // Both half-warps read the same line: two transactions.
  EXPECT_THAT(Sizes(wide, [](uint64_t lane) { return 0x1000 + 8 * (lane % 16); }),
              ElementsAre("0x1000/128", "0x1000/128"));
  wide.bytes = 16;
  EXPECT_THAT(Sizes(wide, [](uint64_t) { return 0x1000; }), SizeIs(4));
  wide.mode = Hierarchy::COMPUTE_13;
  EXPECT_THAT(Sizes(wide, [](uint64_t lane) { return 0x1000 + 16 * lane; }),
              ElementsAre("0x1000/128", "0x1080/128", "0x1100/128", "0x1180/128"));
}

TEST(Coalescer, WritesOfCompute20CarryNoMoreThanTheyMust) {
  Request write = k20;
  write.kind = Kind::kWrite;
  write.lanes = 0xff;
  EXPECT_THAT(Sizes(write, [](uint64_t lane) { return 0x1040 + 4 * lane; }), ElementsAre("0x1040/32"));
  write.lanes = kWarp;
  EXPECT_THAT(Sizes(write, [](uint64_t lane) { return 0x1000 + 4 * lane; }), ElementsAre("0x1000/128"));
}

// The rule of compute 2.0 for writes, byte by byte.
std::vector<std::string> SimpleWrites(uint32_t bytes, LaneMask lanes, const std::vector<uint64_t>& addresses) {
  struct Bytes {
    uint64_t low = ~uint64_t{0};
    uint64_t high = 0;
  };
  std::map<uint64_t, Bytes> segments;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    Bytes& accessed = segments[addresses[lane] / 128 * 128];
    accessed.low = std::min(accessed.low, addresses[lane]);
    accessed.high = std::max(accessed.high, addresses[lane] + bytes - 1);
  }
  std::vector<std::string> sizes;
  for (const auto& [segment, accessed] : segments) {
    uint64_t start = segment;
    uint32_t size = 128;
    while (size > 32 && (accessed.low >= start + size / 2 || accessed.high < start + size / 2)) {
      size /= 2;
      if (accessed.low >= start + size) start += size;
    }
    sizes.push_back(absl::StrCat("0x", absl::Hex(start), "/", size));
  }
  return sizes;
}

TEST(Coalescer, WritesShrinkByTheBytesThatTheyCoverHoweverLanesAndAddressesLie) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    Request write = k20;
    write.kind = Kind::kWrite;
    write.bytes = 1u << random() % 3;
    // Neighbours, or lanes with gaps; in a few bytes or in several segments; aligned, or a byte off.
    write.lanes = (random() % 2 == 0 ? kWarp : random() & kWarp) & kWarp << random() % 32;
    if (write.lanes == 0) continue;
    const uint64_t spread = uint64_t{8} << random() % 7;
    const uint64_t off = write.bytes > 1 && random() % 4 == 0 ? 1 : 0;
    std::vector<uint64_t> addresses(32);
    const uint64_t start = 0x1000 + random() % 512;
    for (uint64_t& address : addresses) {
      address = (start + random() % spread) / write.bytes * write.bytes + off;
    }
    EXPECT_EQ(Sizes(write, [&](uint64_t lane) { return addresses[lane]; }),
              SimpleWrites(write.bytes, write.lanes, addresses))
        << "round " << round;
  }
}

TEST(Coalescer, WithoutAFirstLevelCacheCompute20ReadsSectors) {
  Request direct = k20;
  direct.line_bytes = 0;
  EXPECT_THAT(Sizes(direct, [](uint64_t lane) { return 0x1000 + 4 * lane; }),
              ElementsAre("0x1000/32", "0x1020/32", "0x1040/32", "0x1060/32"));
}

TEST(Coalescer, NoTransactionIsLargerThanALine) {
  Request small = k13;
  small.largest = 64;
  EXPECT_THAT(Sizes(small, [](uint64_t lane) { return 0x1000 + 8 * lane; }),
              ElementsAre("0x1000/64", "0x1040/64", "0x1080/64", "0x10c0/64"));
}

TEST(Coalescer, LanesOfATransaction) {
  const TransactionList list = Coalesce(k20, [](uint64_t lane) { return 0x1000 + 128 * (lane % 2); });
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list[0].lanes, 0x55555555);
  EXPECT_EQ(list[1].lanes, 0xaaaaaaaa);
}

TEST(Coalescer, OrderIsByAddressWhateverTheOrderOfLanes) {
  EXPECT_THAT(Sizes({.lanes = 0xf}, [](uint64_t lane) { return 0x1000 + 128 * ((lane * 3) % 4); }),
              ElementsAre("0x1000/128", "0x1080/128", "0x1100/128", "0x1180/128"));
}

TEST(Coalescer, AtomicsTakeAPassPerLaneOnAnAddress) {
  Request atomic = k20;
  atomic.kind = Kind::kAtomic;
  TransactionList list = Coalesce(atomic, [](uint64_t) { return 0x1000; });
  ASSERT_EQ(list.size(), 1);
  EXPECT_EQ(list[0].passes, 32);
  list = Coalesce(atomic, [](uint64_t lane) { return 0x1000 + 4 * lane; });
  EXPECT_EQ(list[0].passes, 1);
  list = Coalesce(atomic, [](uint64_t lane) { return 0x1000 + (lane < 5 ? 0 : 4 * lane); });
  EXPECT_EQ(list[0].passes, 5);
}

TEST(Coalescer, OffKeepsLanesApartButForALine) {
  Request off = {.mode = Hierarchy::COALESCING_OFF, .line_bytes = 64};
  EXPECT_THAT(Sizes(off, [](uint64_t lane) { return 0x1000 + 4 * lane; }), ElementsAre("0x1000/64", "0x1040/64"));
  off.line_bytes = 0;
  const TransactionList list = Coalesce(off, [](uint64_t) { return 0x1004; });
  ASSERT_EQ(list.size(), 32);
  EXPECT_EQ(list[31].address, 0x1004);
  EXPECT_EQ(list[31].bytes, 4);
  EXPECT_EQ(list[31].lanes, LaneMask{1} << 31);
}

}  // namespace
}  // namespace heddle::replay
