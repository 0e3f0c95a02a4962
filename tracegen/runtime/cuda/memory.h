// Memory of the device: allocations, and copies within and across the window that host and device share.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_MEMORY_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_MEMORY_H_

#include <cstdint>

#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/cuda/timeline.h"

namespace heddle::cuda {

enum class MemoryKind { kDevice, kHost, kManaged, kRegistered, kArray, kInternal, kVirtual, kGraph };

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t base = 0;  // of the device's allocation, which begins earlier for kRegistered
  MemoryKind kind = MemoryKind::kDevice;
  unsigned int flags = 0;  // of cudaHostAlloc, cudaHostRegister
  uint64_t host = 0;       // kRegistered: the host's address
};

// Functions are called with the Guard held; `call` is the function of the API, for messages and traces.
cudaError_t Allocate(const char* call, uint64_t bytes, MemoryKind kind, uint64_t* address, unsigned int flags = 0);
// Errors: `address` is not the start of an allocation of this kind.
cudaError_t Free(const char* call, uint64_t address, MemoryKind kind);
// Enters an allocation that begins elsewhere than the device's one.
void Track(const Allocation& allocation);
// Takes it off the list again, as Free does, without giving the memory back.
void Forget(uint64_t address);
// Everything that the program has allocated and not freed.
void FreeAll();
// The allocation that `address` lies in, or null.
const Allocation* FindAllocation(uint64_t address);
// The registered host memory that a pointer of the host lies in, or null.
const Allocation* FindRegistered(uint64_t host);

// Whether a copy may touch these bytes of device memory: they belong to one allocation or variable, or to memory that
// is mapped side by side.
bool IsValidRange(uint64_t address, uint64_t bytes);

// Rows of a copy or fill: `rows` times `bytes`, `pitch` apart, `slices` times `slice_bytes` apart.
struct Block {
  uint64_t bytes = 0;
  uint64_t rows = 1;
  uint64_t slices = 1;
};
struct Layout {
  void* start = nullptr;
  uint64_t pitch = 0;
  uint64_t slice_bytes = 0;
};

struct CopyWork {
  Layout to;
  Layout from;
  Block block;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
struct FillWork {
  Layout to;
  unsigned int value = 0;
  int value_bytes = 1;  // 1, 2 or 4; the lowest of `value`
  Block block;
};

// Whether there is nothing to do.
inline bool IsEmpty(const Block& block) { return block.bytes == 0 || block.rows == 0 || block.slices == 0; }

// Copies or fills at once, and tells the trace. `stream`: its number. `duration_ns`: what the device takes for it.
cudaError_t Perform(const char* call, const CopyWork& work, uint64_t stream, uint64_t* duration_ns);
cudaError_t Perform(const char* call, const FillWork& work, uint64_t stream, uint64_t* duration_ns);

// The same as work of a stream, which may be captured. `synchronous`: the host waits.
cudaError_t Copy(const char* call, Layout to, Layout from, Block block, cudaMemcpyKind kind, cudaStream_t stream,
                 bool synchronous);
cudaError_t Fill(const char* call, Layout to, int value, int value_bytes, Block block, cudaStream_t stream);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_MEMORY_H_
