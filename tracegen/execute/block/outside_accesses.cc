#include "tracegen/execute/block/outside_accesses.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

void OutsideAccesses::BeginLaunch(const InstrumentedKernel& kernel, const Geometry& geometry) {
  kernel_ = &kernel;
  bounds_.SetShared(geometry.dynamic_shared_bytes == 0 ? kernel.static_shared_bytes : SharedBytes(kernel, geometry));
  warned_ = warned_of_.contains(kernel.name);
}

void OutsideAccesses::Warn(RecordLog& log, std::span<const uint64_t> consumed) {
  log.Join();
  const std::span<const trace::ThreadRecord> records = log.records();
  for (uint32_t t = 0; t < records.size(); ++t) {
    const std::span<const uint64_t> addresses = records[t].addresses;
    const bool all = consumed.empty() || records[t].exited;
    const size_t position = bounds_.FindOutside(all ? addresses : addresses.first(consumed[t]));
    if (position == BoundsCheck::kNone) continue;
    warned_ = true;
    warned_of_.insert(kernel_->name);
    const uint64_t address = addresses[position];
    // Of a block that was cut in time it is not known here where the walk to the access starts.
    const std::string place = consumed.empty() ? PlaceOf(records[t], position) : "";
    warnings_.Add(
        absl::StrCat(places_.Thread(t), ": access to address 0x", absl::Hex(address), place, ", ",
                     describe_ && !BoundsCheck::IsShared(address) ? describe_(address) : bounds_.Describe(address),
                     "; further ones of this kernel are not told"));
    return;
  }
}

std::string OutsideAccesses::PlaceOf(const trace::ThreadRecord& record, size_t position) const {
  absl::StatusOr<trace::Program> program = trace::Program::Create(*program_);
  if (!program.ok()) return "";
  trace::ByteDecisions decisions(record.decisions.data(), record.decisions.size());
  trace::WalkState state;
  uint64_t instructions = 0;
  size_t seen = 0;
  std::optional<trace::Pc> pc;
  trace::Walk(*program, trace::Extent::kRunsToExit, decisions, state, ~uint64_t{0}, instructions,
              [&](uint32_t, const trace::Block& block) {
                if (position >= seen && position < seen + block.access_count) {
                  pc = program->accesses_of(block)[position - seen];
                }
                seen += block.access_count;
              });
  for (const RecordedBlock& block : kernel_->blocks) {
    for (size_t i = 0; i < block.access_instructions.size(); ++i) {
      if (block.access_instructions[i] == pc) return absl::StrCat(" at ", block.access_sites[i].ToString());
    }
  }
  return "";
}

}  // namespace heddle::tracegen
