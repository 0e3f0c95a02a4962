#include "traces/format/container/shared_frames.h"

#include <algorithm>
#include <vector>

namespace heddle::trace {
namespace {

// Replaces every number of the index but those of chunks.
template <typename Replace>
void ReplaceNumbers(v1::Index& index, const Replace& replace) {
  for (auto* numbers : {index.mutable_program_frame(), index.mutable_launch_frame(), index.mutable_launch_end_frame(),
                        index.mutable_other_frame()}) {
    for (uint64_t& number : *numbers) number = replace(number);
  }
}

uint64_t CountBelow(std::span<const uint64_t> sorted, uint64_t limit) {
  return static_cast<uint64_t>(std::lower_bound(sorted.begin(), sorted.end(), limit) - sorted.begin());
}

}  // namespace

void RecordsToFrames(std::span<const uint64_t> shared, v1::Index& index) {
  if (shared.empty()) return;
  const auto frame_of = [&](uint64_t record) { return record - CountBelow(shared, record + 1); };
  ReplaceNumbers(index, frame_of);
  for (v1::ChunkReference& chunk : *index.mutable_chunk()) chunk.set_frame(frame_of(chunk.frame()));
}

void FramesToRecords(v1::Index& index) {
  std::vector<uint64_t> further;  // frame of each chunk that is not the first in it
  for (int i = 1; i < index.chunk_size(); ++i) {
    if (index.chunk(i).frame() == index.chunk(i - 1).frame()) further.push_back(index.chunk(i).frame());
  }
  if (further.empty()) return;
  std::sort(further.begin(), further.end());
  const auto first_record = [&](uint64_t frame) { return frame + CountBelow(further, frame); };
  ReplaceNumbers(index, first_record);
  uint64_t frame = 0;
  uint64_t place = 0;
  for (int i = 0; i < index.chunk_size(); ++i) {
    v1::ChunkReference& chunk = *index.mutable_chunk(i);
    place = i > 0 && chunk.frame() == frame ? place + 1 : 0;
    frame = chunk.frame();
    chunk.set_frame(first_record(frame) + place);
  }
}

}  // namespace heddle::trace
