#include "replay/engine/wait_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/replay_result.h"
#include "replay/seams/divergence_policy.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/clusters.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::replay {
namespace {

using trace::v1::Wait;

bool TakesLock(const trace::Program& program, const Wait& wait) {
  // Machine code writes them in capitals.
  const std::string mnemonic = absl::AsciiStrToLower(program.instruction(wait.instruction()).mnemonic());
  return absl::StrContains(mnemonic, ".cas") || absl::StrContains(mnemonic, ".exch");
}

std::string PlaceOf(const trace::Program& program, uint32_t pc) {
  const trace::v1::Instruction& instruction = program.instruction(pc);
  return absl::StrCat("instruction ", pc, " (", instruction.mnemonic(),
                      instruction.source_line() == 0 ? "" : absl::StrCat(", line ", instruction.source_line()), ")");
}

// Blocks of its function that `from` reaches without going through `stop`, `from` included.
std::set<uint32_t> ReachedWithout(const trace::Program& program, uint32_t from, uint32_t stop) {
  std::set<uint32_t> reached;
  std::vector<uint32_t> work = {from};
  while (!work.empty()) {
    const uint32_t at = work.back();
    work.pop_back();
    if (at == trace::kNoBlock || at == stop || !reached.insert(at).second) continue;
    const trace::Block& block = program.block(at);
    work.push_back(block.successor);
    work.push_back(block.taken);
    if (block.terminator != trace::v1::BRANCH_WIDE) continue;
    for (uint32_t target : program.targets().subspan(block.first_target, block.target_count)) work.push_back(target);
  }
  return reached;
}

// The block whose branch ends the waiting: the first conditional one at or behind the poll. kNoBlock if there is none.
uint32_t DecidingBlock(const trace::Program& program, uint32_t pc) {
  uint32_t at = program.block_of(pc);
  for (int step = 0; step < 16 && at != trace::kNoBlock; ++step) {
    if (program.block(at).terminator == trace::v1::BRANCH_CONDITIONAL) return at;
    if (program.block(at).terminator != trace::v1::FALL_THROUGH) return trace::kNoBlock;
    at = program.block(at).successor;
  }
  return trace::kNoBlock;
}

// Whether a thread that has taken the lock comes to an instruction that may give it back, a store or an atomic
// operation, before it meets the others of its warp. Which address an instruction accesses is not asked: what is
// refused is certain.
bool ReleasesBeforeReconvergence(const trace::Program& program, uint32_t pc) {
  const uint32_t deciding = DecidingBlock(program, pc);
  if (deciding == trace::kNoBlock) return true;
  const trace::Block& branch = program.block(deciding);
  for (uint32_t side : {branch.successor, branch.taken}) {
    for (uint32_t reached : ReachedWithout(program, side, branch.post_dominator)) {
      const trace::Block& block = program.block(reached);
      for (uint32_t other = block.first; other < block.first + block.count; ++other) {
        const trace::v1::OpClass op = program.instruction(other).op();
        if (other != pc && (op == trace::v1::OP_ATOMIC || op == trace::v1::OP_STORE || op == trace::v1::OP_CALL)) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

absl::Status CheckGridWaits(const trace::LaunchView& launch, uint64_t resident_clusters) {
  const trace::Clusters clusters(launch.launch);
  const uint64_t each = clusters.blocks();
  if (launch.grid_blocks <= resident_clusters * each) return absl::OkStatus();
  const auto cluster_of = [&](uint64_t block) {
    return clusters.have_several_blocks() ? clusters.ClusterOf(block) : block;
  };
  struct Waiting {
    std::map<uint64_t, std::set<uint64_t>> blocks;  // by cluster
    uint64_t whole = 0;                             // clusters of which all blocks wait
  };
  std::map<uint64_t, Waiting> waiting_for;  // by the cluster, a later one, that they wait for
  const Wait* example = nullptr;
  for (const Wait& wait : launch.totals.wait()) {
    if (!wait.writer_known() || TakesLock(*launch.program, wait)) continue;
    const uint64_t own = cluster_of(wait.block());
    const uint64_t awaited = cluster_of(wait.writer_block());
    if (awaited <= own) continue;
    Waiting& waiting = waiting_for[awaited];
    std::set<uint64_t>& blocks = waiting.blocks[own];
    if (!blocks.insert(wait.block()).second || blocks.size() != each) continue;
    if (++waiting.whole < resident_clusters) continue;
    example = &wait;
    break;
  }
  if (example == nullptr) return absl::OkStatus();
  const std::string what = each > 1 ? absl::StrCat(launch.grid_blocks / each, " clusters of ", each, " blocks")
                                    : absl::StrCat(launch.grid_blocks, " blocks");
  return absl::FailedPreconditionError(
      absl::StrCat("launch ", launch.launch.id(), " (", trace::BriefKernelName(launch.program->name()),
                   ") would hang on this machine: it holds ", resident_clusters, " of the grid's ", what,
                   " at once, and ", each == 1 ? "" : "all blocks of ", "at least as many wait at ",
                   PlaceOf(*launch.program, example->instruction()), " for block ", example->writer_block(),
                   ", which cannot begin before one of them ends; record it with a grid of at most ",
                   resident_clusters * each, " blocks, or choose a larger machine"));
}

absl::Status CheckWarpLocks(const trace::LaunchView& launch, uint32_t warp_size) {
  std::map<uint32_t, bool> releases;  // by polling instruction
  for (const Wait& wait : launch.totals.wait()) {
    if (!wait.writer_known() || wait.writer_block() != wait.block() ||
        wait.writer_thread() / warp_size != wait.thread() / warp_size || !TakesLock(*launch.program, wait)) {
      continue;
    }
    const auto [known, is_new] = releases.emplace(wait.instruction(), true);
    if (is_new) known->second = ReleasesBeforeReconvergence(*launch.program, wait.instruction());
    if (known->second) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "launch ", launch.launch.id(), " (", trace::BriefKernelName(launch.program->name()),
        ") would never end: in block ", wait.block(), ", thread ", wait.thread(), " waits at ",
        PlaceOf(*launch.program, wait.instruction()), " for a lock that thread ", wait.writer_thread(),
        " of the same warp holds, which waits for the others where the paths of the loop meet before it gives the lock "
        "back (livelock); policies that let the parts of a warp run independently, such as its, do not hang"));
  }
  return absl::OkStatus();
}

absl::Status CheckWarpLocks(const trace::LaunchView& launch, const trace::v1::Certificate& certificate,
                            uint32_t warp_size) {
  std::map<uint32_t, bool> releases;  // by instruction
  for (const trace::v1::WarpWait& wait : certificate.warp_wait()) {
    if (!wait.lock() || wait.thread() / warp_size != wait.other_thread() / warp_size) continue;
    const auto [known, is_new] = releases.emplace(wait.instruction(), true);
    if (is_new) known->second = ReleasesBeforeReconvergence(*launch.program, wait.instruction());
    if (known->second) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "launch ", launch.launch.id(), " (", trace::BriefKernelName(launch.program->name()),
        ") would never end: in block ", wait.block(), ", threads ", wait.other_thread(), " and ", wait.thread(),
        " of one warp take the same lock together at ", PlaceOf(*launch.program, wait.instruction()),
        "; the one that gets it waits for the other where the paths of the loop meet before it gives the "
        "lock back (livelock). While recording, one had given it back before the other came; policies "
        "that let the parts of a warp run independently, such as its, do not hang"));
  }
  return absl::OkStatus();
}

absl::Status CheckWarpLocks(const trace::TraceReader& reader, const trace::LaunchView& launch,
                            const CheckedConfiguration& configuration, const ReplayOptions& options) {
  if (!configuration.divergence.traits.waits_at_post_dominators) return absl::OkStatus();
  const uint32_t warp_size = options.machine.core().warp_size();
  absl::Status status = CheckWarpLocks(launch, warp_size);
  for (const trace::v1::Certificate& certificate : reader.CertificatesOf(launch.launch.id())) {
    if (status.ok()) status = CheckWarpLocks(launch, certificate, warp_size);
  }
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("under ", configuration.divergence.name(), " ", status.message()));
}

absl::Status CheckWarpLocks(const trace::TraceReader& reader, const CheckedConfiguration& configuration,
                            const ReplayOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(const auto launches, SelectLaunches(reader, options.kernels));
  for (const trace::LaunchView* launch : launches) {
    HEDDLE_RETURN_IF_ERROR(CheckWarpLocks(reader, *launch, configuration, options));
  }
  return absl::OkStatus();
}

}  // namespace heddle::replay
