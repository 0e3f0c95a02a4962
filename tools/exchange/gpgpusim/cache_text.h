// How GPGPU-Sim writes a cache: "32:128:4,L:L:m:N:H,A:32:8,8", with changes from version to version. (The development
// between 3.1 and 3.2 had colons throughout: "32:128:4:L:B:m:A:N:32:8:8", for a time with a letter before the N.)
#ifndef HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_CACHE_TEXT_H_
#define HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_CACHE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::tools {

// Letters are those of the text; 0 where it has none.
struct CacheText {
  // Up to 3.1: a data cache does the same whatever `write` says: global stores drop the line and go on, local ones are
  // written back (the last of these versions took an E for those, too).
  bool one_way_to_write = false;

  bool none = false;     // "none": there is no such cache
  bool sectors = false;  // 4.x, "S:": lines of four sectors of 32 bytes
  uint64_t sets = 0;
  uint64_t line_bytes = 0;
  uint64_t ways = 0;
  char replacement = 0;  // L least recently used, F first in first out
  char write = 0;        // R read only, B write back, T write through, E write evict, L local back and global through
  char allocate = 0;     // m on a miss, f on the fill, s streaming
  char write_allocate = 0;  // N no, W write and read, F fetch on write, L fetch on a later read
  char set_index = 0;       // L in turn, others are hashes
  char mshr_kind = 0;       // A, S associative; F, T a texture cache's fragment queue
  uint64_t mshrs = 0;       // 0: the text does not say (2.x)
  uint64_t merges = 0;
  uint64_t miss_queue = 0;
  uint64_t data_port_bytes = 0;  // 0 = a line
};

inline constexpr char kCacheForm[] =
    "SETS:LINE BYTES:WAYS,REPLACEMENT:WRITE:ALLOCATE:WRITE ALLOCATE:SET INDEX,MSHR KIND:MSHRS:MERGES,MISS QUEUE "
    "(or SETS:LINE BYTES:WAYS:REPLACEMENT:WRITE:ALLOCATE,MSHR KIND:MSHRS:MERGES,MISS QUEUE of versions 3.0 and 3.1, or "
    "SETS:LINE BYTES:WAYS:REPLACEMENT of version 2.x, or none)";

// Nothing if the text is not of a form that some version reads.
std::optional<CacheText> ParseCacheText(const std::string& text);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_CACHE_TEXT_H_
