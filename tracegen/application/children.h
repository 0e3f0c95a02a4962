// Launches that a kernel asks for: lines within what it prints, written by heddle_cuda_child.h.
#ifndef HEDDLE_TRACEGEN_APPLICATION_CHILDREN_H_
#define HEDDLE_TRACEGEN_APPLICATION_CHILDREN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace heddle::tracegen {

// How a launch begins within what is printed.
inline constexpr std::string_view kChildBegin = "\x1b]heddle;";
inline bool HasChildren(std::string_view printed) { return printed.find(kChildBegin) != std::string_view::npos; }

// How deep launches may be nested (CUDA C++ Programming Guide, "Dynamic Parallelism").
inline constexpr uint32_t kMostNested = 24;

struct ChildLaunch {
  std::string kernel;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint64_t shared_bytes = 0;
  uint64_t stream = 0;  // the handle in device code: threads of a block share it
  uint64_t parent_block = 0;
  uint32_t parent_thread = 0;
  uint64_t ordinal = 0;    // of the thread's own launches
  std::string parameters;  // whole words of eight bytes

  // In cudaStreamTailLaunch: behind all others of the grid.
  bool is_tail() const { return stream == 3; }
  // In cudaStreamFireAndForget: in no stream.
  bool is_free() const { return stream == 4; }
};

// Takes the launches out of `printed`, in the order in which they are to run: those of tails last. Errors: a line that
// is none, because not all that the kernel printed was kept, or because the program means to.
absl::Status TakeChildren(std::string& printed, std::vector<ChildLaunch>* children);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_CHILDREN_H_
