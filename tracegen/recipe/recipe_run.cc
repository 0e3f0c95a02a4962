#include "tracegen/recipe/recipe_run.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/execute/checks/certify.h"
#include "tracegen/execute/checks/launch_validity.h"
#include "tracegen/execute/code/jit.h"
#include "tracegen/execute/launch/launch_arguments.h"
#include "tracegen/execute/launch/launch_record.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "tracegen/execute/memory/device_heap.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/execute/parallel/launch_runner.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/program/static_program.h"
#include "tracegen/recipe/fill.h"
#include "tracegen/recipe/newest_version.h"
#include "tracegen/recipe/output_check.h"
#include "tracegen/recipe/prepare_launch.h"
#include "tracegen/recipe/recipe_buffers.h"
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

// A kernel in both forms.
struct Kernel {
  KernelUnit unit;
  InstrumentedKernel recorded;
  InstrumentedKernel native;
  std::unique_ptr<CompiledKernel> recorded_code;
  std::unique_ptr<CompiledKernel> native_code;
  const trace::Program* program = nullptr;
};

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
    std::string source = recipe_.Resolve(recipe.source());
    HEDDLE_ASSIGN_OR_RETURN(std::string text, ReadWholeFile(source));
    source_digest_ = HexSha256(text);
    CompileOptions compile;
    compile.defines.assign(recipe.define().begin(), recipe.define().end());
    for (const std::string& folder : recipe.include_dir()) compile.include_dirs.push_back(recipe_.Resolve(folder));
    if (!recipe.optimization().empty()) compile.optimization = recipe.optimization();
    if (!recipe.target().empty()) compile.target = recipe.target();
    compile.no_unroll = recipe.no_unroll();
    optimization_ = absl::StrCat(compile.optimization, compile.no_unroll ? " -fno-unroll-loops" : "");
    target_ = compile.target;
    absl::StatusOr<DeviceModule> module = Compile(source, compile);
    if (!module.ok()) return module.status();
    HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical,
                            Canonicalize(std::move(module->context), std::move(module->module), target_));
    canonical_ = std::make_unique<CanonicalModule>(std::move(canonical));

    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceMemory> memory,
                            DeviceMemory::Create(options_.certify != 0 ? DeviceMemory::Sharing::kApplication
                                                 : options_.jobs > 1   ? DeviceMemory::Sharing::kWorkers
                                                                       : DeviceMemory::Sharing::kPrivate));
    memory_ = std::move(memory);
    HEDDLE_ASSIGN_OR_RETURN(RecipeBuffers buffers, RecipeBuffers::Make(recipe_, *memory_));
    buffers_ = std::move(buffers);
    absl::StatusOr<GlobalLayout> globals =
        PlaceGlobals(*canonical_->module,
                     [this](uint64_t bytes, const std::string& name) { return memory_->Allocate(bytes, name); });
    if (!globals.ok()) return globals.status();
    globals_ = *std::move(globals);
    bool uses_heap = false;
    for (int i = 0; i < recipe.launch_size(); ++i) {
      HEDDLE_RETURN_IF_ERROR(PrepareKernel(i));
      uses_heap |= kernels_[recipe.launch(i).kernel()]->recorded.uses_heap;
    }
    if (!uses_heap) return absl::OkStatus();
    HEDDLE_ASSIGN_OR_RETURN(uint64_t base, memory_->Allocate(kDeviceHeapBytes, "device heap"));
    heap_ = std::make_unique<DeviceHeap>(base, kDeviceHeapBytes);
    return absl::OkStatus();
  }

  absl::Status PrepareKernel(int index) {
    const recipe::v1::Launch& launch = recipe_.recipe.launch(index);
    std::unique_ptr<Kernel>& kernel = kernels_[launch.kernel()];
    if (kernel == nullptr) {
      absl::StatusOr<KernelUnit> unit = ReadKernel(*canonical_, launch.kernel());
      if (absl::IsNotFound(unit.status())) {
        return recipe_.Error("launch", index, "kernel", -1, std::string(unit.status().message()));
      }
      if (!unit.ok()) return unit.status();
      kernel = std::make_unique<Kernel>();
      kernel->unit = *std::move(unit);
      if (recipe_.recipe.registers() != 0) {
        kernel->unit.program.set_register_count(recipe_.recipe.registers());
        kernel->unit.program.set_registers_requested(recipe_.recipe.registers());
      }
      HEDDLE_RETURN_IF_ERROR(MakeCode(*kernel, true, kernel->recorded, kernel->recorded_code));
      if (options_.compare_with_native) {
        HEDDLE_RETURN_IF_ERROR(MakeCode(*kernel, false, kernel->native, kernel->native_code));
      }
      uses_warps_ = uses_warps_ || kernel->unit.program.uses_warp_operations() || kernel->recorded.meets_warp;
      for (const std::string& warning : kernel->recorded.warnings) summary_.warnings.push_back(warning);
    }
    absl::StatusOr<PreparedLaunch> prepared = PrepareLaunch(
        recipe_, index, kernel->recorded, [this](const std::string& name) { return buffers_.AddressOf(name); });
    if (!prepared.ok()) return prepared.status();
    if (prepared->parameters.size() > kParamBytes) {
      return recipe_.Error("launch", index, "more parameters than parameter memory holds");
    }
    if (kernel->recorded.uses_local) {
      if (absl::Status status =
              memory_->MapLocal(prepared->geometry.threads() * LiveBlocks(resident_blocks_, prepared->geometry, true));
          !status.ok())
        return status;
    }
    launches_.push_back(*std::move(prepared));
    for (int s = 0; s < launch.symbol_size(); ++s) {
      const recipe::v1::Symbol& symbol = launch.symbol(s);
      const PlacedGlobal* global = globals_.FindName(symbol.name());
      if (global == nullptr) {
        return recipe_.Error("launch", index, "symbol", s,
                             absl::StrCat("no __constant__ or __device__ variable is named '", symbol.name(), "'"));
      }
      uint64_t size = ScalarBytes(symbol.type());
      if (size == 0 || global->bytes % size != 0) {
        return recipe_.Error("launch", index, "symbol", s,
                             absl::StrCat("variable '", symbol.name(), "' has ", global->bytes,
                                          " bytes, which are no whole number of elements of the given type"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status MakeCode(Kernel& kernel, bool record, InstrumentedKernel& instrumented,
                        std::unique_ptr<CompiledKernel>& code) {
    absl::StatusOr<InstrumentedKernel> made =
        Instrument(*canonical_, kernel.unit, globals_,
                   {.record = record, .lockstep = options_.lockstep, .own_stacks = options_.own_stacks});
    if (!made.ok()) return made.status();
    instrumented = *std::move(made);
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<CompiledKernel> compiled, CompileForHost(instrumented));
    code = std::move(compiled);
    return absl::OkStatus();
  }

  // All memory as it is before the first launch.
  void ResetMemory() {
    buffers_.Reset();
    for (const PlacedGlobal& global : globals_.globals) {
      std::memcpy(At(global.address), global.contents.data(), global.contents.size());
    }
  }

  absl::Status SetSymbols(int index) {
    const recipe::v1::Launch& launch = recipe_.recipe.launch(index);
    for (int s = 0; s < launch.symbol_size(); ++s) {
      const recipe::v1::Symbol& symbol = launch.symbol(s);
      const PlacedGlobal* global = globals_.FindName(symbol.name());
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
    options.heap = heap_.get();
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
    LaunchRunner runner(Options());
    uint32_t id = 0;
    for (int i = 0; i < recipe_.recipe.launch_size(); ++i) {
      const recipe::v1::Launch& launch = recipe_.recipe.launch(i);
      HEDDLE_RETURN_IF_ERROR(SetSymbols(i));
      Kernel& kernel = *kernels_[launch.kernel()];
      std::vector<const void*> arguments = PlaceArguments(kernel.native, launches_[static_cast<size_t>(i)].parameters);
      for (uint32_t r = 0; r < std::max(1u, launch.repeat()); ++r) {
        Geometry geometry = launches_[static_cast<size_t>(i)].geometry;
        geometry.grid_id = id++;
        const LaunchForm form = {&kernel.native, kernel.native_code->entry(), arguments};
        const BlockStretch all = {0, geometry.blocks(), false};
        absl::Status status = runner.Run(nullptr, &form, {&all, 1}, geometry, nullptr, nullptr);
        if (!status.ok()) return status;
      }
    }
    buffers_.KeepNativeResults();
    return absl::OkStatus();
  }

  absl::Status OpenWriter() {
    trace::v1::FileHeader header;
    header.set_producer(kProducer);
    header.set_abstraction_level("ptx");
    header.set_target(target_);
    header.set_compiler(canonical_->compiler);
    header.set_optimization(optimization_);
    if (uses_warps_) header.set_warp_width(kWarpWidth);
    if (options_.certify != 0 || options_.lockstep) header.set_minor(trace::kMinorVersion);
    for (const trace::v1::AddressWindow& window : DeviceMemory::Windows()) *header.add_window() = window;
    for (const std::string& file : canonical_->source_files) header.add_source_file(file);
    (*header.mutable_provenance())["recipe_sha256"] = HexSha256(recipe_.text);
    (*header.mutable_provenance())["source_sha256"] = source_digest_;
    if (resident_blocks_ > 1) {
      (*header.mutable_provenance())["resident_blocks"] = absl::StrCat(resident_blocks_);
    }
    if (options_.allow_bounds) (*header.mutable_provenance())["bounds"] = "reads allowed";
    if (header.provenance().contains("resident_blocks")) header.set_minor(trace::kMinorVersion);
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
    if (heap_ != nullptr) heap_->Reset();
    HEDDLE_RETURN_IF_ERROR(OpenWriter());
    HEDDLE_RETURN_IF_ERROR(buffers_.RecordTransfers(recipe_, *writer_));
    RunnerOptions runner_options = Options();
    // The recorded run speaks, the native one before it is silent.
    runner_options.print = [](const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    LaunchRunner runner(std::move(runner_options));
    for (int i = 0; i < recipe_.recipe.launch_size(); ++i) {
      HEDDLE_RETURN_IF_ERROR(SetSymbols(i));
      for (uint32_t r = 0; r < std::max(1u, recipe_.recipe.launch(i).repeat()); ++r) {
        HEDDLE_RETURN_IF_ERROR(RecordLaunch(i, runner));
      }
    }
    const trace::WriterTotals& totals = writer_->totals();
    uint64_t counted = runner.instructions() - unrecorded_instructions_;
    if (totals.thread_instructions != counted) {
      return absl::InternalError(absl::StrCat("the trace holds ", totals.thread_instructions,
                                              " thread-instructions, but ", counted, " were counted"));
    }
    summary_.blocks = totals.blocks;
    summary_.threads = totals.threads;
    summary_.thread_instructions = totals.thread_instructions;
    summary_.accesses = totals.accesses;
    summary_.warnings.insert(summary_.warnings.end(), runner.warnings().begin(), runner.warnings().end());
    if (runner.parallel() != nullptr) {
      summary_.ranges_committed = runner.parallel()->counts().committed;
      summary_.ranges_discarded = runner.parallel()->counts().discarded;
    }
    if (options_.progress) absl::FPrintF(stderr, "\r\033[K");
    return absl::OkStatus();
  }

  absl::Status RecordLaunch(int index, LaunchRunner& runner) {
    const recipe::v1::Launch& launch = recipe_.recipe.launch(index);
    Kernel& kernel = *kernels_[launch.kernel()];
    if (kernel.program == nullptr) {
      HEDDLE_ASSIGN_OR_RETURN(auto program, writer_->AddProgram(kernel.unit.program));
      kernel.program = program;
    }
    const PreparedLaunch& prepared = launches_[static_cast<size_t>(index)];
    Geometry geometry = prepared.geometry;
    geometry.grid_id = static_cast<uint32_t>(summary_.launches);
    trace::v1::Launch record = DescribeLaunch(geometry, *memory_);
    record.set_program(kernel.program->id());
    if (summary_.launches > 0) record.add_depends_on(static_cast<uint32_t>(summary_.launches - 1));
    record.set_recorded(!launch.unrecorded());
    if (resident_blocks_ > 1) {
      record.set_resident_blocks(LiveBlocks(resident_blocks_, geometry, kernel.recorded.uses_local));
    }
    HEDDLE_RETURN_IF_ERROR(writer_->BeginLaunch(std::move(record)));
    std::vector<const void*> arguments = PlaceArguments(kernel.recorded, prepared.parameters);
    uint64_t before = runner.instructions();
    runner.SetBounds(memory_->allocations(), &kernel.unit.program);
    const LaunchForm form = {&kernel.recorded, kernel.recorded_code->entry(), arguments};
    const BlockStretch all = {0, geometry.blocks(), !launch.unrecorded()};
    if (launch.unrecorded()) {
      absl::Status status = runner.Run(&form, &form, {&all, 1}, geometry, &kernel.unit.program, nullptr);
      if (!status.ok()) return status;
      ++summary_.launches;
      unrecorded_instructions_ += runner.instructions() - before;
      return absl::OkStatus();
    }
    HEDDLE_ASSIGN_OR_RETURN(trace::v1::Certificate certificate, Certify(kernel, arguments.data(), geometry));
    LaunchValidity validity(kernel.recorded, *kernel.program, geometry, options_.lockstep);
    if (options_.allow_bounds) validity.CountOutsideReads(memory_->allocations());
    runner.SetObserver(validity.observer());
    absl::Status status = runner.Run(&form, &form, {&all, 1}, geometry, &kernel.unit.program, writer_.get());
    runner.SetObserver(nullptr);
    if (!status.ok()) return status;
    for (const std::string& warning : validity.Warnings(certificate)) Warn(warning);
    if (status = writer_->EndLaunch(); !status.ok()) return status;
    certificate.set_launch(static_cast<uint32_t>(summary_.launches++));
    if (!validity.Complete(certificate)) return absl::OkStatus();
    has_certificates_ = true;
    return writer_->AddCertificate(certificate);
  }

  // What other orders change, if that is asked for.
  absl::StatusOr<trace::v1::Certificate> Certify(const Kernel& kernel, const void* const* arguments,
                                                 const Geometry& geometry) {
    if (options_.certify == 0) return trace::v1::Certificate();
    CertifyOptions options;
    options.runs = options_.certify;
    options.folder = std::filesystem::path(options_.output).parent_path().string();
    options.max_instructions = options_.max_instructions;
    options.lockstep = options_.lockstep;
    options.allow_outside_reads = options_.allow_bounds;
    absl::StatusOr<trace::v1::Certificate> certificate =
        CertifyLaunch({kernel.recorded, kernel.recorded_code->entry(), arguments, geometry, *kernel.program, nullptr},
                      options, *memory_, heap_.get());
    if (certificate.ok() && !certificate->failure().empty()) {
      Warn(absl::StrCat("launch ", summary_.launches, ": ", certificate->runs() == 0 ? "not certified: " : "",
                        certificate->failure()));
    }
    return certificate;
  }

  void Warn(const std::string& text) {
    std::vector<std::string>& all = summary_.warnings;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }

  absl::Status Verify() {
    HEDDLE_RETURN_IF_ERROR(buffers_.CompareWithNative());
    if (options_.damage_output_of_check >= 0)
      buffers_.Damage(recipe_.recipe.check(options_.damage_output_of_check).buffer());
    return options_.check ? RunChecks(recipe_, buffers_.contents()) : absl::OkStatus();
  }

  RecipeFile recipe_;
  const CaptureOptions& options_;
  uint32_t resident_blocks_;  // of the recipe, or of the options if that is more
  CaptureSummary summary_;
  std::string source_digest_;
  std::string optimization_;
  std::string target_;
  bool uses_warps_ = false;
  uint64_t unrecorded_instructions_ = 0;
  std::unique_ptr<CanonicalModule> canonical_;
  std::unique_ptr<DeviceMemory> memory_;
  GlobalLayout globals_;
  std::unique_ptr<DeviceHeap> heap_;  // if a kernel uses it
  RecipeBuffers buffers_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  std::vector<PreparedLaunch> launches_;
  std::unique_ptr<trace::TraceWriter> writer_;
  bool has_certificates_ = false;
};

}  // namespace

absl::StatusOr<CaptureSummary> CaptureRecipe(const std::string& recipe_path, const CaptureOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(RecipeFile recipe, ReadRecipeFile(recipe_path));
  return RecipeRun(std::move(recipe), options).Run();
}

}  // namespace heddle::tracegen
