#include "tracegen/application/recording.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tracegen/execute/launch/launch_record.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/instrument/thread_context.h"
#include "tracegen/version.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"
#include "traces/format/edit/copy.h"
#include "traces/format/limits.h"
#include "traces/format/program/annotations.h"
#include "traces/format/program/code_level.h"
#include "traces/format/read/reader.h"

namespace heddle::tracegen {

Recording::Recording(CaptureSettings settings, std::string path)
    : settings_(std::move(settings)), path_(std::move(path)) {
  // A wrong expression has been refused with the command line (CheckKernels).
  if (auto pattern = trace::KernelPattern::Parse(settings_.kernels); pattern.ok()) kernels_ = *std::move(pattern);
  header_.set_producer(Producer());
  header_.set_abstraction_level(settings_.architecture.empty() ? "ptx" : "machine");
  for (const trace::v1::AddressWindow& window : DeviceMemory::Windows()) *header_.add_window() = window;
  if (settings_.certify != 0 || settings_.lockstep || settings_.resident_blocks > 1) {
    header_.set_minor(trace::kCertificateMinorVersion);
  }
  if (!settings_.command_line.empty()) header_.set_command_line(settings_.command_line);
  if (settings_.resident_blocks > 1) {
    (*header_.mutable_provenance())["resident_blocks"] = absl::StrCat(settings_.resident_blocks);
  }
  if (settings_.allow_bounds) (*header_.mutable_provenance())["bounds"] = "reads allowed";
}

Recording::~Recording() = default;

void Recording::AddCode(const CodeFacts& facts) {
  if (header_.target().empty()) header_.set_target(facts.target);
  if (header_.compiler().empty()) header_.set_compiler(facts.compiler);
  if (!facts.ptx_producer.empty() && !header_.provenance().contains("ptx_from")) {
    (*header_.mutable_provenance())["ptx_from"] = facts.ptx_producer;
    header_grew_ = true;
  }
  if (std::find(optimizations_.begin(), optimizations_.end(), facts.optimization) == optimizations_.end()) {
    optimizations_.push_back(facts.optimization);
    header_.set_optimization(absl::StrJoin(optimizations_, ", "));
    header_grew_ = true;
  }
  for (const std::string& file : facts.source_files) {
    const auto& files = header_.source_file();
    if (std::find(files.begin(), files.end(), file) != files.end()) continue;
    header_.add_source_file(file);
    header_grew_ = true;
  }
  if (facts.meets_warps && header_.warp_width() == 0) {
    header_.set_warp_width(kWarpWidth);
    header_grew_ = true;
  }
}

LaunchPlan Recording::Plan(const trace::v1::KernelProgram& kernel, const Geometry& geometry) const {
  const uint64_t grid_blocks = geometry.blocks();
  LaunchPlan plan;
  plan.recorded = outcome_.launches >= settings_.first_launch && outcome_.launches <= settings_.last_launch &&
                  kernels_.Matches(kernel.name());
  if (!plan.recorded) return plan;
  trace::v1::BlockSelection::Rule rule = settings_.block_rule;
  const uint64_t wave = WaveBlocks(geometry.threads(), kernel.register_count(),
                                   kernel.static_shared_bytes() + geometry.dynamic_shared_bytes);
  // Less than a wave is what a device would start with.
  if (rule == trace::v1::BlockSelection::WAVES && settings_.max_blocks < wave) rule = trace::v1::BlockSelection::FIRST;
  plan.blocks = rule == trace::v1::BlockSelection::WAVES
                    ? ChooseWaves(settings_.max_blocks, wave, grid_blocks)
                    : ChooseBlocks(rule, settings_.max_blocks, settings_.seed, grid_blocks);
  if (plan.blocks.front() == BlockRange{0, grid_blocks}) return plan;
  plan.blocks = WholeClusters(plan.blocks, geometry.clusters());
  if (plan.blocks.front() != BlockRange{0, grid_blocks}) {
    plan.selection.set_rule(rule);
    for (const BlockRange& range : plan.blocks) {
      plan.selection.set_blocks(plan.selection.blocks() + range.end - range.first);
    }
    if (rule == trace::v1::BlockSelection::RANDOM) plan.selection.set_seed(settings_.seed);
  }
  return plan;
}

absl::Status Recording::Break(const absl::Status& status) {
  if (status.ok() || !error_.ok()) return error_;
  error_ = status;
  in_launch_ = false;
  if (writer_ != nullptr && settings_.keep_partial) {
    // The writer removes its file; another name keeps it. A partial trace is worth no further error.
    (void)link(writer_->temporary_file().c_str(), absl::StrCat(path_, ".partial").c_str());
  }
  writer_.reset();
  return error_;
}

absl::Status Recording::CreateWriter() {
  trace::WriterOptions options;
  options.zstd_level = settings_.zstd_level;
  options.threads = settings_.threads;
  options.join_parts = true;
  HEDDLE_ASSIGN_OR_RETURN(auto writer, trace::TraceWriter::Create(path_, header_, options));
  writer_ = std::move(writer);
  header_grew_ = false;
  return absl::OkStatus();
}

absl::Status Recording::ExtendHeader() {
  HEDDLE_RETURN_IF_ERROR(writer_->Finish());
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<trace::TraceReader> before, trace::TraceReader::Open(path_));
  HEDDLE_RETURN_IF_ERROR(CreateWriter());
  std::vector<uint32_t> same(static_cast<size_t>(before->header().source_file_size()) + 1);
  for (uint32_t i = 0; i < same.size(); ++i) same[i] = i;
  HEDDLE_RETURN_IF_ERROR(trace::TraceCopier(*writer_, false).Add(*before, {}, same));
  unlink(path_.c_str());
  return absl::OkStatus();
}

