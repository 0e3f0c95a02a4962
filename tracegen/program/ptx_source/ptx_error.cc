#include "tracegen/program/ptx_source/ptx_error.h"

#include "absl/strings/str_cat.h"
#include "tracegen/ptx/syntax/print.h"

namespace heddle::tracegen {

absl::Status PtxError(const ptx::Module& module, const ptx::Function& function, uint32_t line,
                      const ptx::Instruction& instruction, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("PTX line ", line, ": ", what, ": ", ptx::Print(module, function, instruction)));
}

absl::Status InPart(const ptx::Module& module, uint32_t part, const absl::Status& status) {
  if (status.ok() || module.parts.empty()) return status;
  return absl::Status(status.code(), absl::StrCat(module.parts[part], ": ", status.message()));
}

}  // namespace heddle::tracegen
