#include "traces/format/read/address_check.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "traces/format/program/instruction_place.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {

void AddressRanges::Add(uint64_t base, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t last = base + (bytes - 1);
  ranges_.push_back({base, last < base ? ~uint64_t{0} : last});
}

void AddressRanges::Sort() {
  std::sort(ranges_.begin(), ranges_.end());
  size_t kept = 0;
  for (const auto& range : ranges_) {
    if (kept > 0 && range.first <= ranges_[kept - 1].second) {
      ranges_[kept - 1].second = std::max(ranges_[kept - 1].second, range.second);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

bool AddressRanges::Holds(uint64_t address, uint64_t bytes) const {
  const uint64_t last = address + (bytes - 1);
  if (last < address) return false;
  auto it = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(address, ~uint64_t{0}));
  return it != ranges_.begin() && last <= std::prev(it)->second;
}

AddressCheck::AddressCheck(const TraceReader& reader, const LaunchView& launch, Findings& findings)
    : reader_(reader),
      program_(*launch.program),
      findings_(findings),
      shared_(reader.header()),
      cluster_blocks_(Clusters(launch.launch).blocks()) {
  for (const v1::AddressWindow& window : reader.header().window()) {
    windows_[static_cast<size_t>(window.space())].Add(window.base(), window.bytes());
    all_windows_.Add(window.base(), window.bytes());
  }
  for (AddressRanges& window : windows_) window.Sort();
  all_windows_.Sort();
  for (const v1::Allocation& allocation : launch.launch.allocation()) {
    allocations_.Add(allocation.base(), allocation.bytes());
  }
  allocations_.Sort();
  const std::vector<Column> columns = ColumnsOf(program_);
  for (const Column& column : columns) {
    Access& access = accesses_.emplace_back();
    access.bytes = column.bytes;
    if (column.bytes > 0) access.alignment = static_cast<uint8_t>(column.bytes & (~column.bytes + 1));
    access.space = column.space;
    access.is_address = column.kind == v1::Operand::ADDRESS;
    access.instruction = column.instruction;
    access.slot = column.slot;
    // What a copy's source lacks is written as zeros, and not read.
    const v1::Instruction& instruction = program_.instruction(column.instruction);
    if (instruction.async().role() != v1::Async::COPY || column.operand != 0) continue;
    const size_t at = accesses_.size() - 1;
    for (size_t c = at + 1; c < columns.size() && columns[c].instruction == column.instruction; ++c) {
      if (columns[c].kind == v1::Operand::BYTES) access.size_ahead = static_cast<uint32_t>(c - at);
    }
    for (const v1::Operand& operand : instruction.operand()) {
      if (operand.kind() != v1::Operand::BYTES || !operand.constant()) continue;
      access.bytes = static_cast<uint32_t>(std::min<uint64_t>(access.bytes, operand.value()));
      access.is_address = access.bytes != 0;
    }
  }
}

void AddressCheck::Check(std::span<const uint32_t> columns, const ThreadPlace& place, size_t thread) {
  uint64_t position = place.chunk.first_address[thread];
  for (const uint32_t column : columns) {
    const Access& access = accesses_[column];
    const uint64_t address = place.chunk.address(position++, access.slot);
    if (!access.is_address) continue;
    if (access.size_ahead == 0) {
      CheckAccess(access, address, place, thread);
      continue;
    }
    Access shorter = access;
    const uint64_t bytes =
        place.chunk.address(position - 1 + access.size_ahead, accesses_[column + access.size_ahead].slot);
    shorter.bytes = static_cast<uint32_t>(std::min<uint64_t>(access.bytes, bytes));
    if (shorter.bytes != 0) CheckAccess(shorter, address, place, thread);
  }
}

void AddressCheck::CheckAccess(const Access& access, uint64_t address, const ThreadPlace& thread_place, size_t thread) {
  constexpr auto kWarning = Finding::Severity::kWarning;
  const uint64_t bytes = access.bytes;
  const auto place = [&] {
    return absl::StrCat(thread_place.Of(thread), ", ",
                        InstructionPlace(reader_.header(), program_, access.instruction));
  };
  const auto what = [&](absl::string_view rule) {
    return absl::StrCat(bytes, " bytes at address 0x", absl::Hex(address), " ", rule);
  };
  if (address & (access.alignment - 1u)) {
    findings_.Add(kWarning, "alignment", place, [&] { return what("are not aligned to their size"); });
  }
  const auto is_beyond = [&] {
    const std::optional<SharedPlace> shared = shared_.Find(address, /*own_rank=*/0);
    if (!shared.has_value() || shared->rank < cluster_blocks_) return false;
    findings_.Add(kWarning, "cluster", place, [&] {
      return what(
          absl::StrCat("lie in the shared memory of block ", shared->rank, " of a cluster of ", cluster_blocks_));
    });
    return true;
  };
  switch (access.space) {
    case v1::SPACE_CLUSTER_SHARED: {
      // The block's own window is a part of its cluster's.
      const AddressRanges& own = windows_[static_cast<size_t>(v1::SPACE_SHARED)];
      const AddressRanges& all = windows_[static_cast<size_t>(v1::SPACE_CLUSTER_SHARED)];
      if (is_beyond() || own.Holds(address, bytes) || all.Holds(address, bytes)) return;
      findings_.Add(kWarning, "window", place, [&] { return what("lie outside the window of their memory space"); });
      return;
    }
    case v1::SPACE_SHARED:
    case v1::SPACE_LOCAL:
    case v1::SPACE_CONSTANT:
    case v1::SPACE_PARAM: {
      const AddressRanges& window = windows_[static_cast<size_t>(access.space)];
      if (!window.empty() && !window.Holds(address, bytes)) {
        findings_.Add(kWarning, "window", place, [&] { return what("lie outside the window of their memory space"); });
      }
      return;
    }
    case v1::SPACE_GENERIC:
      if (is_beyond() || all_windows_.Holds(address, bytes)) return;
      break;
    default:
      break;
  }
  if (!allocations_.empty() && !allocations_.Holds(address, bytes)) {
    findings_.Add(kWarning, "allocation", place, [&] { return what("lie outside all allocations of the launch"); });
  }
}

}  // namespace heddle::trace
