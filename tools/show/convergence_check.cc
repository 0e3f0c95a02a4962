#include "tools/show/convergence_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/show/instruction_text.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

constexpr char kCycle[] = "cycle";
constexpr char kConstruct[] = "construct";

bool IsWarpOperation(const trace::v1::Instruction& instruction) {
  return instruction.op() == trace::v1::OP_WARP || instruction.op() == trace::v1::OP_TENSOR;
}

nlohmann::ordered_json ToJson(const ConvergenceCounts& counts) {
  return {{"instances", counts.instances}, {"shared", counts.shared},       {"broken", counts.broken},
          {"parts", counts.parts},         {"exceeding", counts.exceeding}, {"regrouped", counts.regrouped}};
}

}  // namespace

absl::StatusOr<replay::ConvergenceRule> ParseConvergenceRule(const std::string& name) {
  if (name == kCycle) return replay::ConvergenceRule::kCycle;
  if (name == kConstruct) return replay::ConvergenceRule::kConstruct;
  return absl::InvalidArgumentError(absl::StrCat("there is no rule ", name, ": ", kCycle, " or ", kConstruct));
}

const char* NameOf(replay::ConvergenceRule rule) {
  return rule == replay::ConvergenceRule::kCycle ? kCycle : kConstruct;
}

void ConvergenceCounts::Add(const ConvergenceCounts& other) {
  instances += other.instances;
  shared += other.shared;
  broken += other.broken;
  parts += other.parts;
  exceeding += other.exceeding;
  regrouped += other.regrouped;
}

void ConvergenceCheck::Begin(const Run& run) {
  Finish();
  run_ = run;
  launch_ = &reader_.launches()[run.second];
  const trace::Program& program = *launch_->program;
  counts_ = &found_[run];
  counts_->assign(program.instruction_count(), {});
  auto known = nests_.find(&program);
  if (known == nests_.end()) {
    absl::StatusOr<replay::CycleNest> nest = replay::CycleNest::Create(program, rule_);
    if (!nest.ok()) {
      status_ = absl::Status(nest.status().code(), absl::StrCat("--check-convergence: ", nest.status().message()));
      return;
    }
    known = nests_.emplace(&program, *std::move(nest)).first;
  }
  nest_ = &known->second;
}

void ConvergenceCheck::Finish() {
  // Threads of these blocks have not ended: the run has failed, or was stopped.
  for (const auto& [number, block] : blocks_) Fold(*block);
  blocks_.clear();
  instances_ = 0;
}

ConvergenceCheck::Block& ConvergenceCheck::FindBlock(uint64_t number) {
  std::unique_ptr<Block>& block = blocks_[number];
  if (block == nullptr) {
    block = std::make_unique<Block>();
    block->live = launch_->threads_per_block;
    block->threads.resize(block->live);
    block->instances.resize((block->live + warp_size_ - 1) / warp_size_);
  }
  return *block;
}

void ConvergenceCheck::Issued(const replay::IssueEvent& event) {
  if (!status_.ok()) return;
  if (const Run run(event.configuration, event.launch); run_ != run) Begin(run);
  if (!status_.ok()) return;
  groups_.clear();
  for (const replay::IssueEvent::Lane& lane : event.lanes) Execute(lane);
  CountIssue();
  for (const replay::IssueEvent::Lane& lane : event.lanes) {
    if (!EndsThread(lane.pc)) continue;
    const auto found = blocks_.find(lane.block);
    if (--found->second->live != 0) continue;
    Fold(*found->second);
    for (const auto& of_warp : found->second->instances) instances_ -= of_warp.size();
    blocks_.erase(found);
  }
  if (instances_ <= kMostInstances) return;
  status_ = absl::ResourceExhaustedError(
      absl::StrCat("--check-convergence: launch ", event.launch, " of ", reader_.name(), " has more than ",
                   kMostInstances, " dynamic instances under way; capture fewer thread blocks, or a smaller input"));
}

bool ConvergenceCheck::EndsThread(replay::Pc pc) const {
  const trace::Program& program = *launch_->program;
  const trace::Block& block = program.block(program.block_of(pc));
  return block.terminator == trace::v1::EXIT && pc + 1 == block.first + block.count;
}

void ConvergenceCheck::Execute(const replay::IssueEvent::Lane& lane) {
  Block& block = FindBlock(lane.block);
  const uint32_t warp = lane.thread / warp_size_;
  const uint64_t instance = block.threads[lane.thread].Execute(*launch_->program, *nest_, lane.pc);
  for (Group& group : groups_) {
    if (group.block == &block && group.warp == warp && group.instance == instance) {
      ++group.threads;
      return;
    }
  }
  groups_.push_back({&block, warp, instance, lane.pc, 1});
}

