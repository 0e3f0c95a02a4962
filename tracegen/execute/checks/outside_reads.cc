#include "tracegen/execute/checks/outside_reads.h"

#include <algorithm>
#include <utility>

#include "tracegen/execute/block/fault_handler.h"

namespace heddle::tracegen {

OutsideReads::OutsideReads(const trace::Program& program, uint32_t threads,
                           const std::vector<trace::v1::Allocation>& allocations)
    : program_(program), columns_(trace::ColumnsOf(program)), threads_(threads) {
  bounds_.SetAllocations(allocations);
}

// Addresses in front of the global window belong to no window.
bool OutsideReads::IsOutside(uint64_t address) const {
  if (!FaultHandler::ReadsAllowedAt(address)) return false;
  return address - kGlobalBase >= kGlobalBytes || bounds_.FindOutside({&address, 1}) != BoundsCheck::kNone;
}

absl::Status OutsideReads::AddBlock(uint64_t, BlockRecords& records, std::span<const uint64_t> consumed, bool last) {
  if (!in_block_) states_.assign(threads_, {});
  const bool whole = last && !in_block_;
  in_block_ = !last;
  const std::span<const trace::ThreadRecord> threads = records.joined();
  for (uint32_t t = 0; t < threads_; ++t) {
    const std::span<const uint64_t> addresses =
        threads[t].addresses.first(std::min<size_t>(threads[t].addresses.size(), consumed[t]));
    const bool any = std::ranges::any_of(addresses, [this](uint64_t address) { return IsOutside(address); });
    // A thread that goes on in a later part must be followed to where that begins.
    if (!any && whole) continue;
    trace::ByteDecisions decisions(threads[t].decisions.data(), threads[t].decisions.size());
    uint64_t instructions = 0;
    size_t position = 0;
    trace::Walk(program_, last || records.exited(t) ? trace::Extent::kRunsToExit : trace::Extent::kCut, decisions,
                states_[t], ~uint64_t{0}, instructions, [&](uint32_t, const trace::Block& block) {
                  for (uint32_t c = block.first_access; c < block.first_access + block.access_count; ++c) {
                    const size_t at = position++;
                    if (!any || at >= addresses.size() || !IsOutside(addresses[at])) continue;
                    const trace::v1::OpClass op = columns_[c].access;
                    if (op != trace::v1::OP_LOAD && op != trace::v1::OP_TEXTURE) continue;
                    trace::v1::OutsideRead read;
                    read.set_instruction(columns_[c].instruction);
                    read.set_count(1);
                    read.set_address(addresses[at]);
                    Add(std::move(read));
                  }
                });
  }
  return absl::OkStatus();
}

void OutsideReads::Add(trace::v1::OutsideRead read) {
  const auto [known, fresh] = reads_.try_emplace(read.instruction(), read);
  if (!fresh) known->second.set_count(known->second.count() + read.count());
}

// A certificate with nothing else in it.
std::string OutsideReads::TakeFindings() {
  trace::v1::Certificate all;
  for (auto& [pc, read] : reads_) *all.add_outside_read() = std::move(read);
  reads_.clear();
  in_block_ = false;
  return all.SerializeAsString();
}

void OutsideReads::AddFindings(std::string_view findings) {
  trace::v1::Certificate all;
  if (!all.ParseFromString(std::string(findings))) return;
  for (trace::v1::OutsideRead& read : *all.mutable_outside_read()) Add(std::move(read));
}

}  // namespace heddle::tracegen
