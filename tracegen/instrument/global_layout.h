// Where the variables of a device module live, and what they hold before the first launch.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_GLOBAL_LAYOUT_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_GLOBAL_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen {

// The name of a variable in the source, given its symbol in the module.
std::string SourceName(llvm::StringRef symbol);

// A `__device__` or `__constant__` variable.
struct PlacedGlobal {
  std::string symbol;  // in the module
  std::string name;    // as written in the source
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool constant = false;  // lies in the constant window
  bool managed = false;   // `__managed__`
  std::string contents;   // initial, `bytes` long
};

struct GlobalLayout {
  std::vector<PlacedGlobal> globals;
  uint64_t constant_bytes = 0;

  const PlacedGlobal* FindSymbol(const std::string& symbol) const;
  const PlacedGlobal* FindName(const std::string& name) const;  // source name or symbol
};

// Places every variable of the module outside shared memory: constants in the constant window, the others where
// `allocate(bytes, name)` says. `placed` holds what is there already: its variables keep their places, and constants go
// behind its constants. Errors: an initial value that cannot be formed (addresses of functions).
absl::StatusOr<GlobalLayout> PlaceGlobals(
    const llvm::Module& module,
    const std::function<absl::StatusOr<uint64_t>(uint64_t bytes, const std::string& name)>& allocate,
    GlobalLayout placed = {});

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_GLOBAL_LAYOUT_H_
