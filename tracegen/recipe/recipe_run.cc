#include "tracegen/recipe/recipe_run.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/execute/capture/launch_conductor.h"
#include "tracegen/execute/code/jit.h"
#include "tracegen/execute/launch/launch_record.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/recipe/card_plan.h"
#include "tracegen/recipe/fill.h"
#include "tracegen/recipe/newest_version.h"
#include "tracegen/recipe/output_check.h"
#include "tracegen/recipe/prepare_launch.h"
#include "tracegen/recipe/recipe_buffers.h"
#include "tracegen/recipe/recipe_code.h"
#include "tracegen/recipe/recipe_file.h"
#include "tracegen/version.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {
namespace {

double UserSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  rusage children = {};
  getrusage(RUSAGE_CHILDREN, &children);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(children.ru_utime);
}

void* At(uint64_t address) { return reinterpret_cast<void*>(address); }

class RecipeRun {
 public:
  RecipeRun(RecipeFile recipe, const CaptureOptions& options)
      : recipe_(std::move(recipe)),
        options_(options),
        resident_blocks_(std::max(options.resident_blocks, recipe_.recipe.resident_blocks())) {}

  absl::StatusOr<CaptureSummary> Run() {
    double start = UserSeconds();
    HEDDLE_RETURN_IF_ERROR(Prepare());
    summary_.compile_seconds = UserSeconds() - start;
    if (options_.compare_with_native) {
      start = UserSeconds();
      HEDDLE_RETURN_IF_ERROR(RunNative());
      summary_.native_seconds = UserSeconds() - start;
    }
    start = UserSeconds();
    HEDDLE_RETURN_IF_ERROR(Record());
    summary_.execute_seconds = UserSeconds() - start;
    HEDDLE_RETURN_IF_ERROR(Verify());
    if (!options_.plan.empty()) {
      HEDDLE_RETURN_IF_ERROR(WriteCardPlan(options_.plan, recipe_, *code_, buffers_, launches_));
    }
    if (InterruptRequested()) return absl::CancelledError("interrupted");
    HEDDLE_RETURN_IF_ERROR(RaiseVersion());
    HEDDLE_RETURN_IF_ERROR(writer_->Finish());
    summary_.bytes = writer_->totals().bytes;
    return summary_;
  }

 private:
  absl::Status Prepare() {
    HEDDLE_RETURN_IF_ERROR(CheckProcessor());
    const recipe::v1::Recipe& recipe = recipe_.recipe;
    if (resident_blocks_ > 1 && (options_.certify != 0 || options_.lockstep)) {
      return absl::InvalidArgumentError(absl::StrCat(
          recipe_.path, ": blocks that wait for one another (resident_blocks) can be captured neither with ",
          "--certify nor with --lockstep"));
    }
    HEDDLE_ASSIGN_OR_RETURN(RecipeCode code,
                            RecipeCode::Compile(recipe_, options_.machine_code ? &options_.machine_level : nullptr));
    for (const std::string& warning : code.warnings()) Warn(warning);
    code_ = std::make_unique<RecipeCode>(std::move(code));
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceMemory> memory,
                            DeviceMemory::Create(options_.certify != 0 ? DeviceMemory::Sharing::kApplication
                                                 : options_.jobs > 1   ? DeviceMemory::Sharing::kWorkers
                                                                       : DeviceMemory::Sharing::kPrivate));
    memory_ = std::move(memory);
    HEDDLE_ASSIGN_OR_RETURN(RecipeBuffers buffers, RecipeBuffers::Make(recipe_, *memory_));
    buffers_ = std::move(buffers);
    HEDDLE_RETURN_IF_ERROR(code_->PlaceVariables(*memory_));
    RunnerOptions runner_options = Options();
    // The recorded run speaks, the native one before it is silent.
    runner_options.print = [](const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    conductor_ = std::make_unique<LaunchConductor>(
        *memory_, std::move(runner_options),
        CertifySettings{options_.certify, std::filesystem::path(options_.output).parent_path().string()},
        [this](const std::string& text) { Warn(text); });
    bool uses_heap = false;
    for (int i = 0; i < recipe.launch_size(); ++i) {
      HEDDLE_RETURN_IF_ERROR(PrepareLaunchOf(i));
      uses_heap |= code_->kernel(recipe.launch(i).kernel()).recorded.kernel.uses_heap;
    }
    return uses_heap ? conductor_->EnsureHeap() : absl::OkStatus();
  }

