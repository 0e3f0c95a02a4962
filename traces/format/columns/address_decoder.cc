#include "traces/format/columns/address_decoder.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/base/status_macros.h"
#include "traces/format/columns/models/relative_model.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {

absl::Status AddressDecoder::Decode(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                                    DecodedChunk& out) {
  HEDDLE_RETURN_IF_ERROR(reader_.Read(chunk, program, walked, out, columns_));
  out.addresses64.clear();
  out.offsets32.resize(out.accesses);
  bool narrow = walk_.Run(out, out.offsets32.data());
  if (!ZeroedColumnsHold(narrow, columns_)) narrow = walk_.Run(out, out.offsets32.data());
  if (narrow) {
    out.base.assign(SlotCount(program), 0);
    for (uint32_t c = 0; c < columns_.count; ++c) out.base[SlotOf(program, c)] = columns_.cursors[c].base;
    return absl::OkStatus();
  }
  out.offsets32.clear();
  out.base.clear();
  out.addresses64.resize(out.accesses);
  walk_.Run(out, out.addresses64.data());
  return absl::OkStatus();
}

void AddressDecoder::Trim() {
  constexpr size_t kMostKept = 48u << 20;  // bytes
  size_t kept = walk_.plans().large_bytes();
  for (const ColumnStorage& storage : columns_.storage) {
    kept += storage.residuals.capacity() * sizeof(int64_t) + (storage.addends.capacity() + storage.bases.capacity() +
                                                              storage.sums.capacity() + storage.restarts.capacity()) *
                                                                 sizeof(uint64_t);
  }
  if (kept <= kMostKept) return;
  std::vector<ColumnStorage>().swap(columns_.storage);
  walk_.plans().FreeLarge();
}

}  // namespace heddle::trace
