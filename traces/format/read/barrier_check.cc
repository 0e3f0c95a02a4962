#include "traces/format/read/barrier_check.h"

#include "absl/strings/str_cat.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {

BarrierCheck::BarrierCheck(const Program& program, Findings& findings) : findings_(findings) {
  has_barrier_.assign(program.blocks().size(), false);
  for (uint32_t b = 0; b < program.blocks().size(); ++b) {
    const Block& block = program.block(b);
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const v1::Instruction& instruction = program.instruction(pc);
      if (instruction.op() != v1::OP_BARRIER || instruction.barrier_threads() != 0) continue;
      // Who meets there is told by registers, or who waits elsewhere.
      if (instruction.operand_size() != 0 || IsUnusualBarrier(instruction)) continue;
      barriers_of_block_.push_back({b, instruction.barrier_id()});
      has_barrier_[b] = true;
    }
  }
}

void BarrierCheck::StartChunk(const DecodedChunk& chunk) {
  of_path_.assign(chunk.paths.size(), Counts{});
  if (chunk.part != 0) return;
  of_cut_thread_.clear();
  if (!chunk.last_part) of_cut_thread_.assign(chunk.path_of_thread.size(), Counts{});
}

void BarrierCheck::EndChunk(const ThreadPlace& place) {
  const DecodedChunk& chunk = place.chunk;
  if (barriers_of_block_.empty()) return;
  const bool cut = chunk.part > 0 || !chunk.last_part;
  if (cut && of_cut_thread_.empty()) return;
  const auto counts_of = [&](size_t t) -> const Counts& {
    return cut ? of_cut_thread_[t] : of_path_[chunk.path_of_thread[t]];
  };
  if (cut) {
    for (size_t t = 0; t < of_cut_thread_.size(); ++t) {
      const Counts& more = of_path_[chunk.path_of_thread[t]];
      for (uint32_t id = 0; id < kBarriers; ++id) of_cut_thread_[t][id] += more[id];
    }
    if (!chunk.last_part) return;
  }
  for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
    const size_t first = t / chunk.threads_per_block * chunk.threads_per_block;
    const Counts& one = counts_of(first);
    const Counts& other = counts_of(t);
    if (one == other) continue;
    findings_.Add(
        Finding::Severity::kWarning, "barrier-counts", [&] { return place.Of(t); },
        [&]() -> std::string {
          uint32_t id = 0;
          while (one[id] == other[id]) ++id;
          return absl::StrCat("runs barrier ", id, " ", other[id], " times, thread 0 of its block ", one[id], " times");
        });
  }
}

}  // namespace heddle::trace