  absl::Status PrepareLaunchOf(int index) {
    const recipe::v1::Launch& launch = recipe_.recipe.launch(index);
    KernelForm form;
    form.lockstep = options_.lockstep;
    form.own_stacks = options_.own_stacks;
    bool is_new = false;
    HEDDLE_ASSIGN_OR_RETURN(const RecipeKernel* kernel,
                            code_->MakeKernel(recipe_, index, form, options_.compare_with_native, &is_new));
    const InstrumentedKernel& recorded = kernel->recorded.kernel;
    if (is_new) summary_.warnings.insert(summary_.warnings.end(), recorded.warnings.begin(), recorded.warnings.end());
    HEDDLE_ASSIGN_OR_RETURN(
        PreparedLaunch prepared,
        PrepareLaunch(recipe_, index, recorded, [this](const std::string& name) { return buffers_.AddressOf(name); }));
    if (prepared.parameters.size() > kParamBytes) {
      return recipe_.Error("launch", index, "more parameters than parameter memory holds");
    }
    HEDDLE_RETURN_IF_ERROR(conductor_->MapLocal(recorded, prepared.geometry));
    HEDDLE_RETURN_IF_ERROR(conductor_->GiveGridWorkspace(recorded, prepared.geometry));
    launches_.push_back(std::move(prepared));
    for (int s = 0; s < launch.symbol_size(); ++s) {
      const recipe::v1::Symbol& symbol = launch.symbol(s);
      const PlacedGlobal* global = code_->FindVariable(symbol.name());
      if (global == nullptr) {
        return recipe_.Error("launch", index, "symbol", s,
                             absl::StrCat("no __constant__ or __device__ variable is named '", symbol.name(), "'"));
      }
      if (!IsScalar(symbol.type()) || global->bytes % ScalarBytes(symbol.type()) != 0) {
        return recipe_.Error("launch", index, "symbol", s,
                             absl::StrCat("variable '", symbol.name(), "' has ", global->bytes,
                                          " bytes, which are no whole number of elements of the given type"));
      }
    }
    return absl::OkStatus();
  }

  // All memory as it is before the first launch.
  void ResetMemory() {
    buffers_.Reset();
    code_->ResetVariables();
  }

