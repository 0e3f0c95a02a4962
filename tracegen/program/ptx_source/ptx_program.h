// PTX that has been read: one text, or several that are linked, of which kernels are lowered when they are needed.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PTX_PROGRAM_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PTX_PROGRAM_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/program/ptx_source/lower_module.h"
#include "tracegen/program/static_program.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

struct PtxText {
  std::string name;  // of its file, for messages and source lines
  std::string_view text;
};

class PtxProgram {
 public:
  // Parses and links, which checks every line. Bodies of kernels are looked at when they are lowered: a kernel with
  // instructions that cannot be executed does no harm until then. Errors: InvalidArgument with the text's name and
  // line; see ModuleLinker for those of linking.
  static absl::StatusOr<PtxProgram> Read(const std::vector<PtxText>& texts);
  // Parses only: what the text declares may be nowhere.
  static absl::Status Check(const PtxText& text);

  // Names of the kernels, in the order of the text.
  std::vector<std::string> kernels() const;
  // Whether it takes addresses of functions. These depend on which functions are lowered, so that all must be.
  bool takes_addresses() const { return takes_addresses_; }
  // "sm_75"; empty if no text says it.
  std::string target() const { return std::string(module_.Architecture()); }
  const ptx::Module& module() const { return module_; }

  // See DeclarePtx and LowerPtx, also for errors. NotFound: no such kernel.
  absl::StatusOr<CanonicalModule> Declare() const;
  absl::StatusOr<CanonicalModule> Lower() const;
  absl::StatusOr<CanonicalModule> LowerKernel(std::string_view kernel) const;

 private:
  PtxProgram() = default;
  absl::StatusOr<CanonicalModule> Lower(const WantedFunctions& wanted) const;

  ptx::Module module_;
  std::string name_;
  std::string sha256_;    // of the texts, one behind the other
  std::string producer_;  // of the texts
  bool takes_addresses_ = false;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PTX_PROGRAM_H_
