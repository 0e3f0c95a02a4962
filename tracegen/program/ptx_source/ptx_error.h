// Errors that show an instruction of a PTX module.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PTX_ERROR_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PTX_ERROR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// "line 12: WHAT: THE TEXT".
absl::Status PtxError(const ptx::Module& module, const ptx::Function& function, uint32_t line,
                      const ptx::Instruction& instruction, absl::string_view what);

// The error with the name of its text in front, if the module is linked from several.
absl::Status InPart(const ptx::Module& module, uint32_t part, const absl::Status& status);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PTX_ERROR_H_
