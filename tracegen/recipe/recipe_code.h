// A recipe's source, compiled: its kernels and variables.
#ifndef HEDDLE_TRACEGEN_RECIPE_RECIPE_CODE_H_
#define HEDDLE_TRACEGEN_RECIPE_RECIPE_CODE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/code/kernel_code.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/instrument/global_layout.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/program/static_program.h"
#include "tracegen/recipe/machine_code.h"
#include "tracegen/recipe/recipe_file.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// A kernel in both forms.
struct RecipeKernel {
  KernelUnit unit;
  KernelCode recorded;
  KernelCode native;                        // made only for comparisons
  const trace::Program* program = nullptr;  // once it is in the trace
};

// How the recipe asks its source to be compiled, as PTX of our own.
CompileOptions CompileOptionsOf(const RecipeFile& file);

class RecipeCode {
 public:
  // Compiles the recipe's source. `machine`: to machine code, which is what runs then; null: PTX is. Errors: those of
  // the compiler, of CompileToMachineCode, and of what capture does not support.
  static absl::StatusOr<RecipeCode> Compile(const RecipeFile& recipe, const MachineLevel* machine = nullptr);

  // The PTX of the code, as a source of its own.
  std::string Ptx() const;
  // Gives the module's variables a place in memory, which must happen before kernels are made.
  absl::Status PlaceVariables(DeviceMemory& memory);
  // The kernel of launch `index`, made at the first call with its name in the recorded form, and `with_native` in the
  // other one too. `is_new`: it has just been made. Errors name the recipe's line where there is no such kernel, and
  // the construct that is not supported.
  absl::StatusOr<RecipeKernel*> MakeKernel(const RecipeFile& recipe, int index, const KernelForm& form,
                                           bool with_native, bool* is_new);
  // A kernel that has been made.
  RecipeKernel& kernel(const std::string& name) { return *kernels_.at(name); }
  // The variable with this name in the source; null if there is none.
  const PlacedGlobal* FindVariable(const std::string& name) const { return globals_.FindName(name); }

  // The PTX that the static programs were read from.
  const std::string& ptx() const { return canonical_->ptx; }
  // Whether the instruction of that number, which is its line in the PTX, was made volatile by us.
  bool MadeVolatile(uint32_t number) const { return canonical_->made_volatile.contains(number); }

  // What of the recipe has no meaning for its code, to be told.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Gives all variables their contents from before the first launch.
  void ResetVariables() const;
  // Puts into the header of the trace what it says about the code.
  void Describe(trace::v1::FileHeader& header) const;

 private:
  RecipeCode() = default;
  bool is_machine_code() const;

  std::string source_digest_;
  std::string optimization_;
  std::string target_;
  std::string ptx_producer_;  // of machine code: who made the PTX that was assembled
  std::vector<std::string> warnings_;
  uint32_t minor_version_ = 0;  // that the kernels need
  bool uses_warps_ = false;
  std::unique_ptr<CanonicalModule> canonical_;
  GlobalLayout globals_;
  std::map<std::string, std::unique_ptr<RecipeKernel>> kernels_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_RECIPE_CODE_H_