void ConvergenceCheck::CountIssue() {
  bool exceeds = false;
  bool regroups = false;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    const auto [place, is_new] = group.block->instances[group.warp].try_emplace(group.instance);
    instances_ += is_new ? 1 : 0;
    Instance& instance = place->second;
    instance.pc = group.pc;
    instance.threads += group.threads;
    ++instance.issues;
    for (size_t other = 0; other < i; ++other) {
      const bool one_warp = groups_[other].block == group.block && groups_[other].warp == group.warp;
      (one_warp ? exceeds : regroups) = true;
    }
  }
  if (groups_.empty()) return;
  ConvergenceCounts& counts = (*counts_)[groups_.front().pc];
  counts.exceeding += exceeds ? 1 : 0;
  counts.regrouped += regroups ? 1 : 0;
}

void ConvergenceCheck::Fold(const Block& block) {
  for (const auto& of_warp : block.instances) {
    for (const auto& [number, instance] : of_warp) {
      ConvergenceCounts& counts = (*counts_)[instance.pc];
      ++counts.instances;
      if (instance.threads < 2) continue;
      ++counts.shared;
      if (instance.issues < 2) continue;
      ++counts.broken;
      counts.parts += instance.issues;
    }
  }
}

template <typename Wanted>
ConvergenceCounts ConvergenceCheck::Sum(uint32_t configuration, Wanted wanted) const {
  ConvergenceCounts sum;
  for (auto at = found_.lower_bound({configuration, 0}); at != found_.end() && at->first.first == configuration; ++at) {
    const trace::Program& program = *reader_.launches()[at->first.second].program;
    for (replay::Pc pc = 0; pc < at->second.size(); ++pc) {
      if (wanted(program.instruction(pc))) sum.Add(at->second[pc]);
    }
  }
  return sum;
}

ConvergenceCounts ConvergenceCheck::Total(uint32_t configuration) const {
  return Sum(configuration, [](const trace::v1::Instruction&) { return true; });
}

ConvergenceCounts ConvergenceCheck::TotalOfWarpOperations(uint32_t configuration) const {
  return Sum(configuration, IsWarpOperation);
}

std::string ConvergenceCheck::Worst(uint32_t configuration) const {
  uint64_t most = 0;
  std::string place;
  for (auto at = found_.lower_bound({configuration, 0}); at != found_.end() && at->first.first == configuration; ++at) {
    const trace::Program& program = *reader_.launches()[at->first.second].program;
    for (replay::Pc pc = 0; pc < at->second.size(); ++pc) {
      const ConvergenceCounts& counts = at->second[pc];
      const uint64_t beyond = counts.parts - counts.broken;
      if (beyond <= most) continue;
      most = beyond;
      place = SourcePlace(reader_.header(), program.instruction(pc));
      if (place == "-") {
        place = absl::StrCat(trace::BriefKernelName(program.name()), ", PC ", uint64_t{pc} * replay::kInstructionBytes);
      }
    }
  }
  return place;
}

void ConvergenceCheck::AddTo(uint32_t configuration, nlohmann::ordered_json& result) const {
  for (nlohmann::ordered_json& launch : result["launch"]) {
    const auto found = found_.find({configuration, launch["launch"].get<uint32_t>()});
    ConvergenceCounts all;
    ConvergenceCounts warp_operations;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (replay::Pc pc = 0; found != found_.end() && pc < found->second.size(); ++pc) {
      const trace::v1::Instruction& instruction = reader_.launches()[found->first.second].program->instruction(pc);
      const ConvergenceCounts& counts = found->second[pc];
      all.Add(counts);
      if (IsWarpOperation(instruction)) warp_operations.Add(counts);
      if (counts.broken + counts.exceeding == 0) continue;
      nlohmann::ordered_json json = {{"pc", uint64_t{pc} * replay::kInstructionBytes},
                                     {"mnemonic", instruction.mnemonic()},
                                     {"source", SourcePlace(reader_.header(), instruction)}};
      json.update(ToJson(counts));
      list.push_back(std::move(json));
    }
    launch["convergence"] = {{"rule", NameOf(rule_)},
                             {"all", ToJson(all)},
                             {"warp_operations", ToJson(warp_operations)},
                             {"instruction", std::move(list)}};
  }
}

}  // namespace heddle::tools
