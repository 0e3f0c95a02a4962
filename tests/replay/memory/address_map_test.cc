// Where addresses go: masks, texts, numbers of controllers that are not powers of two, slices; and what is refused.
#include "replay/memory/address_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/random/random.h"

namespace heddle::replay {
namespace {

using ::testing::HasSubstr;

constexpr char kGtx480[] = "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS";

machine::v1::Dram Dram(uint32_t controllers, uint32_t banks) {
  machine::v1::Dram dram;
  dram.set_controllers(controllers);
  dram.set_banks(banks);
  return dram;
}

// The masks that Fung's thesis prints in section 5.1.3.
machine::v1::AddressMap FungMasks() {
  machine::v1::AddressMap map;
  map.set_chip_mask(0x00001A00);
  map.set_row_mask(0x0FFF0000);
  map.set_column_mask(0x0000E0FF);
  map.set_bank_mask(0x00000500);
  return map;
}

machine::v1::AddressMap Text(const std::string& text, uint32_t slice_bit = 0) {
  machine::v1::AddressMap map;
  map.set_text(text);
  map.set_slice_bit(slice_bit);
  return map;
}

machine::v1::AddressMap Hashed(machine::v1::AddressMap map) {
  map.set_hashed_partitions(true);
  map.set_hashed_banks(true);
  return map;
}

AddressMap MustMake(const machine::v1::AddressMap& map, uint32_t controllers, uint32_t banks, uint32_t slices = 1) {
  absl::StatusOr<AddressMap> made = AddressMap::Make(map, Dram(controllers, banks), slices);
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

void ExpectAt(const AddressMap& map, uint64_t address, uint32_t controller, uint32_t row, uint32_t column,
              uint32_t bank) {
  const DramLocation at = map.Locate(address);
  EXPECT_EQ(std::tie(at.controller, at.row, at.column, at.bank), std::tie(controller, row, column, bank))
      << std::hex << "address " << address;
  EXPECT_EQ(map.ControllerOf(address), controller);
}

TEST(AddressMap, MasksPackTheSelectedBitsFromLowToHigh) {
  const AddressMap map = MustMake(FungMasks(), 8, 4);
  ExpectAt(map, 0x100, 0, 0, 0, 1);
  ExpectAt(map, 0x200, 1, 0, 0, 0);
  ExpectAt(map, 0x400, 0, 0, 0, 2);
  ExpectAt(map, 0x800, 2, 0, 0, 0);
  ExpectAt(map, 0x1000, 4, 0, 0, 0);
  ExpectAt(map, 0x2000, 0, 0, 0x100, 0);
  ExpectAt(map, 0x4000, 0, 0, 0x200, 0);
  ExpectAt(map, 0x8000, 0, 0, 0x400, 0);
  ExpectAt(map, 0x0ABC5DE3, 6, 0xABC, 0x2E3, 3);
  ExpectAt(map, 0x0FFFFFFF, 7, 0xFFF, 0x7FF, 3);
}

TEST(AddressMap, BitsInNoMaskAreIgnored) {
  const AddressMap map = MustMake(FungMasks(), 8, 4);
  ExpectAt(map, 0xF0000000'0ABC5DE3, 6, 0xABC, 0x2E3, 3);
}

// GTX480: blocks of 256 bytes go round six controllers; what is left of the address closes up.
TEST(AddressMap, TheControllerMayBeARemainder) {
  const AddressMap map = MustMake(Text(kGtx480), 6, 16);
  ExpectAt(map, 0, 0, 0, 0, 0);
  ExpectAt(map, 255, 0, 0, 3, 0);
  ExpectAt(map, 256, 1, 0, 0, 0);
  ExpectAt(map, 5 * 256, 5, 0, 0, 0);
  ExpectAt(map, 6 * 256, 0, 0, 0, 1);     // local 0x100: the lowest bank bit
  ExpectAt(map, 12 * 256, 0, 0, 4, 0);    // local 0x200: the third column bit
  ExpectAt(map, 0x2000 * 6, 0, 0, 0, 2);  // local 0x2000: the second bank bit
  ExpectAt(map, uint64_t{0x1230000} * 6 + 3 * 256, 3, 0x123, 0, 0);
}

// With a power of two the remainder is the bits from 8 up, as if the text had D there.
TEST(AddressMap, RemainderAndBitsAgreeForPowersOfTwo) {
  const AddressMap remainder = MustMake(Text(kGtx480), 8, 16);
  const AddressMap bits =
      MustMake(Text("00000000.00000000.00000000.00000000.0RRRRRRR.RRRRRBBB.CCCCBDDD.CCSSSSSS"), 8, 16);
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t address = random.Below(uint64_t{1} << 31);
    const DramLocation a = remainder.Locate(address), b = bits.Locate(address);
    ASSERT_EQ(std::tie(a.controller, a.bank, a.row, a.column), std::tie(b.controller, b.bank, b.row, b.column))
        << address;
    ASSERT_EQ(remainder.WithinSlice(address), bits.WithinSlice(address));
  }
}

TEST(AddressMap, TextsMayUseOtherSeparatorsAndSmallLetters) {
  const AddressMap dots = MustMake(Text(kGtx480), 6, 16);
  const AddressMap bars =
      MustMake(Text("dramid@8;00000000|00000000|00000000|00000000|0000rrrr|rrrrrrrr|bbbccccb| ccssssss"), 6, 16);
  EXPECT_EQ(dots.Locate(0xabcdef12).row, bars.Locate(0xabcdef12).row);
  EXPECT_EQ(dots.Locate(0xabcdef12).bank, bars.Locate(0xabcdef12).bank);
}

// Blocks of 2^slice_bit bytes of a controller's own addresses alternate between its slices.
TEST(AddressMap, SlicesAlternateWithinAController) {
  const AddressMap map = MustMake(Text(kGtx480, 7), 6, 16, 2);
  EXPECT_EQ(map.slices(), 12u);
  EXPECT_EQ(map.SliceOf(0), 0u);
  EXPECT_EQ(map.SliceOf(127), 0u);
  EXPECT_EQ(map.SliceOf(128), 1u);
  EXPECT_EQ(map.SliceOf(256), 2u);
  EXPECT_EQ(map.SliceOf(5 * 256 + 128), 11u);
  EXPECT_EQ(map.SliceOf(6 * 256), 0u);
  EXPECT_EQ(map.WithinSlice(0), 0u);
  EXPECT_EQ(map.WithinSlice(128 + 5), 5u);
  EXPECT_EQ(map.WithinSlice(6 * 256), 128u);
  EXPECT_EQ(map.WithinSlice(6 * 256 + 128 + 1), 129u);
  EXPECT_EQ(map.block_bytes(), 128u);
}

// The slice bit is one of the controller's own addresses: it is never a bit that also chooses the controller.
TEST(AddressMap, ASliceBitAboveTheControllersBitsStillUsesAllSlices) {
  const AddressMap map = MustMake(Text(kGtx480, 8), 8, 16, 2);
  std::set<uint32_t> used;
  for (uint64_t address = 0; address < 1 << 16; address += 128) used.insert(map.SliceOf(address));
  EXPECT_EQ(used.size(), 16u);
}

TEST(AddressMap, BlocksThatStayTogetherAreKnown) {
  EXPECT_EQ(MustMake(FungMasks(), 8, 4).block_bytes(), 256u);  // bank bit 8
  EXPECT_EQ(MustMake(Text(kGtx480), 6, 16).block_bytes(), 256u);
  EXPECT_EQ(MustMake(Text(kGtx480, 6), 6, 16, 2).block_bytes(), 64u);
}

TEST(AddressMap, OneControllerNeedsNoField) {
  const AddressMap map =
      MustMake(Text("00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"), 1, 16);
  ExpectAt(map, 0x12300, 0, 1, 4, 1 + 2);
}

// Every address of a slice has a number of its own, and comes back from it.
TEST(AddressMap, NumbersWithinASliceComeBackAsTheAddress) {
  struct Case {
    machine::v1::AddressMap map;
    uint32_t controllers, banks, slices;
  };
  const Case cases[] = {
      {Text(kGtx480, 7), 6, 16, 2},
      {Text(kGtx480, 8), 8, 16, 4},
      {Text(kGtx480, 9), 7, 16, 3},
      {Hashed(Text(kGtx480, 7)), 6, 16, 2},
      {Hashed(Text(kGtx480, 9)), 7, 16, 3},
      {FungMasks(), 8, 4, 1},
      {Text(kGtx480), 1, 16, 1},
      {Text("00000000.00000000.00000000.00000000.0RRRRRRR.RDRRRDBB.CCCCBDBC.CCSSSSSS", 12), 8, 16, 2}};
  Random random(2);
  for (const Case& c : cases) {
    const AddressMap map = MustMake(c.map, c.controllers, c.banks, c.slices);
    for (int i = 0; i < 20'000; ++i) {
      const uint64_t address = random.Next() >> random.In(1, 60);
      const uint32_t slice = map.SliceOf(address);
      ASSERT_LT(slice, map.slices());
      ASSERT_EQ(slice / c.slices, map.ControllerOf(address));
      ASSERT_EQ(map.AddressOf(slice, map.WithinSlice(address)), address) << std::hex << address;
    }
  }
}

// Two addresses within the bits that the map uses differ in at least one field.
TEST(AddressMap, NoTwoAddressesShareAPlace) {
  struct Case {
    machine::v1::AddressMap map;
    uint32_t controllers, banks;
    uint64_t unit;  // bytes below are the burst's
  };
  const Case cases[] = {{FungMasks(), 8, 4, 1},
                        {Text(kGtx480), 6, 16, 64},
                        {Text(kGtx480), 5, 16, 64},
                        {Hashed(Text(kGtx480)), 5, 16, 64}};
  for (const Case& c : cases) {
    const AddressMap map = MustMake(c.map, c.controllers, c.banks);
    std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> places;
    constexpr uint64_t kAddresses = 1 << 17;
    for (uint64_t i = 0; i < kAddresses; ++i) {
      const DramLocation at = map.Locate(i * c.unit);
      ASSERT_LT(at.bank, c.banks);
      ASSERT_LT(at.controller, c.controllers);
      places.insert({at.controller, at.bank, at.row, at.column});
    }
    EXPECT_EQ(places.size(), kAddresses);
  }
}

TEST(AddressMap, HashedTurnsGoToEveryPartitionOnce) {
  const AddressMap map = MustMake(Hashed(Text(kGtx480, 7)), 6, 16, 2);
  std::set<uint32_t> beginnings;
  for (uint64_t turn = 0; turn < 100; ++turn) {
    std::set<uint32_t> controllers;
    for (uint64_t block = 0; block < 6; ++block) {
      const uint64_t address = (turn * 6 + block) * 256;
      controllers.insert(map.ControllerOf(address));
      EXPECT_NE(map.SliceOf(address), map.SliceOf(address + 128));
      EXPECT_EQ(map.SliceOf(address) / 2, map.SliceOf(address + 128) / 2);
    }
    EXPECT_EQ(controllers.size(), 6u);
    beginnings.insert(map.ControllerOf(turn * 6 * 256));
  }
  EXPECT_EQ(beginnings.size(), 6u);
}

// Without hashing a stride of eight turns of 80 controllers comes to one of them only.
TEST(AddressMap, HashedPartitionsShareStrides) {
  constexpr uint32_t kControllers = 80;
  constexpr uint64_t kAccesses = 80 * 64;
  for (const uint64_t stride : {uint64_t{128}, uint64_t{4096}, uint64_t{65536}, uint64_t{80 * 8 * 256}}) {
    const AddressMap map = MustMake(Hashed(Text(kGtx480)), kControllers, 16);
    std::vector<uint64_t> accesses(kControllers);
    for (uint64_t i = 0; i < kAccesses; ++i) ++accesses[map.ControllerOf(i * stride)];
    EXPECT_LT(*std::ranges::max_element(accesses), 2 * kAccesses / kControllers) << stride;
  }
  const AddressMap plain = MustMake(Text(kGtx480), kControllers, 16);
  for (uint64_t i = 0; i < kAccesses; ++i) ASSERT_EQ(plain.ControllerOf(i * 80 * 8 * 256), 0u);
}

// Rows of one column of the memory are in different banks: the lowest bits of the row are XORed into the bank.
TEST(AddressMap, HashedBanksFollowTheRow) {
  const AddressMap plain = MustMake(Text(kGtx480), 6, 16), hashed = MustMake(Hashed(Text(kGtx480)), 6, 16);
  Random random(10);
  for (int i = 0; i < 1'000; ++i) {
    const uint64_t address = random.Next() >> random.In(20, 50);
    const DramLocation before = plain.Locate(address), after = hashed.Locate(address);
    EXPECT_EQ(after.row, before.row);
    EXPECT_EQ(after.column, before.column);
    EXPECT_EQ(after.bank, before.bank ^ before.row % 16);
  }
}

TEST(AddressMap, RefusesHashedPartitionsWithoutTurns) {
  const absl::Status masks = AddressMap::Make(Hashed(FungMasks()), Dram(8, 4), 1).status();
  EXPECT_THAT(masks.message(), HasSubstr("address_map.hashed_partitions: needs a text that begins with dramid@n"));
}

// A block of block_bytes is in one place; the next size up is not.
TEST(AddressMap, BlocksDoNotStraddle) {
  const AddressMap map = MustMake(Text(kGtx480, 7), 6, 16, 2);
  const auto place = [&](uint64_t address) {
    const DramLocation at = map.Locate(address);
    return std::tuple(map.SliceOf(address), at.bank, at.row);
  };
  Random random(3);
  bool larger_straddle = false;
  for (int i = 0; i < 1'000; ++i) {
    const uint64_t block = random.Below(1 << 28) * map.block_bytes();
    ASSERT_EQ(place(block), place(block + map.block_bytes() - 1));
    larger_straddle |= place(block) != place(block ^ map.block_bytes());
  }
  EXPECT_TRUE(larger_straddle);
}

// A map read letter by letter: the fields, from the lowest bit up.
DramLocation LocateSlowly(const std::string& letters, uint64_t local) {
  DramLocation at;
  uint32_t* const fields[] = {&at.row, &at.bank, &at.column, &at.controller};
  uint32_t filled[4] = {};
  for (int bit = 0; bit < 64; ++bit) {
    const size_t field = std::string("RBCD").find(letters[63 - bit]);
    if (field == std::string::npos) continue;
    *fields[field] |= static_cast<uint32_t>(local >> bit & 1) << filled[field]++;
  }
  return at;
}

// Random texts with and without a remainder, and the masks that say the same, against that reading.
TEST(AddressMap, RandomMapsAgreeWithAReadingBitByBit) {
  Random random(6);
  for (int i = 0; i < 2'000; ++i) {
    std::string letters(64, '0');
    uint32_t bank_bits = 0, chip_bits = 0;
    const bool remainder = random.Chance(50);
    machine::v1::AddressMap masks;
    for (int bit = 0; bit < 40; ++bit) {
      const char letter = random.OneOf({'R', 'R', 'R', 'B', 'C', 'C', 'D', '0'});
      if ((letter == 'B' && bank_bits == 4) || (letter == 'D' && (remainder || chip_bits == 3))) continue;
      letters[63 - bit] = letter;
      bank_bits += letter == 'B';
      chip_bits += letter == 'D';
      const uint64_t mask = uint64_t{1} << bit;
      if (letter == 'R') masks.set_row_mask(masks.row_mask() | mask);
      if (letter == 'B') masks.set_bank_mask(masks.bank_mask() | mask);
      if (letter == 'C') masks.set_column_mask(masks.column_mask() | mask);
      if (letter == 'D') masks.set_chip_mask(masks.chip_mask() | mask);
    }
    const uint32_t shift = random.In(0, 20);
    const uint32_t controllers = remainder ? random.In(1, 12) : 1u << chip_bits;
    const std::string prefix = remainder ? "dramid@" + std::to_string(shift) + ";" : "";
    const AddressMap map = MustMake(Text(prefix + letters), controllers, 1u << bank_bits);
    for (int k = 0; k < 20; ++k) {
      const uint64_t address = random.Next() >> random.In(0, 50);
      const uint64_t high = address >> shift, low = address & ((uint64_t{1} << shift) - 1);
      DramLocation slow = LocateSlowly(letters, remainder ? high / controllers << shift | low : address);
      if (remainder) slow.controller = static_cast<uint32_t>(high % controllers);
      ExpectAt(map, address, slow.controller, slow.row, slow.column, slow.bank);
      if (remainder) continue;
      ExpectAt(MustMake(masks, controllers, 1u << bank_bits), address, slow.controller, slow.row, slow.column,
               slow.bank);
    }
    ASSERT_FALSE(HasFailure()) << prefix << letters;
  }
}

TEST(BitField, SpreadUndoesPack) {
  Random random(4);
  for (int i = 0; i < 1'000; ++i) {
    const uint64_t mask = random.Next() & random.Next();
    const BitField field(mask);
    const uint64_t address = random.Next();
    EXPECT_EQ(field.bits(), static_cast<uint32_t>(std::popcount(mask)));
    EXPECT_EQ(field.Spread(field.Pack(address)), address & mask);
    uint64_t packed = 0;
    for (int bit = 63; bit >= 0; --bit) {
      if (mask >> bit & 1) packed = packed << 1 | (address >> bit & 1);
    }
    EXPECT_EQ(field.Pack(address), packed);
  }
  EXPECT_EQ(BitField(~uint64_t{0}).Pack(~uint64_t{5}), ~uint64_t{5});
  EXPECT_EQ(BitField(0xAAAAAAAAAAAAAAAA).Pack(~uint64_t{0}), 0xFFFFFFFFu);
}

std::string Refusal(const machine::v1::AddressMap& map, uint32_t controllers, uint32_t banks, uint32_t slices = 1) {
  const absl::StatusOr<AddressMap> made = AddressMap::Make(map, Dram(controllers, banks), slices);
  EXPECT_FALSE(made.ok());
  return std::string(made.status().message());
}

TEST(AddressMap, RefusesMasksThatShareBits) {
  machine::v1::AddressMap map = FungMasks();
  map.set_bank_mask(0x00000700);
  const std::string refusal = Refusal(map, 8, 8);
  EXPECT_THAT(refusal, HasSubstr("address_map.bank_mask: shares the bits 0x200 with chip_mask"));
}

TEST(AddressMap, RefusesFieldsThatDoNotFitTheMachine) {
  EXPECT_THAT(Refusal(FungMasks(), 6, 4), HasSubstr("chip_mask: selects 3 bits, but there are 6 controllers"));
  EXPECT_THAT(Refusal(FungMasks(), 8, 8), HasSubstr("bank_mask: selects 2 bits for the bank, but dram.banks is 8"));
  EXPECT_THAT(Refusal(Text(kGtx480), 6, 8), HasSubstr("text: selects 4 bits for the bank, but dram.banks is 8"));
  EXPECT_THAT(Refusal(FungMasks(), 0, 4), HasSubstr("dram.controllers"));
  EXPECT_THAT(Refusal(Text(kGtx480), 6, 16, 2), HasSubstr("slice_bit: is missing"));
  EXPECT_THAT(Refusal(Text(kGtx480, 50), 6, 16, 2), HasSubstr("slice_bit: is 50"));
}

TEST(AddressMap, RefusesTextsThatAreNoMaps) {
  EXPECT_THAT(Refusal({}, 6, 16), HasSubstr("text: is missing"));
  machine::v1::AddressMap both = FungMasks();
  both.set_text(kGtx480);
  EXPECT_THAT(Refusal(both, 8, 4), HasSubstr("not both"));
  EXPECT_THAT(Refusal(Text("dramid@8;RRRRBBBB"), 6, 16), HasSubstr("has 8 bits, must have 64"));
  EXPECT_THAT(Refusal(Text(std::string(kGtx480) + "S"), 6, 16), HasSubstr("has 65 bits, must have 64"));
  EXPECT_THAT(Refusal(Text("dramid@8:00000000"), 6, 16), HasSubstr("dramid@ is followed by"));
  EXPECT_THAT(Refusal(Text("dramid@;00000000"), 6, 16), HasSubstr("dramid@ is followed by"));
  EXPECT_THAT(Refusal(Text("dramid@x8;00000000"), 6, 16), HasSubstr("dramid@ is followed by"));
  EXPECT_THAT(Refusal(Text("dramid@99;00000000"), 6, 16), HasSubstr("dramid@ is followed by"));
  std::string wrong = kGtx480;
  wrong.back() = 'X';
  EXPECT_THAT(Refusal(Text(wrong), 6, 16), HasSubstr("'X' is no field"));
  std::string two_ways = kGtx480;
  two_ways[9] = 'D';
  EXPECT_THAT(Refusal(Text(two_ways), 6, 16), HasSubstr("both dramid@ and D bits"));
  EXPECT_THAT(Refusal(Text("00000000.00000000.00000000.00000000.0RRRRRRR.RRRRRBBB.CCCCBDDD.CCSSSSSS"), 6, 16),
              HasSubstr("has 3 D bits, but there are 6 controllers"));
  EXPECT_THAT(Refusal(Text("dramid@8;00000000.00000000.00000000.00000000.00000000.00000000.BBBCCCCB.CCSSSSSS"), 6, 16),
              HasSubstr("no bits for the row"));
}

}  // namespace
}  // namespace heddle::replay
