// Which memory partition and which place in its DRAM an address belongs to.
#ifndef HEDDLE_REPLAY_MEMORY_ADDRESS_MAP_H_
#define HEDDLE_REPLAY_MEMORY_ADDRESS_MAP_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"

namespace heddle::replay {

// A set of address bits, packed from low to high into a number, and spread back.
class BitField {
 public:
  BitField() = default;
  explicit BitField(uint64_t mask);

  uint64_t Pack(uint64_t address) const {
    uint64_t packed = 0;
    for (uint32_t i = 0; i < runs_; ++i) packed |= (address & run_[i].mask) >> run_[i].shift;
    return packed;
  }
  uint64_t Spread(uint64_t packed) const {
    uint64_t address = 0;
    for (uint32_t i = 0; i < runs_; ++i) address |= packed << run_[i].shift & run_[i].mask;
    return address;
  }
  uint64_t mask() const { return mask_; }
  uint32_t bits() const { return bits_; }

 private:
  struct Run {
    uint64_t mask = 0;   // neighbouring bits of the address
    uint32_t shift = 0;  // from their place to that in the packed number
  };
  std::array<Run, 32> run_;  // a mask of 64 bits has at most 32 runs of ones
  uint64_t mask_ = 0;
  uint32_t runs_ = 0;
  uint32_t bits_ = 0;
};

// Where an address lies.
struct DramLocation {
  uint32_t controller = 0;
  uint32_t bank = 0;
  uint32_t row = 0;
  uint32_t column = 0;
};

// The address map of a machine (docs/reference/timing.md, "Address map"): masks as in Fung's thesis, section 5.1.3, or
// the text of gpgpusim.config.
class AddressMap {
 public:
  // `dram` gives the numbers of controllers and banks; `slices_per_controller` is that of the L2, 0 (no L2) counts
  // as 1. Errors: InvalidArgument, naming the field and what is wrong with it: masks that overlap, a text that is not a
  // map, or fields that do not fit the numbers of controllers and banks.
  static absl::StatusOr<AddressMap> Make(const machine::v1::AddressMap& map, const machine::v1::Dram& dram,
                                         uint32_t slices_per_controller);

  // The memory partition, 0 to controllers - 1.
  uint32_t ControllerOf(uint64_t address) const { return Split(address).controller; }
  // The L2 slice over all controllers: controller x slices per controller + slice within the controller.
  uint32_t SliceOf(uint64_t address) const {
    const Parts parts = Split(address);
    const uint64_t block = parts.local >> slice_bit_;
    uint32_t slice = static_cast<uint32_t>(block % slices_);
    if (hashed_partitions_) slice = Turned(slice, block / slices_, slices_);
    return parts.controller * slices_ + slice;
  }
  DramLocation Locate(uint64_t address) const {
    const Parts parts = Split(address);
    const uint64_t fields = by_text_ ? parts.local : address;
    DramLocation at = {.controller = parts.controller,
                       .bank = static_cast<uint32_t>(bank_.Pack(fields)),
                       .row = static_cast<uint32_t>(row_.Pack(fields)),
                       .column = static_cast<uint32_t>(column_.Pack(fields))};
    at.bank ^= at.row & hashed_bank_bits_;
    return at;
  }

  // The addresses of one slice, numbered without gaps, for the sets of its cache; and back. Two addresses of a slice
  // have different numbers.
  uint64_t WithinSlice(uint64_t address) const {
    const uint64_t local = Split(address).local;
    return (local >> slice_bit_) / slices_ << slice_bit_ | (local & slice_low_);
  }
  uint64_t AddressOf(uint32_t slice, uint64_t within) const;

  // Aligned blocks of this many bytes lie in one slice and in one row of one bank. At least the line of the L2.
  uint64_t block_bytes() const { return block_bytes_; }
  uint32_t controllers() const { return controllers_; }
  uint32_t slices() const { return controllers_ * slices_; }

 private:
  struct Parts {
    uint32_t controller;
    uint64_t local;  // the address within the controller, numbered without gaps
  };

  AddressMap() = default;
  absl::Status SetMasks(const machine::v1::AddressMap& map, const machine::v1::Dram& dram);
  absl::Status SetText(const machine::v1::AddressMap& map, const machine::v1::Dram& dram);
  absl::Status CheckFields(const machine::v1::Dram& dram, const char* field) const;
  void FindBlockBytes();

  Parts Split(uint64_t address) const {
    if (!divides_) return {static_cast<uint32_t>(chip_.Pack(address)), rest_.Pack(address)};
    const uint64_t block = address >> divide_bit_;
    const uint64_t quotient = block / controllers_;
    uint32_t controller = static_cast<uint32_t>(block - quotient * controllers_);
    if (hashed_partitions_) controller = Turned(controller, quotient, controllers_);
    return {controller, quotient << divide_bit_ | (address & ((uint64_t{1} << divide_bit_) - 1))};
  }

  // Where a turn round `count` partitions begins: 0 to count - 1, from the number of the turn by multiplicative hashing
  // (Knuth, The Art of Computer Programming, volume 3, section 6.4).
  static uint32_t Beginning(uint64_t turn, uint32_t count) {
    constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
    return static_cast<uint32_t>((turn * kGolden >> 32) * count >> 32);
  }
  static uint32_t Turned(uint32_t place, uint64_t turn, uint32_t count) {
    const uint32_t turned = place + Beginning(turn, count);
    return turned < count ? turned : turned - count;
  }

  bool by_text_ = false;  // row, bank and column are fields of the address within the controller, else of the address
  bool hashed_partitions_ = false;
  uint32_t hashed_bank_bits_ = 0;  // of the row, which the bank is XORed with
  bool divides_ = false;           // dramid@n: the controller is (address >> n) mod controllers, else the chip field
  uint32_t divide_bit_ = 0;
  uint32_t controllers_ = 1;
  uint32_t slices_ = 1;  // per controller
  uint32_t slice_bit_ = 0;
  uint64_t slice_low_ = 0;
  uint64_t block_bytes_ = 1;
  BitField chip_;
  BitField rest_;  // all bits but the chip's
  BitField bank_;
  BitField row_;
  BitField column_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_ADDRESS_MAP_H_