absl::Status Recording::EnsureHeader(const CodeFacts& facts) {
  AddCode(facts);
  if (writer_ != nullptr) return header_grew_ ? ExtendHeader() : absl::OkStatus();
  if (!outcome_.program.empty()) (*header_.mutable_provenance())["application"] = outcome_.program;
  HEDDLE_RETURN_IF_ERROR(CreateWriter());
  if (const std::string choice = DescribeChoice(settings_); !choice.empty()) {
    trace::v1::Annotation annotation;
    annotation.set_key("heddle.capture");
    annotation.set_value(absl::StrCat("recorded: ", choice));
    HEDDLE_RETURN_IF_ERROR(writer_->AddAnnotation(annotation));
  }
  for (const trace::v1::Transfer& transfer : before_) {
    HEDDLE_RETURN_IF_ERROR(writer_->AddTransfer(transfer));
  }
  before_.clear();
  return absl::OkStatus();
}

absl::Status Recording::AllowOrigins() {
  if (!error_.ok() || header_.minor() >= trace::kCollectiveMinorVersion) return error_;
  header_.set_minor(trace::kCollectiveMinorVersion);
  return writer_ == nullptr ? absl::OkStatus() : Break(ExtendHeader());
}

absl::Status Recording::AllowClusters() {
  if (!error_.ok()) return error_;
  const bool grows = TellClusters(header_);
  return writer_ == nullptr || !grows ? absl::OkStatus() : Break(ExtendHeader());
}

absl::StatusOr<uint32_t> Recording::AddKernel(trace::v1::KernelProgram kernel, const CodeFacts& facts) {
  if (!error_.ok()) return error_;
  if (const uint32_t minor = trace::MinorVersionOf(kernel);
      minor > std::max(header_.minor(), trace::kUsualMinorVersion)) {
    header_.set_minor(minor);
    header_grew_ = true;
  }
  if (absl::Status status = EnsureHeader(facts); !status.ok()) return Break(status);
  // Numbers of source files in the header instead of in the module.
  std::vector<uint32_t> number = {0};
  const auto& files = header_.source_file();
  for (const std::string& file : facts.source_files) {
    number.push_back(static_cast<uint32_t>(std::find(files.begin(), files.end(), file) - files.begin()) + 1);
  }
  for (trace::v1::Instruction& instruction : *kernel.mutable_instruction()) {
    instruction.set_source_file(number[instruction.source_file()]);
  }
  std::string contents = kernel.SerializeAsString();
  if (const auto found = programs_.find(contents); found != programs_.end()) return found->second;
  absl::StatusOr<const trace::Program*> added = writer_->AddProgram(std::move(kernel));
  if (!added.ok()) return Break(added.status());
  return programs_[std::move(contents)] = (*added)->id();
}

