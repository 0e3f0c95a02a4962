// Residuals of address columns: from numbers to bytes and back (proto/trace.proto, AddressColumn.Layout).
#ifndef HEDDLE_TRACES_FORMAT_RESIDUALS_H_
#define HEDDLE_TRACES_FORMAT_RESIDUALS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"

namespace heddle::trace {

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1))); }

// How residuals are stored; ZERO follows from the data and is not a choice.
struct LayoutChoice {
  v1::AddressColumn::Layout layout = v1::AddressColumn::PLANES;
  bool sparse = false;
};

// Stores `residuals` in `column`: count, layout, width, shift, bytes. With `trial` true the cheapest layout is found by
// compressing a sample and put into `choice`; otherwise `choice` is used.
void EncodeResiduals(std::span<const int64_t> residuals, bool trial, LayoutChoice& choice, v1::AddressColumn& column);

// Reads the residuals of a column, of which there must be exactly `count` (derived from the paths, within limits).
// Refuses, before anything is allocated: another count, widths and shifts out of range, bytes that do not fit the
// count, sparse positions behind the end, varints above 64 bits.
absl::Status DecodeResiduals(const v1::AddressColumn& column, uint64_t count, std::vector<int64_t>& out);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_RESIDUALS_H_
