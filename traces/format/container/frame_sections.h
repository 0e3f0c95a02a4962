// Where the contents of a frame change their kind.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_SECTIONS_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_SECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace heddle::trace {

struct FrameSections {
  // Positions in a frame's contents, ascending, at which a Zstandard block should end: in front of and behind the large
  // byte fields of a chunk. A block has one Huffman table; bit lengths, of which few differ, and the bits that belong
  // to them, which are random, must not share one.
  std::vector<size_t> ends;
  size_t random_bytes = 0;           // in layout BITS, below the leading ones: nothing can be saved there
  uint64_t thread_instructions = 0;  // of the chunks
  uint64_t chunks = 0;

  // Whether most of `raw_bytes` is bits that no level makes smaller.
  bool MostlyRandom(size_t raw_bytes) const { return random_bytes * 3 > raw_bytes; }
};

// Contents that are no chunks, or no records, have no sections.
FrameSections FindFrameSections(absl::string_view raw);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_SECTIONS_H_
