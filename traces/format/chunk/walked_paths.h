// What walks over the distinct paths of a chunk found.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_WALKED_PATHS_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_WALKED_PATHS_H_

#include <cstdint>
#include <vector>

namespace heddle::trace {

struct WalkedPaths {
  struct Path {
    uint64_t uses = 0;
    uint64_t first_access = 0;  // in sequence
    uint64_t first_column = 0;  // in columns
    uint32_t column_count = 0;
  };
  struct Column {
    uint64_t accesses = 0;  // of all threads
    uint64_t threads = 0;   // that run the instruction
    uint64_t most = 0;      // accesses of one thread
  };
  std::vector<Path> paths;
  std::vector<uint16_t> sequence;  // column of each access, path after path
  // Distinct columns of each path, and accesses of one thread of the path by each of them. Vectors may be longer.
  std::vector<uint16_t> columns;
  std::vector<uint32_t> counts;
  std::vector<Column> totals;  // by column (position in Program::accesses())
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_WALKED_PATHS_H_