absl::Status Recording::BeginLaunch(const std::string& kernel_name, const LaunchPlan& plan, trace::v1::Launch launch) {
  if (!error_.ok()) return error_;
  kernel_name_ = kernel_name;
  grid_blocks_ = uint64_t{launch.grid().x()} * launch.grid().y() * launch.grid().z();
  launch.set_recorded(plan.recorded);
  if (plan.recorded && plan.selection.rule() != trace::v1::BlockSelection::ALL) {
    *launch.mutable_selection() = plan.selection;
  }
  if (absl::Status status = writer_->BeginLaunch(std::move(launch)); !status.ok()) return Break(status);
  in_launch_ = plan.recorded;
  return absl::OkStatus();
}

absl::Status Recording::EndLaunch(trace::v1::Certificate* certificate) {
  if (!error_.ok()) return error_;
  const auto number = static_cast<uint32_t>(outcome_.launches++);
  if (!in_launch_) return absl::OkStatus();
  in_launch_ = false;
  ++outcome_.recorded;
  ShowProgress(grid_blocks_, writer_->totals().thread_instructions);
  absl::Status status = writer_->EndLaunch();
  if (status.ok() && certificate != nullptr) {
    certificate->set_launch(number);
    if (header_.minor() < trace::kCertificateMinorVersion) {
      // Older versions do not know hand-offs.
      header_.set_minor(trace::kCertificateMinorVersion);
      status = ExtendHeader();
    }
    if (status.ok()) status = writer_->AddCertificate(*certificate);
  }
  return Break(status);
}

absl::Status Recording::AbandonLaunch(const std::string& reason, bool told) {
  if (!error_.ok()) return error_;
  outcome_.failure = reason;
  outcome_.told = told;
  if (!std::exchange(in_launch_, false)) return absl::OkStatus();
  return Break(writer_->AbandonLaunch());
}

absl::Status Recording::AddTransfer(const trace::v1::Transfer& transfer) {
  if (!error_.ok()) return error_;
  if (writer_ == nullptr) {
    before_.push_back(transfer);
    return absl::OkStatus();
  }
  return Break(writer_->AddTransfer(transfer));
}

void Recording::ShowProgress(uint64_t block, uint64_t thread_instructions) {
  if (!settings_.progress || writer_ == nullptr) return;
  const std::optional<double> seconds = progress_.SecondsIfDue();
  if (!seconds.has_value()) return;
  const double millions = static_cast<double>(thread_instructions) * 1e-6;
  progress_.Show(absl::StrFormat("%s: launch %u %.40s, block %u of %u, %.1f M thread-instructions, %.1f M/s, %.1f MB ",
                                 Printable(outcome_.program), outcome_.launches, Printable(kernel_name_), block,
                                 grid_blocks_, millions, *seconds > 0 ? millions / *seconds : 0.0,
                                 static_cast<double>(writer_->totals().bytes) * 1e-6));
}

CaptureOutcome Recording::Finish() {
  ClearProgress();
  if (error_.ok() && writer_ != nullptr) {
    const trace::WriterTotals totals = writer_->totals();
    outcome_.blocks = totals.blocks;
    outcome_.threads = totals.threads;
    outcome_.thread_instructions = totals.thread_instructions;
    if (!outcome_.failure.empty()) {
      trace::v1::Annotation annotation;
      annotation.set_key(std::string(trace::kCaptureEndKey));
      annotation.set_value(absl::StrCat(trace::kRunEnded, outcome_.failure));
      Break(writer_->AddAnnotation(annotation)).IgnoreError();
    }
    if (error_.ok()) Break(writer_->Finish()).IgnoreError();
  }
  if (!error_.ok()) {
    outcome_.complete = false;
    outcome_.told = false;
    outcome_.failure = absl::StrCat("the trace cannot be written: ", error_.message());
  }
  writer_.reset();
  return outcome_;
}

}  // namespace heddle::tracegen
