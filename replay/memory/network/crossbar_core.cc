#include "replay/memory/network/crossbar_core.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {

CrossbarCore::CrossbarCore(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network)
    : reserves_(!network.no_message_reservation()),
      inputs_(inputs, outputs, network),
      outputs_(outputs, network.output_buffer_flits()),
      room_made_(inputs),
      arrived_(outputs) {}

bool CrossbarCore::Enqueue(uint32_t buffer, uint32_t output, const MemoryRequest& request, uint32_t flits,
                           uint64_t first_edge) {
  Settle(first_edge);
  ++under_way_;
  ++counters_.pushed;
  largest_ = std::max(largest_, flits);
  return inputs_.Push(buffer, output, request, flits, first_edge);
}

const InputBuffers::Message* CrossbarCore::FinishHead(uint32_t buffer, uint32_t output, uint64_t edge) {
  InputBuffers::Queue& queue = inputs_.QueueOf(buffer, output);
  const InputBuffers::Message& message = inputs_.HeadOf(buffer, queue);
  outputs_.Arrive(output, message.request, message.flits);
  arrived_.Insert(output);
  const uint64_t latency = edge + 1 - message.first_edge;
  ++counters_.messages;
  counters_.latency += latency;
  ++counters_.latency_histogram[std::min<int>(std::bit_width(latency) - 1, counters_.latency_histogram.size() - 1)];
  return inputs_.PopHead(buffer, queue);
}

void CrossbarCore::TakeWhole(uint32_t output, uint64_t next_edge) {
  Settle(next_edge);
  outputs_.Pop(output);
  --under_way_;
}

absl::Status CrossbarCore::CheckDrained(const std::string& name) const {
  if (under_way_ != 0) {
    return absl::InternalError(absl::StrCat(name, ": ", under_way_, " messages are still under way at the end."));
  }
  HEDDLE_RETURN_IF_ERROR(inputs_.CheckEmpty(name));
  HEDDLE_RETURN_IF_ERROR(outputs_.CheckEmpty(name));
  if (counters_.pushed != counters_.messages) {
    return absl::InternalError(
        absl::StrFormat("%s: %d messages were pushed, but %d arrived.", name, counters_.pushed, counters_.messages));
  }
  return absl::OkStatus();
}

}  // namespace heddle::replay
