// Large pages for what a thread works on.
#ifndef HEDDLE_TRACES_BASE_HUGE_PAGES_H_
#define HEDDLE_TRACES_BASE_HUGE_PAGES_H_

#include <cstddef>

namespace heddle {

// Asks the kernel to back the next `bytes` that this thread allocates with huge pages, as far as the allocator takes
// them from one place. The SMs of a machine are some megabytes in which every simulated cycle touches a little
// everywhere: with pages of 4 KB most of that misses the host's translation buffers. Decoded chunks are megabytes that
// are touched for the first time: 512 faults become one. This is advice, without which everything works as well; it
// does nothing where C library or kernel do not know it. Cheap to repeat.
void PreferHugePages(size_t bytes);

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_HUGE_PAGES_H_
