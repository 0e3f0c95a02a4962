#include "replay/memory/address_map.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

absl::Status Refuse(std::string_view field, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrFormat("memory.hierarchy.address_map.%s: %s", field, why));
}

}  // namespace

BitField::BitField(uint64_t mask) : mask_(mask) {
  for (uint64_t rest = mask; rest != 0;) {
    const uint32_t low = std::countr_zero(rest);
    const uint32_t length = std::countr_one(rest >> low);
    const uint64_t ones = length == 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
    run_[runs_++] = {.mask = ones << low, .shift = low - bits_};
    rest &= ~(ones << low);
    bits_ += length;
  }
}

absl::StatusOr<AddressMap> AddressMap::Make(const machine::v1::AddressMap& map, const machine::v1::Dram& dram,
                                            uint32_t slices_per_controller) {
  AddressMap made;
  made.controllers_ = dram.controllers();
  made.slices_ = std::max(slices_per_controller, 1u);
  if (made.controllers_ == 0) {
    return absl::InvalidArgumentError("memory.hierarchy.dram.controllers: there must be at least one.");
  }
  const bool masks = map.chip_mask() != 0 || map.bank_mask() != 0 || map.row_mask() != 0 || map.column_mask() != 0;
  if (masks && !map.text().empty()) return Refuse("text", "give the masks or the text, not both.");
  if (!masks && map.text().empty()) {
    return Refuse("text",
                  "is missing: give a map such as \"dramid@8;\" and 64 of the letters R, B, C, S, 0, or masks.");
  }
  HEDDLE_RETURN_IF_ERROR(masks ? made.SetMasks(map, dram) : made.SetText(map, dram));
  if (map.slice_bit() > 40) {
    return Refuse("slice_bit",
                  absl::StrFormat("is %d; slices alternate in blocks of at most 2^40 bytes.", map.slice_bit()));
  }
  if (made.slices_ > 1) {
    if (map.slice_bit() == 0) {
      return Refuse("slice_bit", "is missing: with several L2 slices per controller it says which blocks alternate.");
    }
    made.slice_bit_ = map.slice_bit();
  }
  made.slice_low_ = (uint64_t{1} << made.slice_bit_) - 1;
  if (map.hashed_partitions() && !made.divides_) {
    return Refuse("hashed_partitions", "needs a text that begins with dramid@n; which goes round the controllers.");
  }
  made.hashed_partitions_ = map.hashed_partitions();
  if (map.hashed_banks()) made.hashed_bank_bits_ = dram.banks() - 1;  // a power of two
  made.FindBlockBytes();
  return made;
}

absl::Status AddressMap::SetMasks(const machine::v1::AddressMap& map, const machine::v1::Dram& dram) {
  const std::pair<const char*, uint64_t> masks[] = {{"chip_mask", map.chip_mask()},
                                                    {"bank_mask", map.bank_mask()},
                                                    {"row_mask", map.row_mask()},
                                                    {"column_mask", map.column_mask()}};
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < i; ++k) {
      if (const uint64_t both = masks[i].second & masks[k].second; both != 0) {
        return Refuse(masks[i].first,
                      absl::StrFormat("shares the bits %#x with %s; a bit of the address belongs to one field.", both,
                                      masks[k].first));
      }
    }
  }
  chip_ = BitField(map.chip_mask());
  rest_ = BitField(~map.chip_mask());
  bank_ = BitField(map.bank_mask());
  row_ = BitField(map.row_mask());
  column_ = BitField(map.column_mask());
  if (chip_.bits() > 31 || uint64_t{1} << chip_.bits() != controllers_) {
    return Refuse("chip_mask",
                  absl::StrFormat("selects %d bits, but there are %d controllers. For numbers that are not powers of "
                                  "two use address_map.text with dramid@n.",
                                  chip_.bits(), controllers_));
  }
  return CheckFields(dram, "bank_mask");
}

