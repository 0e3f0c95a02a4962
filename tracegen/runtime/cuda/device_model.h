// What the device says it is: properties of a real one of the compute capability that the program was compiled for.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_DEVICE_MODEL_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_DEVICE_MODEL_H_

#include <cstddef>
#include <cstdint>

namespace heddle::cuda {

// From the CUDA C++ Programming Guide's table of technical specifications per compute capability, and from the data
// sheet of a card with it.
struct DeviceModel {
  int capability;  // 70 for 7.0
  const char* name;
  int multiprocessors;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int l2_bytes;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int shared_per_multiprocessor;    // bytes
  int shared_per_block_on_request;  // bytes
  int single_to_double_ratio;
};
// Equal on all models.
inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kRegisters = 65536;   // per multiprocessor and per block
inline constexpr int kRegisterUnit = 256;  // allocated per warp in units of
inline constexpr int kSharedUnit = 256;    // bytes
inline constexpr int kSharedPerBlock = 48 << 10;
inline constexpr int kTextureAlignment = 512;  // bytes
inline constexpr int kPitchAlignment = 512;    // of cudaMallocPitch; bytes

// A number of multiprocessors that the device is to have, for programs that fill it with blocks of which not all can be
// live at once here.
inline constexpr char kMultiprocessorsVariable[] = "HEDDLE_MULTIPROCESSORS";

// The card with the highest compute capability that is not above that of the program's device code. Ends the program if
// the environment variable holds no number from 1 to 1024.
const DeviceModel& ChosenDevice();

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_DEVICE_MODEL_H_
