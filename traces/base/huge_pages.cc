#include "traces/base/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace heddle {

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kBlock = size_t{30} << 20;
constexpr int kFromHeap = 32 << 20;  // allocations below this come from the heap: the most that glibc takes
constexpr int kKept = 512 << 20;     // free bytes at the end of the heap that are not given back

}  // namespace

// Takes blocks from the heap, advises the kernel about them before they are touched, and gives them back to the heap:
// what is allocated next lies there. GLIBC_TUNABLES=glibc.malloc.hugetlb=1 does the same for a whole process.
void PreferHugePages(size_t bytes) {
  thread_local size_t advised = 0;
  if (bytes <= advised) return;
  advised = bytes;
  static const bool from_heap = mallopt(M_MMAP_THRESHOLD, kFromHeap) != 0 && mallopt(M_TRIM_THRESHOLD, kKept) != 0;
  if (!from_heap) return;
  std::vector<void*> blocks;
  for (size_t taken = 0; taken < bytes; taken += kBlock) {
    void* const block = std::malloc(kBlock);
    if (block == nullptr) break;
    blocks.push_back(block);
    const auto address = reinterpret_cast<uintptr_t>(block);
    const uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
    const uintptr_t end = (address + kBlock) / kHugePage * kHugePage;
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  }
  std::for_each(blocks.rbegin(), blocks.rend(), std::free);
}
#else
void PreferHugePages(size_t /*bytes*/) {}
#endif

}  // namespace heddle
