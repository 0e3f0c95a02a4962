// The static program of a kernel, as far as its threads were seen to run it.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_OBSERVED_PROGRAM_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_OBSERVED_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "tools/exchange/accelsim/kernel_file.h"
#include "tools/exchange/accelsim/sass.h"

namespace heddle::tools::accelsim {

// Instructions and the hops of threads between them are collected first; Build makes a program of them, and afterwards
// HopOf says which decisions a thread took on a hop.
//
// A hop leads from an instruction whose mask has the thread to the next one whose mask has it. In between the thread
// may have passed instructions whose guard was false for it: masks do not hold such threads, though they are active.
// Behind an instruction that is no jump a thread can only go on at the next PC, so what lies between the two PCs was
// passed.
//   * An instruction without memory access that a thread passed counts as run: it costs the thread nothing else, and a
//     conditional branch becomes a branch that was not taken.
//   * Memory accesses, barriers and exits that a thread passed become a branch around them: the thread has no address,
//     does not wait, does not end. Under reconvergence at post-dominators the issues are those of the guard. Where two
//     of these follow one another a join, an instruction without effect, is put between them: else threads that went
//     around the first and others would meet only behind the second, and issue it twice.
class ObservedProgram {
 public:
  static constexpr uint32_t kStart = ~uint32_t{0};    // in front of the first instruction
  static constexpr uint32_t kEnd = ~uint32_t{0} - 1;  // behind the last one

  // The number of the instruction (in the order of first sight), the same for the same PC. Refuses an instruction that
  // differs from what was seen at its PC before, and opcodes that are not known.
  absl::StatusOr<uint32_t> Observe(const WarpInstruction& instruction);
  void ObserveHop(uint32_t from, uint32_t to) {
    if (from < instructions_.size() && instructions_[from].latest_hop == to) return;
    if (from < instructions_.size()) instructions_[from].latest_hop = to;
    hops_.insert(Key(from, to));
  }

  // The program: instructions that some thread ran in the order of their PCs; basic blocks and their successors from
  // the hops; post-dominators of that flow. Refuses flow that no kernel has: a way back without a jump, a thread that
  // stops without an exit, different first instructions.
  absl::StatusOr<trace::v1::KernelProgram> Build(const KernelHeader& header);

  struct Hop {
    std::vector<uint8_t> decisions;  // that the thread took from one instruction to the other
    uint32_t passed = 0;             // instructions in between that it ran with a false guard
  };
  // Null if the hop was not observed.
  const Hop* HopOf(uint32_t from, uint32_t to) const {
    const auto it = built_.find(Key(from, to));
    return it == built_.end() ? nullptr : &it->second;
  }
  // The number of the instruction at a PC that was observed; kEnd if none was.
  uint32_t NumberOf(uint32_t pc) const {
    const auto it = by_pc_.find(pc);
    return it == by_pc_.end() ? kEnd : it->second;
  }
  bool HasAddress(uint32_t number) const { return instructions_[number].has_address; }
  trace::v1::MemorySpace SpaceOf(uint32_t number) const { return instructions_[number].what.space; }
  bool uses_warp_operations() const { return uses_warp_operations_; }

 private:
  struct Observed {
    uint32_t pc = 0;
    std::string opcode;
    SassClass what;
    std::vector<uint32_t> dst;
    std::vector<uint32_t> src;
    uint32_t access_bytes = 0;
    uint32_t source_line = 0;
    uint32_t place_pc = 0;  // in the program that is built
    int64_t immediate = 0;
    uint32_t target_pc = ~uint32_t{0};
    uint32_t target = kEnd;  // number of the instruction that a branch leads to, if the file says it
    bool has_address = false;
    // A file of ours says that threads may pass it, with so many behind it (KernelHeader.guarded), and whether those in
    // front of it are of the same run; or that it is a branch that they may fall through.
    bool is_guarded = false;
    uint32_t guarded_behind = 0;
    bool goes_on = false;
    bool falls_through = false;
    bool is_join = false;  // ours; stands in front of the instruction of the same PC
    uint32_t latest_hop = kStart;
  };
  static uint64_t Key(uint32_t from, uint32_t to) { return uint64_t{from} << 32 | to; }

  // Whether a thread whose guard is false goes around the instruction instead of running it.
  static bool GoneAround(const Observed& instruction) {
    return instruction.has_address || instruction.what.op == trace::v1::OP_BARRIER || instruction.what.ends ||
           instruction.is_guarded;
  }
  void FindTargets();
  void FindGuarded(const std::vector<KernelHeader::Run>& runs);
  void Sort();
  void AddJoins();
  void PutBack(const std::vector<KernelHeader::Moved>& moved);
  // Successors that branches have, though no thread went there: of files of ours, which name them.
  void AddWaysNotTaken(const std::vector<bool>& run, std::vector<std::vector<uint32_t>>& successors) const;
  // The same of guarded instructions, which all threads ran, or none.
  void AddWaysAround(std::vector<bool>& run, std::vector<std::vector<uint32_t>>& successors) const;
  // Numbers of the instructions in the order of the program, with a place of its own for every PC in between that no
  // thread came by (as far as that is sparing), so that lines of code hold what they held on the GPU.
  std::vector<uint32_t> Places(const std::vector<bool>& run) const;
  // Numbers of the instructions that a hop runs: those passed, then `to` unless it is kEnd.
  absl::StatusOr<std::vector<uint32_t>> Steps(uint32_t from, uint32_t to) const;
  std::string Name(uint32_t number) const;
  trace::v1::Instruction InstructionOf(const Observed& observed) const;

  std::vector<Observed> instructions_;
  absl::flat_hash_map<uint32_t, uint32_t> by_pc_;
  absl::flat_hash_set<uint64_t> hops_;
  bool uses_warp_operations_ = false;
  uint32_t last_pc_ = 0;         // that a branch is known to lead to
  std::vector<uint32_t> order_;  // numbers by ascending PC
  std::vector<uint32_t> rank_;   // by number: position in order_
  absl::flat_hash_map<uint64_t, Hop> built_;
};

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_OBSERVED_PROGRAM_H_