absl::Status AddressMap::SetText(const machine::v1::AddressMap& map, const machine::v1::Dram& dram) {
  std::string_view text = map.text();
  by_text_ = true;
  constexpr std::string_view kPrefix = "dramid@";
  if (text.starts_with(kPrefix)) {
    text.remove_prefix(kPrefix.size());
    const size_t end = std::min(text.find(';'), text.size());
    const std::string digits(text.substr(0, end));
    uint32_t bit = 0;
    if (end == text.size() || !absl::SimpleAtoi(digits, &bit) || bit > 40) {
      return Refuse("text",
                    "dramid@ is followed by the lowest bit of the controller's number, 0 to 40, and a semicolon.");
    }
    divides_ = true;
    divide_bit_ = bit;
    text.remove_prefix(end + 1);
  }
  uint64_t chip = 0, bank = 0, row = 0, column = 0;
  int bits = 0;
  for (const char letter : text) {
    if (letter == '.' || letter == '|' || letter == ' ') continue;
    uint64_t unused = 0;
    uint64_t* mask = nullptr;
    switch (letter) {
      case 'D':
      case 'd':
        mask = &chip;
        break;
      case 'R':
      case 'r':
        mask = &row;
        break;
      case 'B':
      case 'b':
        mask = &bank;
        break;
      case 'C':
      case 'c':
        mask = &column;
        break;
      case 'S':  // byte in burst: within a column access
      case 's':
      case '0':
        mask = &unused;
        break;
      default:
        return Refuse("text",
                      absl::StrFormat("'%c' is no field; there are D (controller), R (row), B (bank), C (column), "
                                      "S (byte in burst), 0 (ignored), and the separators . | and space.",
                                      letter));
    }
    if (++bits <= 64) *mask |= uint64_t{1} << (64 - bits);
  }
  if (bits != 64) {
    return Refuse("text", absl::StrFormat("has %d bits, must have 64, from bit 63 down to bit 0.", bits));
  }
  chip_ = BitField(chip);
  rest_ = BitField(~chip);
  // The fields are found in the address within the controller, in which the controller's own bits have closed up.
  bank_ = BitField(rest_.Pack(bank));
  row_ = BitField(rest_.Pack(row));
  column_ = BitField(rest_.Pack(column));
  if (divides_ && chip != 0) return Refuse("text", "has both dramid@ and D bits; one of them says the controller.");
  if (!divides_ && (chip_.bits() > 31 || uint64_t{1} << chip_.bits() != controllers_)) {
    return Refuse("text",
                  absl::StrFormat("has %d D bits, but there are %d controllers; \"dramid@n;\" in front takes the "
                                  "controller from (address >> n) mod controllers.",
                                  chip_.bits(), controllers_));
  }
  return CheckFields(dram, "text");
}

absl::Status AddressMap::CheckFields(const machine::v1::Dram& dram, const char* field) const {
  if (bank_.bits() > 31 || uint64_t{1} << bank_.bits() != dram.banks()) {
    return Refuse(field,
                  absl::StrFormat("selects %d bits for the bank, but dram.banks is %d; it must be 2 to the number of "
                                  "these bits.",
                                  bank_.bits(), dram.banks()));
  }
  if (row_.bits() > 32) return Refuse(field, "more than 32 bits for the row.");
  if (column_.bits() > 32) return Refuse(field, "more than 32 bits for the column.");
  if (row_.bits() == 0) return Refuse(field, "no bits for the row.");
  return absl::OkStatus();
}

// The lowest address bit that decides about controller, slice, bank or row. Bits of the address within the controller
// are the same as the address's below the lowest bit of the controller.
void AddressMap::FindBlockBytes() {
  const uint64_t fields = bank_.mask() | row_.mask();
  int lowest = std::countr_zero(fields);
  if (controllers_ > 1) lowest = std::min<int>(lowest, divides_ ? divide_bit_ : std::countr_zero(chip_.mask()));
  if (slices_ > 1) lowest = std::min<int>(lowest, slice_bit_);
  block_bytes_ = uint64_t{1} << lowest;
}

uint64_t AddressMap::AddressOf(uint32_t slice, uint64_t within) const {
  // The place in a turn that a hash has turned away from.
  const auto place_of = [this](uint32_t turned, uint64_t turn, uint32_t count) {
    return hashed_partitions_ ? (turned + count - Beginning(turn, count)) % count : turned;
  };
  uint32_t controller = slice / slices_;
  const uint64_t turn = within >> slice_bit_;
  const uint64_t local =
      (turn * slices_ + place_of(slice % slices_, turn, slices_)) << slice_bit_ | (within & slice_low_);
  if (!divides_) return chip_.Spread(controller) | rest_.Spread(local);
  controller = place_of(controller, local >> divide_bit_, controllers_);
  const uint64_t low = (uint64_t{1} << divide_bit_) - 1;
  return ((local >> divide_bit_) * controllers_ + controller) << divide_bit_ | (local & low);
}

}  // namespace heddle::replay