  absl::Status SetSymbols(int index) {
    const recipe::v1::Launch& launch = recipe_.recipe.launch(index);
    for (int s = 0; s < launch.symbol_size(); ++s) {
      const recipe::v1::Symbol& symbol = launch.symbol(s);
      const PlacedGlobal* global = code_->FindVariable(symbol.name());
      absl::StatusOr<std::string> bytes =
          MakeContents(symbol.fill(), symbol.type(), global->bytes / ScalarBytes(symbol.type()), recipe_);
      if (absl::IsCancelled(bytes.status())) return bytes.status();
      if (!bytes.ok()) {
        return recipe_.Error("launch", index, "symbol", s,
                             absl::StrCat("symbol '", symbol.name(), "': ", std::string(bytes.status().message())));
      }
      std::memcpy(At(global->address), bytes->data(), bytes->size());
      if (writer_ != nullptr) {
        absl::Status status =
            RecordTransfer(trace::v1::Transfer::HOST_TO_DEVICE, global->address, bytes->size(), *writer_);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  RunnerOptions Options() {
    RunnerOptions options;
    options.lockstep = options_.lockstep;
    options.allow_outside_reads = options_.allow_bounds;
    if (options_.part_instructions != 0) options.part_instructions = options_.part_instructions;
    if (options_.part_accesses != 0) options.part_accesses = options_.part_accesses;
    options.max_instructions = options_.max_instructions;
    options.resident_blocks = resident_blocks_;
    options.jobs = options_.jobs;
    options.memory = memory_.get();
    options.seconds_before_spreading = SecondsBeforeSpreading();
    options.note = [this](const std::string& text) { summary_.notes.push_back(text); };
    if (options_.progress) {
      options.progress = [this](uint64_t blocks, uint64_t instructions) {
        absl::FPrintF(stderr, "\r%s: launch %u, block %u, %.1f M thread-instructions ", options_.output,
                      summary_.launches, blocks, static_cast<double>(instructions) * 1e-6);
        std::fflush(stderr);
      };
    }
    return options;
  }

  absl::Status RunNative() {
    ResetMemory();
    RunnerOptions runner_options = Options();
    runner_options.heap = conductor_->heap();
    LaunchConductor conductor(*memory_, std::move(runner_options), CertifySettings(), nullptr);
    uint64_t number = 0;
    for (int i = 0; i < recipe_.recipe.launch_size(); ++i) {
      HEDDLE_RETURN_IF_ERROR(SetSymbols(i));
      const recipe::v1::Launch& launch = recipe_.recipe.launch(i);
      for (uint32_t r = 0; r < std::max(1u, launch.repeat()); ++r) {
        ReadyLaunch ready = MakeReady(i, number++);
        ready.native = &code_->kernel(launch.kernel()).native;
        HEDDLE_RETURN_IF_ERROR(conductor.Run(ready, nullptr).status());
      }
    }
    buffers_.KeepNativeResults();
    return absl::OkStatus();
  }

  // Launch `index` of the recipe as launch `number` of the run, without its code: none of its blocks are recorded.
  ReadyLaunch MakeReady(int index, uint64_t number) const {
    const PreparedLaunch& prepared = launches_[static_cast<size_t>(index)];
    ReadyLaunch ready;
    ready.number = number;
    ready.parameters = prepared.parameters;
    ready.geometry = prepared.geometry;
    ready.geometry.grid_id = static_cast<uint32_t>(number);
    ready.ranges = {{0, ready.geometry.blocks(), false}};
    return ready;
  }

  absl::Status OpenWriter() {
    trace::v1::FileHeader header;
    header.set_producer(Producer());
    if (options_.certify != 0 || options_.lockstep || resident_blocks_ > 1) {
      header.set_minor(trace::kCertificateMinorVersion);
    }
    for (const trace::v1::AddressWindow& window : DeviceMemory::Windows()) *header.add_window() = window;
    const auto has_clusters = [](const PreparedLaunch& launch) { return launch.geometry.is_explicit_cluster; };
    if (std::ranges::any_of(launches_, has_clusters)) TellClusters(header);
    (*header.mutable_provenance())["recipe_sha256"] = HexSha256(recipe_.text);
    code_->Describe(header);
    if (resident_blocks_ > 1) {
      (*header.mutable_provenance())["resident_blocks"] = absl::StrCat(resident_blocks_);
    }
    if (options_.allow_bounds) (*header.mutable_provenance())["bounds"] = "reads allowed";
    HEDDLE_ASSIGN_OR_RETURN(auto writer,
                            trace::TraceWriter::Create(options_.output, std::move(header), WriterOptions()));
    writer_ = std::move(writer);
    return absl::OkStatus();
  }

  trace::WriterOptions WriterOptions() const {
    trace::WriterOptions options;
    options.zstd_level = options_.zstd_level;
    options.threads = options_.threads;
    options.chunk_thread_instructions = options_.part_instructions;
    options.chunk_accesses = options_.part_accesses;
    options.join_parts = options_.part_instructions == 0 && options_.part_accesses == 0;
    return options;
  }

  // Certificates may hold what the version in the header does not have. Without --certify and --lockstep that shows
  // only when the kernels have run.
  absl::Status RaiseVersion() {
    if (!has_certificates_ || options_.certify != 0 || options_.lockstep) return absl::OkStatus();
    HEDDLE_ASSIGN_OR_RETURN(auto writer, BeginAtNewestVersion(std::move(writer_), options_.output, WriterOptions()));
    writer_ = std::move(writer);
    return absl::OkStatus();
  }

  absl::Status Record() {
    ResetMemory();
    if (conductor_->heap() != nullptr) conductor_->heap()->Reset();
    HEDDLE_RETURN_IF_ERROR(OpenWriter());
    HEDDLE_RETURN_IF_ERROR(buffers_.RecordTransfers(recipe_, *writer_));
    for (int i = 0; i < recipe_.recipe.launch_size(); ++i) {
      HEDDLE_RETURN_IF_ERROR(SetSymbols(i));
      for (uint32_t r = 0; r < std::max(1u, recipe_.recipe.launch(i).repeat()); ++r) {
        HEDDLE_RETURN_IF_ERROR(RecordLaunch(i));
      }
    }
    const trace::WriterTotals& totals = writer_->totals();
    uint64_t counted = conductor_->instructions() - unrecorded_instructions_;
    if (totals.thread_instructions != counted) {
      return absl::InternalError(absl::StrCat("the trace holds ", totals.thread_instructions,
                                              " thread-instructions, but ", counted, " were counted"));
    }
    summary_.blocks = totals.blocks;
    summary_.threads = totals.threads;
    summary_.thread_instructions = totals.thread_instructions;
    summary_.accesses = totals.accesses;
    summary_.warnings.insert(summary_.warnings.end(), conductor_->warnings().begin(), conductor_->warnings().end());
    if (const ParallelBlocks* parallel = conductor_->parallel(); parallel != nullptr) {
      summary_.ranges_committed = parallel->counts().committed;
      summary_.ranges_discarded = parallel->counts().discarded;
    }
    if (options_.progress) absl::FPrintF(stderr, "\r\033[K");
    return absl::OkStatus();
  }

  absl::Status RecordLaunch(int index) {
    const recipe::v1::Launch& launch = recipe_.recipe.launch(index);
    RecipeKernel& kernel = code_->kernel(launch.kernel());
    if (kernel.program == nullptr) {
      HEDDLE_ASSIGN_OR_RETURN(kernel.program, writer_->AddProgram(kernel.unit.program));
    }
    ReadyLaunch ready = MakeReady(index, summary_.launches);
    trace::v1::Launch record = conductor_->Describe(kernel.recorded.kernel, ready.geometry);
    record.set_program(kernel.program->id());
    if (summary_.launches > 0) record.add_depends_on(static_cast<uint32_t>(summary_.launches - 1));
    record.set_recorded(!launch.unrecorded());
    HEDDLE_RETURN_IF_ERROR(writer_->BeginLaunch(std::move(record)));
    if (launch.unrecorded()) {
      const uint64_t before = conductor_->instructions();
      ready.native = &kernel.recorded;
      HEDDLE_RETURN_IF_ERROR(conductor_->Run(ready, nullptr).status());
      ++summary_.launches;
      unrecorded_instructions_ += conductor_->instructions() - before;
      return absl::OkStatus();
    }
    ready.recorded = &kernel.recorded;
    ready.ranges.front().record = true;
    ready.proto = &kernel.unit.program;
    ready.program = kernel.program;
    HEDDLE_ASSIGN_OR_RETURN(LaunchOutcome outcome, conductor_->Run(ready, writer_.get()));
    for (const std::string& warning : outcome.warnings) Warn(warning);
    HEDDLE_RETURN_IF_ERROR(writer_->EndLaunch());
    const auto number = static_cast<uint32_t>(summary_.launches++);
    if (!outcome.certificate.has_value()) return absl::OkStatus();
    has_certificates_ = true;
    outcome.certificate->set_launch(number);
    return writer_->AddCertificate(*outcome.certificate);
  }

  void Warn(const std::string& text) {
    std::vector<std::string>& all = summary_.warnings;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }

  absl::Status Verify() {
    HEDDLE_RETURN_IF_ERROR(buffers_.CompareWithNative());
    if (!options_.check) return absl::OkStatus();
    OutputChecks checks(recipe_);
    if (options_.damage_outputs) HEDDLE_RETURN_IF_ERROR(ExpectDamageIsNoticed(checks));
    return checks.Run(buffers_.contents());
  }

  absl::Status ExpectDamageIsNoticed(OutputChecks& checks) {
    for (const recipe::v1::Check& check : recipe_.recipe.check()) {
      buffers_.Damage(check.buffer());
      const absl::Status status = checks.Run(buffers_.contents());
      buffers_.Damage(check.buffer());  // and back
      if (status.code() == absl::StatusCode::kFailedPrecondition) continue;
      return absl::InternalError(
          absl::StrCat("nobody notices that ", check.buffer(), " is damaged: ", status.message()));
    }
    return absl::OkStatus();
  }

  RecipeFile recipe_;
  const CaptureOptions& options_;
  uint32_t resident_blocks_;  // of the recipe, or of the options if that is more
  CaptureSummary summary_;
  uint64_t unrecorded_instructions_ = 0;
  std::unique_ptr<RecipeCode> code_;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<LaunchConductor> conductor_;
  RecipeBuffers buffers_;
  std::vector<PreparedLaunch> launches_;
  std::unique_ptr<trace::TraceWriter> writer_;
  bool has_certificates_ = false;
};

}  // namespace

absl::StatusOr<std::string> PtxOfRecipe(const std::string& recipe_path) {
  HEDDLE_ASSIGN_OR_RETURN(const RecipeFile recipe, ReadRecipeFile(recipe_path));
  HEDDLE_ASSIGN_OR_RETURN(const RecipeCode code, RecipeCode::Compile(recipe));
  return code.Ptx();
}

absl::StatusOr<CaptureSummary> CaptureRecipe(const std::string& recipe_path, const CaptureOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(RecipeFile recipe, ReadRecipeFile(recipe_path));
  return RecipeRun(std::move(recipe), options).Run();
}

}  // namespace heddle::tracegen
