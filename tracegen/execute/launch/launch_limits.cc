#include "tracegen/execute/launch/launch_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

absl::Status CheckGeometry(const std::string& kernel, const KernelBounds& bounds, const Geometry& geometry) {
  for (int i = 0; i < 3; ++i) {
    if (geometry.grid[i] == 0 || geometry.block[i] == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(geometry.grid[i] == 0 ? "grid" : "block", " dimension ", i, " of kernel '", kernel, "' is 0"));
    }
    if (geometry.grid[i] > kMaxGrid[i]) {
      return absl::InvalidArgumentError(absl::StrCat("grid dimension ", i, " is ", geometry.grid[i], ", but at most ",
                                                     kMaxGrid[i], " blocks are possible"));
    }
    if (geometry.block[i] > kMaxBlock[i]) {
      return absl::InvalidArgumentError(absl::StrCat("block dimension ", i, " is ", geometry.block[i], ", but at most ",
                                                     kMaxBlock[i], " threads are possible"));
    }
  }
  const uint64_t threads = uint64_t{geometry.block[0]} * geometry.block[1] * geometry.block[2];
  if (threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("a block of ", threads, " threads, but at most ", kMaxThreads, " are possible"));
  }
  if (bounds.max_threads != 0 && threads > bounds.max_threads) {
    return absl::InvalidArgumentError(absl::StrCat("a block of ", threads, " threads, but kernel '", kernel,
                                                   "' is declared for at most ", bounds.max_threads,
                                                   " (__launch_bounds__)"));
  }
  const uint32_t* required = bounds.required_block;
  if (required[0] != 0 && !std::equal(required, required + 3, geometry.block)) {
    auto shape = [](const uint32_t* size) { return absl::StrCat("(", size[0], ",", size[1], ",", size[2], ")"); };
    return absl::InvalidArgumentError(absl::StrCat("a block of ", shape(geometry.block), " threads, but kernel '",
                                                   kernel, "' is declared for exactly ", shape(required),
                                                   " (reqd_work_group_size)"));
  }
  return absl::OkStatus();
}

absl::Status CheckShared(const std::string& kernel, uint64_t static_bytes, uint64_t dynamic_bytes) {
  if (static_bytes <= kMaxStaticShared && DynamicSharedStart(static_bytes) + dynamic_bytes <= kMaxShared) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("kernel '", trace::BriefKernelName(kernel), "' needs ", static_bytes,
                                                 " + ", dynamic_bytes,
                                                 " bytes of shared memory (static + dynamic), but a block has at most ",
                                                 kMaxStaticShared, " static and ", kMaxShared, " in all"));
}

}  // namespace heddle::tracegen
