// Device code that an application has loaded: its kernels, compiled when they are first needed, and its variables.
#ifndef HEDDLE_TRACEGEN_APPLICATION_LOADED_MODULE_H_
#define HEDDLE_TRACEGEN_APPLICATION_LOADED_MODULE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/application/module_source.h"
#include "tracegen/application/recording.h"
#include "tracegen/execute/code/kernel_code.h"
#include "tracegen/instrument/global_layout.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/program/static_program.h"
#include "tracegen/runtime/protocol/device_types.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// A kernel that can be launched.
struct LoadedKernel {
  device::KernelInfo info;
  const CanonicalModule* canonical = nullptr;  // the code it is part of
  KernelUnit unit;
  KernelCode recorded;  // made by LoadedModule::Code, code is null before
  KernelCode native;
  // In the trace, once it is there: by the function of a closed library that a launch stands for.
  std::map<std::string, uint32_t> numbers;
  std::unique_ptr<trace::Program> program;  // `unit.program`, once the kernel is recorded
};

// One module of an application.
class LoadedModule {
 public:
  using Allocate = std::function<absl::StatusOr<uint64_t>(uint64_t bytes, const std::string& name)>;

  // Takes device code (see ModuleSource) and places its variables: constants behind the first `constant_bytes` of the
  // constant window, which grows. Initial values are in memory when this returns. Kernels of PTX are compiled when they
  // are needed; bitcode that LLVM or capture cannot handle as a whole is handled kernel by kernel: so a kernel that is
  // never launched does no harm. `binary`: see ModuleSource::Make. `architecture`: kernels run as machine code of this
  // card (sm_80), whose registers the assembler counts; empty: as PTX.
  // Errors: variables that do not fit or whose initial value cannot be formed; a kernel whose parameters cannot be
  // passed; those of ModuleSource.
  static absl::StatusOr<std::unique_ptr<LoadedModule>> Load(const std::vector<device::ModuleImage>& images,
                                                            const device::ModuleOptions& options,
                                                            const Allocate& allocate, uint64_t* constant_bytes,
                                                            std::string* binary, const std::string& architecture);

  // What the host sees; kernels as they were found, without what compiling tells.
  const std::vector<device::KernelInfo>& kernels() const { return kernel_infos_; }
  std::vector<device::VariableInfo> Variables() const;
  // Name and target as they hold, whoever told them.
  const device::ModuleOptions& options() const { return options_; }
  // Compute capability that it was compiled for, such as 70.
  uint32_t capability() const;
  // What a trace's header says about the module, as far as it is known before a kernel is needed; about a kernel, with
  // the source files in the order that its instructions count.
  CodeFacts Facts() const;
  CodeFacts Facts(const LoadedKernel& kernel) const;

  // The kernel with the static program and everything in `info`. NotFoundError lists the kernels there are;
  // UnimplementedError names the construct that capture does not support and its source line.
  absl::StatusOr<LoadedKernel*> Kernel(const std::string& name);

  // Its code in one form, compiled at the first call. All but `record` must be the same in all calls.
  absl::StatusOr<KernelCode*> Code(LoadedKernel& kernel, const KernelForm& made_as);

 private:
  LoadedModule() = default;
  absl::Status Describe(const llvm::Module& module);
  absl::Status Place(const llvm::Module& module);
  // Adds a canonical form, of the whole module or of one kernel of it.
  absl::StatusOr<const CanonicalModule*> MakeCanonical(absl::StatusOr<CanonicalModule> canonical);

  std::unique_ptr<ModuleSource> source_;
  std::string architecture_;  // of the machine code; empty: it is PTX
  device::ModuleOptions options_;
  Allocate allocate_;
  uint64_t* constant_bytes_ = nullptr;
  std::vector<device::KernelInfo> kernel_infos_;
  GlobalLayout globals_;
  bool takes_addresses_ = false;  // of functions
  // Why there is no canonical form of the whole module.
  absl::Status whole_ = absl::UnavailableError("kernels are compiled one by one");
  std::vector<std::unique_ptr<CanonicalModule>> canonical_;      // the whole module, or one per kernel
  std::map<std::string, std::unique_ptr<LoadedKernel>> loaded_;  // by name
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_LOADED_MODULE_H_
