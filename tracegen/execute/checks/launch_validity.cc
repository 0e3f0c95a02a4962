#include "tracegen/execute/checks/launch_validity.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

std::vector<uint32_t> StoredConstants(const InstrumentedKernel& kernel, const trace::Program& program) {
  std::vector<uint32_t> constants(program.instruction_count());
  for (const RecordedBlock& block : kernel.blocks) {
    for (size_t i = 0; i < block.access_constants.size(); ++i) {
      // Behind the address stand values of uniform registers, which nobody stores.
      if (i > 0 && block.access_instructions[i] == block.access_instructions[i - 1]) continue;
      constants[block.access_instructions[i]] = block.access_constants[i];
    }
  }
  return constants;
}

absl::Status Observers::AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) {
  for (BlockObserver* observer : observers_) {
    HEDDLE_RETURN_IF_ERROR(observer->AddBlock(block, records, consumed, last));
  }
  return absl::OkStatus();
}

bool Observers::CanBeCopied() const {
  return std::ranges::all_of(observers_, [](const BlockObserver* observer) { return observer->CanBeCopied(); });
}

// Of one after the other, each behind its length.
std::string Observers::TakeFindings() {
  std::string all;
  for (BlockObserver* observer : observers_) {
    const std::string findings = observer->TakeFindings();
    const uint64_t bytes = findings.size();
    all.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    all += findings;
  }
  return all;
}

void Observers::AddFindings(std::string_view findings) {
  for (BlockObserver* observer : observers_) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, findings.data(), sizeof(bytes));
    observer->AddFindings(findings.substr(sizeof(bytes), bytes));
    findings.remove_prefix(sizeof(bytes) + bytes);
  }
}

LaunchValidity::LaunchValidity(const InstrumentedKernel& kernel, const trace::Program& program,
                               const Geometry& geometry, bool lockstep)
    : kernel_(kernel),
      program_(program),
      lockstep_(lockstep),
      threads_(geometry.threads()),
      observers_(geometry.cluster_blocks()) {
  const uint32_t bytes = SharedBytes(kernel, geometry);
  if (bytes != 0) {
    shared_.emplace(program, geometry.threads(), bytes, StoredConstants(kernel, program), geometry.clusters());
    for (Observers& observers : observers_) observers.Add(&*shared_);
  }
  if (!kernel.awaited.empty()) {
    waits_ = std::vector(observers_.size(), WarpWaitCheck(program, geometry.threads(), kernel.awaited));
    for (size_t rank = 0; rank < waits_.size(); ++rank) observers_[rank].Add(&waits_[rank]);
  }
}

void LaunchValidity::CountOutsideReads(const std::vector<trace::v1::Allocation>& allocations) {
  outside_ = std::vector(observers_.size(), OutsideReads(program_, threads_, allocations));
  for (size_t rank = 0; rank < outside_.size(); ++rank) observers_[rank].Add(&outside_[rank]);
}

std::vector<BlockObserver*> LaunchValidity::observers() {
  std::vector<BlockObserver*> all;
  for (Observers& observers : observers_) {
    if (!observers.empty()) all.push_back(&observers);
  }
  return all;
}

void LaunchValidity::End() {
  for (size_t rank = 1; rank < waits_.size(); ++rank) waits_[0].AddFindings(waits_[rank].TakeFindings());
  for (size_t rank = 1; rank < outside_.size(); ++rank) outside_[0].AddFindings(outside_[rank].TakeFindings());
}

bool LaunchValidity::Complete(trace::v1::Certificate& certificate) const {
  certificate.set_lockstep(lockstep_);
  if (shared_.has_value()) {
    for (const auto& [pair, count] : shared_->hand_offs()) {
      trace::v1::WarpHandOff& hand_off = *certificate.add_hand_off();
      hand_off.set_writer(pair.first);
      hand_off.set_reader(pair.second);
      hand_off.set_count(count);
    }
  }
  if (!waits_.empty()) {
    for (const auto& [pc, wait] : waits_[0].waits()) *certificate.add_warp_wait() = wait;
  }
  if (!outside_.empty()) {
    for (const auto& [pc, read] : outside_[0].reads()) *certificate.add_outside_read() = read;
  }
  return lockstep_ || certificate.outside_read_size() != 0 || certificate.runs() != 0 ||
         certificate.hand_off_size() != 0 || certificate.warp_wait_size() != 0 || !certificate.failure().empty();
}

