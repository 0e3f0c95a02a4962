// Launches that device code makes: clang has none, so they are written as calls of a function of the headers.
#ifndef HEDDLE_TOOLS_NVCC_DEVICE_LAUNCHES_H_
#define HEDDLE_TOOLS_NVCC_DEVICE_LAUNCHES_H_

#include <string>
#include <string_view>

namespace heddle::nvcc {

// `text` with `kernel<<<shape>>>(arguments)` in bodies of __global__ and __device__ functions written as
// `HeddleChild<decltype(&kernel), &kernel>({shape})(arguments)`, see heddle_cuda_child.h. With `by_arguments`, for
// C++17 and newer, `kernel` is the one among those of that name that the types of the arguments ask for. Lines stay.
// What is not understood stays too, and clang refuses it.
std::string WriteDeviceLaunches(std::string_view text, bool by_arguments);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_DEVICE_LAUNCHES_H_
