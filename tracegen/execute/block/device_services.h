// What the runtime does for device code besides running it: prints, allocates, looks things up.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_DEVICE_SERVICES_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_DEVICE_SERVICES_H_

#include <cstdint>
#include <string>

#include "tracegen/execute/block/block_threads.h"
#include "tracegen/execute/block/runner_options.h"
#include "tracegen/execute/block/thread_places.h"
#include "tracegen/execute/launch/geometry.h"

namespace heddle::tracegen {

// ThreadContext::runner points to one: it is where generated code enters the runtime (runtime_functions.cc).
class DeviceServices {
 public:
  // All must outlive the object.
  DeviceServices(const RunnerOptions& options, const Geometry& geometry, const ThreadPlaces& places,
                 BlockThreads& threads)
      : options_(options), geometry_(geometry), places_(places), threads_(threads) {}

  // Whose running thread calls, and where it is.
  BlockThreads& threads() { return threads_; }
  const ThreadPlaces& places() const { return places_; }

  void Print(const std::string& text) const {
    if (options_.print) options_.print(text);
  }
  // The address of memory from the heap; 0: there is none left.
  uint64_t Allocate(uint64_t bytes) const { return options_.heap != nullptr ? options_.heap->Allocate(bytes) : 0; }
  // The thread fails if malloc has not returned this address, or it has been freed; 0 is always right.
  void Free(uint32_t site, uint64_t address);
  // The thread fails unless all blocks of the launch are live at once: for barriers of the whole grid.
  void RequireResidentGrid(uint32_t site);

 private:
  const RunnerOptions& options_;
  const Geometry& geometry_;
  const ThreadPlaces& places_;
  BlockThreads& threads_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_DEVICE_SERVICES_H_