std::vector<std::string> LaunchValidity::Warnings(const trace::v1::Certificate& certificate) const {
  std::vector<std::string> warnings;
  if (certificate.race_size() != 0) {
    // Accesses that the compiler has moved may be without a line.
    const auto has_lines = [this](const trace::v1::Race& race) {
      return program_.instruction(race.writer()).source_line() != 0 &&
             program_.instruction(race.other()).source_line() != 0;
    };
    const auto told = std::ranges::find_if(certificate.race(), has_lines);
    const trace::v1::Race& race = told == certificate.race().end() ? certificate.race(0) : *told;
    const bool loads = program_.instruction(race.other()).op() != trace::v1::OP_STORE;
    warnings.push_back(absl::StrCat(
        "kernel '", trace::BriefKernelName(kernel_.name), "': a race in global memory: what is stored at ",
        PlaceOf(race.writer()), loads ? " is loaded by other threads at " : " is stored over by other threads at ",
        PlaceOf(race.other()),
        ", and nothing orders them: values depend on the order of threads (`heddle trace info` "
        "lists all such pairs)"));
  }
  if (!shared_.has_value()) return warnings;
  if (std::string text = HandOffWarning(); !text.empty()) warnings.push_back(std::move(text));
  if (const std::optional<trace::Pc> copy = shared_->unwaited(); copy.has_value()) {
    warnings.push_back(absl::StrCat("kernel '", trace::BriefKernelName(kernel_.name),
                                    "': threads end without having waited for their asynchronous copy at ",
                                    PlaceOf(*copy),
                                    " (cp.async.wait_group, wait_all): its data never arrive here, on a device "
                                    "whenever they do"));
  }
  if (const auto& first = shared_->uninitialized(); first.has_value()) {
    warnings.push_back(absl::StrCat(
        "kernel '", trace::BriefKernelName(kernel_.name), "': shared memory is read at ", PlaceOf(first->pc),
        " that no thread of the ", observers_.size() > 1 ? "cluster" : "block", " has written (first by block ",
        first->block, ", thread ", first->thread, "): here it is zero, on a device it is arbitrary"));
  }
  return warnings;
}

std::string LaunchValidity::HandOffWarning() const {
  if (lockstep_ || !shared_.has_value() || shared_->hand_offs().empty()) return "";
  const auto& [writer, reader] = shared_->hand_offs().begin()->first;
  const bool overwrites = program_.instruction(reader).op() == trace::v1::OP_STORE;
  return absl::StrCat(
      "kernel '", trace::BriefKernelName(kernel_.name),
      "': threads of a warp share data without synchronization: what is stored at ",
      overwrites ? absl::StrCat(PlaceOf(reader), " is overwritten by other threads at ", PlaceOf(writer))
                 : absl::StrCat(PlaceOf(writer), " is loaded by other threads at ", PlaceOf(reader)),
      ", with no barrier and no warp operation in between",
      "; if the code relies on warps that run in lockstep, its results are wrong: capture it with --lockstep");
}

std::string LaunchValidity::PlaceOf(trace::Pc pc) const {
  for (const RecordedBlock& block : kernel_.blocks) {
    for (size_t i = 0; i < block.access_instructions.size(); ++i) {
      if (block.access_instructions[i] == pc && block.access_sites[i].line != 0)
        return block.access_sites[i].ToString();
    }
  }
  return absl::StrCat("PC ", 8 * uint64_t{pc});
}

}  // namespace heddle::tracegen
