// Samples from which models are scored.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_SAMPLER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/format/columns/models/encoder_columns.h"

namespace heddle::trace {

// Records accesses of some threads, with the latest addresses of what they may count from. Buffers are reused from
// chunk to chunk.
class AddressSampler {
 public:
  // Fills EncoderColumn::sample of the columns that have possible references, and the samples of the chains that they
  // may belong to.
  void Sample(EncoderColumns& columns);

 private:
  // Latest address of a possible chain.
  struct ChainTrack {
    uint64_t latest = 0;
    uint32_t state = 0;
    bool known = false;  // threads in front were walked
  };

  void SampleThread(size_t thread, size_t most_samples, EncoderColumns& columns);

  std::vector<uint64_t> latest_;  // by column
  std::vector<ChainTrack> chains_;
  std::vector<uint64_t> room_;  // for addresses of a thread
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_ADDRESS_SAMPLER_H_
