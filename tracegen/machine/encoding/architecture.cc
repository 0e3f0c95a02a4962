#include "tracegen/machine/encoding/architecture.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "traces/base/printable.h"

namespace heddle::tracegen::machine {

std::string ArchitectureName(Architecture architecture) { return absl::StrCat("sm_", static_cast<int>(architecture)); }

absl::StatusOr<Architecture> ArchitectureOf(std::string_view name) {
  for (const Architecture architecture : kArchitectures) {
    if (name == ArchitectureName(architecture)) return architecture;
  }
  return absl::InvalidArgumentError(absl::StrCat("machine code of '", CutText(Printable(name), 40),
                                                 "' cannot be read: take sm_75, sm_80, sm_86 or sm_90"));
}

}  // namespace heddle::tracegen::machine
