// Residuals of address columns: from numbers to bytes and back (proto/trace.proto, AddressColumn.Layout).
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_RESIDUALS_RESIDUALS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_RESIDUALS_RESIDUALS_H_

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"

namespace heddle::trace {

// How residuals are stored; ZERO follows from the data and is not a choice.
struct LayoutChoice {
  v1::AddressColumn::Layout layout = v1::AddressColumn::PLANES;
  bool sparse = false;
  bool scaled = false;                   // BITS, dense
  std::vector<int64_t> dictionary = {};  // DICTIONARY: residuals
};

// Of layout DICTIONARY: entries that a place of half a byte, or of a byte, can tell, and still say that it is none.
inline constexpr size_t kMostSmallEntries = 15;
inline constexpr size_t kMostEntries = 255;

// The residuals of one thread, which stand together.
struct ThreadResiduals {
  uint32_t count = 0;
  uint32_t scale = 0;  // see ScaleOf
};

// What AddressColumn.scaled adds to the bit lengths of a thread with so many accesses in the chunk.
inline uint32_t ScaleOf(uint64_t accesses) { return static_cast<uint32_t>(std::bit_width(accesses)); }

// What EncodeResiduals stores of residuals that are all 0.
void EncodeZeros(uint64_t count, v1::AddressColumn& column);

// Stores `residuals` in `column`: count, layout, bytes. With `trial` true the cheapest layout is found by compressing a
// sample and put into `choice`; otherwise `choice` is used. `threads` tells the threads of the residuals apart; it may
// be empty, then nothing is scaled. May move a part that all residuals have in common to column.bias.
void EncodeResiduals(std::span<const int64_t> residuals, std::span<const ThreadResiduals> threads, bool trial,
                     LayoutChoice& choice, v1::AddressColumn& column);

// Reads the residuals of a column, of which there must be exactly `count` (derived from the paths, within limits);
// `threads` counts them by thread, and is looked at if the column is scaled. Layout ZERO leaves `out` empty. Refuses,
// before anything is allocated: another count, widths and shifts out of range, bytes that do not fit the count, sparse
// positions behind the end, numbers above 64 bits.
absl::Status DecodeResiduals(const v1::AddressColumn& column, uint64_t count, std::span<const ThreadResiduals> threads,
                             std::vector<int64_t>& out);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_RESIDUALS_RESIDUALS_H_
