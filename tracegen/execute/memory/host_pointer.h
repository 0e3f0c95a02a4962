// Device memory lies where its addresses say, in this process too.
#ifndef HEDDLE_TRACEGEN_EXECUTE_MEMORY_HOST_POINTER_H_
#define HEDDLE_TRACEGEN_EXECUTE_MEMORY_HOST_POINTER_H_

#include <cstdint>

namespace heddle::tracegen {

inline void* HostPointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_MEMORY_HOST_POINTER_H_
