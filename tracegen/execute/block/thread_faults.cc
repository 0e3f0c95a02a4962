// What threads do that a device would not, and where, in words: places, warnings, faults.
#include <algorithm>
#include <csignal>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/block_runner.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

void BlockRunner::SetBounds(const std::vector<trace::v1::Allocation>& allocations,
                            const trace::v1::KernelProgram* program) {
  bounds_.SetAllocations(allocations);
  program_ = program;
}

const BoundsCheck* BlockRunner::BoundsToCheck() const {
  return program_ == nullptr || warned_of_bounds_ ? nullptr : &bounds_;
}

void BlockRunner::WarnOfAccessOutside() {
  log_.Join();
  const std::span<const trace::ThreadRecord> records = log_.records();
  for (uint32_t t = 0; t < thread_count_; ++t) {
    // Of a thread that goes on in the next part, what is behind the consumed addresses may not have been written yet.
    const std::span<const uint64_t> addresses = records[t].addresses;
    const bool all = !cut_ || records[t].exited;
    const size_t position = bounds_.FindOutside(all ? addresses : addresses.first(consumed_[t]));
    if (position == BoundsCheck::kNone) continue;
    warned_of_bounds_ = true;
    kernels_outside_.insert(kernel_->name);
    const uint64_t address = records[t].addresses[position];
    Warn(absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "', block (", context_.ctaid[0], ",",
                      context_.ctaid[1], ",", context_.ctaid[2], "), thread ", Coordinates(t), ": access to address 0x",
                      absl::Hex(address), PlaceOfAccess(records[t], position), ", ",
                      options_.describe_address && !BoundsCheck::IsShared(address) ? options_.describe_address(address)
                                                                                   : bounds_.Describe(address),
                      "; further ones of this kernel are not told"));
    return;
  }
}

// The instruction is the one that a walk along the thread's decisions finds at this address. Of a block that was cut in
// time it is not known here where the walk starts.
std::string BlockRunner::PlaceOfAccess(const trace::ThreadRecord& record, size_t position) const {
  absl::StatusOr<trace::Program> program = trace::Program::Create(*program_);
  if (cut_ || !program.ok()) return "";
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

void BlockRunner::FailMisaligned(const uint64_t* record) {
  const RecordedBlock& block = kernel_->blocks[context_.own.location - 1];
  size_t wrong = 0;
  auto is_wrong = [&](size_t i) { return block.access_bytes[i] != 0 && record[i] % block.access_bytes[i] != 0; };
  while (wrong + 1 < block.access_bytes.size() && !is_wrong(wrong)) ++wrong;
  Fail(absl::StrCat("access of ", block.access_bytes[wrong], " bytes to address 0x", absl::Hex(record[wrong]),
                    ", which is no multiple of ", block.access_bytes[wrong], ", at ",
                    block.access_sites[wrong].ToString(), ": a device stops here"));
}

void BlockRunner::Free(uint32_t site, uint64_t address) {
  if (address == 0 || (options_.heap != nullptr && options_.heap->Free(address))) return;
  Fail(absl::StrCat("free of 0x", absl::Hex(address), " at ", SiteText(site),
                    ": malloc has not returned this address, or it has been freed before"));
}

void BlockRunner::RequireResidentGrid(uint32_t site) {
  if (geometry_.blocks() <= options_.resident_blocks) return;
  const std::string live = options_.resident_blocks == 1
                               ? std::string("which run one after the other here")
                               : absl::StrCat("of which ", options_.resident_blocks, " are live at once");
  Fail(absl::StrCat("a barrier of the whole grid at ", SiteText(site), ": the grid has ", geometry_.blocks(),
                    " blocks, ", live, "; ",
                    LiveBlocksAdvice(geometry_, kernel_->uses_local, options_.resident_blocks,
                                     options_.resident_blocks_setting, /*all=*/true)));
}

std::string BlockRunner::SiteText(uint32_t site) const {
  return site < kernel_->sites.size() ? kernel_->sites[site].ToString() : "unknown place";
}

std::string BlockRunner::Coordinates(uint32_t thread) const {
  return absl::StrCat("(", thread % geometry_.block[0], ",", thread / geometry_.block[0] % geometry_.block[1], ",",
                      thread / geometry_.block[0] / geometry_.block[1], ")");
}

std::string BlockRunner::Where(uint32_t thread) const {
  std::string text = absl::StrCat("block (", context_.ctaid[0], ",", context_.ctaid[1], ",", context_.ctaid[2],
                                  "), thread ", Coordinates(thread));
  uint32_t location = thread == running_ && threads_[thread].state == State::kRunning ? context_.own.location
                                                                                      : threads_[thread].own.location;
  if (location != 0 && kernel_->blocks[location - 1].site.line != 0) {
    absl::StrAppend(&text, ", near ", kernel_->blocks[location - 1].site.ToString());
  }
  return text;
}

void BlockRunner::Warn(const std::string& text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
}

Site BlockRunner::LastAccess(const void* address) const {
  if (context_.own.location == 0) return Site{};
  const RecordedBlock& block = kernel_->blocks[context_.own.location - 1];
  if (block.OneSite()) return block.access_sites.empty() ? block.site : block.access_sites.front();
  // The access that failed has already stored its address in the record of its block.
  Site site = block.site;
  for (size_t i = 0; i < block.access_sites.size(); ++i) {
    if (context_.own.block_base[i] == reinterpret_cast<uint64_t>(address)) site = block.access_sites[i];
  }
  return site;
}

std::string BlockRunner::FaultText(const FaultHandler& fault) const {
  const int signal = fault.signal();
  const void* address = fault.address();
  std::string where = absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "', block (", context_.ctaid[0],
                                   ",", context_.ctaid[1], ",", context_.ctaid[2], "), thread ", Coordinates(running_));
  if (fibers_.InGuard(address)) {
    const Site site = context_.own.location == 0 ? Site{} : kernel_->blocks[context_.own.location - 1].site;
    return absl::StrCat(where, ": stack overflow: device functions call each other too deeply",
                        site.line != 0 ? absl::StrCat(", near ", site.ToString()) : "");
  }
  Site site = LastAccess(address);
  std::string at = site.line != 0 ? absl::StrCat(" at ", site.ToString()) : "";
  if (signal == SIGFPE) return absl::StrCat(where, ": arithmetic fault", at);
  if (signal == SIGILL) return absl::StrCat(where, ": illegal instruction", at);
  std::string what = "where nothing is allocated";
  if (options_.describe_address) what = options_.describe_address(reinterpret_cast<uint64_t>(address));
  const auto number = reinterpret_cast<uint64_t>(address);
  const bool may_pass = fault.is_read() && !options_.allow_outside_reads && FaultHandler::ReadsAllowedAt(number);
  return absl::StrCat(where, ": access to address 0x", absl::Hex(number), ", ", what, at,
                      may_pass ? absl::StrCat(" (", options_.allow_outside_reads_setting, " lets reads pass)") : "");
}

}  // namespace heddle::tracegen
