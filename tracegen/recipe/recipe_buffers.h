// The buffers of a recipe: on the host as they were, in device memory as kernels leave them.
#ifndef HEDDLE_TRACEGEN_RECIPE_RECIPE_BUFFERS_H_
#define HEDDLE_TRACEGEN_RECIPE_RECIPE_BUFFERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/execute/memory/device_memory.h"
#include "tracegen/recipe/output_check.h"
#include "tracegen/recipe/recipe_file.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

class RecipeBuffers {
 public:
  // Makes the contents and places them in device memory, which has to outlive the buffers. Errors: the buffer's place
  // in the recipe, and why it cannot be made; this machine's memory is too small; an interrupt.
  static absl::StatusOr<RecipeBuffers> Make(const RecipeFile& recipe, DeviceMemory& memory);

  // Address in device memory; 0 for a name that the recipe does not have.
  uint64_t AddressOf(const std::string& name) const;
  const std::vector<BufferContents>& contents() const { return contents_; }

  // Device memory as it is before the first launch.
  void Reset();
  // Writes that all buffers were filled or copied to the device.
  absl::Status RecordTransfers(const RecipeFile& recipe, trace::TraceWriter& writer) const;

  // Keeps what a run without recording has left in device memory.
  void KeepNativeResults();
  // Errors: a buffer that differs from what was kept, and the first element that does.
  absl::Status CompareWithNative() const;
  // Breaks the middle of a buffer, whatever its type, so that checks of it have to fail. A second call mends it.
  void Damage(const std::string& name);

 private:
  std::vector<BufferContents> contents_;
  std::map<std::string, uint64_t> addresses_;
  std::vector<std::string> native_results_;  // by buffer; empty: none were kept
};

// Writes a copy between host and device, or a fill.
absl::Status RecordTransfer(trace::v1::Transfer::Direction direction, uint64_t address, uint64_t bytes,
                            trace::TraceWriter& writer);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_RECIPE_BUFFERS_H_
