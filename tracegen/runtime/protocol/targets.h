// Device targets that kernels can be compiled for.
#ifndef HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_TARGETS_H_
#define HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_TARGETS_H_

namespace heddle::device {

// Compute capabilities that clang 19 generates code for and the device headers support: 70 stands for "sm_70".
inline constexpr int kComputeCapabilities[] = {30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_TARGETS_H_
