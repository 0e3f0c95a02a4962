#include "replay/memory/network/crossbar_core.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::replay {

CrossbarCore::CrossbarCore(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network)
    : speedup_(network.input_speedup()),
      input_capacity_(network.input_buffer_flits()),
      output_capacity_(network.output_buffer_flits()),
      fifo_inputs_(network.fifo_inputs()),
      queues_per_buffer_(fifo_inputs_ ? 1 : outputs),
      reserves_(!network.no_message_reservation()),
      outputs_(outputs),
      room_made_(inputs),
      arrived_(outputs) {
  const uint32_t buffers = inputs * speedup_;
  for (uint32_t output = 0; output < outputs; ++output) lane_of_output_.push_back(output % speedup_);
  for (uint32_t buffer = 0; buffer < buffers; ++buffer) input_of_buffer_.push_back(buffer / speedup_);
  input_credits_.assign(buffers, input_capacity_);
  for (Output& output : outputs_) output.credits = output_capacity_;
  messages_.resize(size_t{buffers} * input_capacity_);
  for (size_t i = 0; i < messages_.size(); ++i) {
    const uint32_t index = i % input_capacity_;
    messages_[i].next = index + 1 == input_capacity_ ? kNone : index + 1;
  }
  free_.assign(buffers, 0);
  queues_.resize(size_t{buffers} * queues_per_buffer_);
  arrivals_.resize(size_t{outputs} * output_capacity_);
}

bool CrossbarCore::Enqueue(uint32_t buffer, uint32_t output, const MemoryRequest& request, uint32_t flits,
                           uint64_t first_edge) {
  Settle(first_edge);
  if (input_credits_[buffer] == input_capacity_) ++occupied_buffers_;
  input_credits_[buffer] -= flits;
  ++under_way_;
  ++counters_.pushed;
  largest_ = std::max(largest_, flits);

  const uint16_t index = free_[buffer];
  Message& message = MessageAt(buffer, index);
  free_[buffer] = message.next;
  message = {.request = request,
             .first_edge = first_edge,
             .flits = static_cast<uint16_t>(flits),
             .output = static_cast<uint16_t>(output),
             .next = kNone};
  Queue& queue = QueueOf(buffer, output);
  if (queue.first == kNone) {
    queue = {.first = index, .last = index, .left = message.flits};
    return true;
  }
  MessageAt(buffer, queue.last).next = index;
  queue.last = index;
  return false;
}

const CrossbarCore::Message* CrossbarCore::FinishHead(uint32_t buffer, uint32_t output, uint64_t edge) {
  Queue& queue = QueueOf(buffer, output);
  const uint16_t index = queue.first;
  Message& message = MessageAt(buffer, index);

  Output& out = outputs_[output];
  uint32_t place = out.first + out.whole++;
  if (place >= output_capacity_) place -= output_capacity_;
  arrivals_[size_t{output} * output_capacity_ + place] = {message.request, message.flits};
  arrived_.Insert(output);
  const uint64_t latency = edge + 1 - message.first_edge;
  ++counters_.messages;
  counters_.latency += latency;
  ++counters_.latency_histogram[std::min<int>(std::bit_width(latency) - 1, counters_.latency_histogram.size() - 1)];

  queue.first = message.next;
  message.next = free_[buffer];
  free_[buffer] = index;
  if (queue.first == kNone) return nullptr;
  const Message& next = MessageAt(buffer, queue.first);
  queue.left = next.flits;
  return &next;
}

void CrossbarCore::TakeWhole(uint32_t output, uint64_t next_edge) {
  Settle(next_edge);
  Output& out = outputs_[output];
  out.credits += arrivals_[size_t{output} * output_capacity_ + out.first].flits;
  out.first = out.first + 1 == output_capacity_ ? 0 : out.first + 1;
  --out.whole;
  --under_way_;
}

absl::Status CrossbarCore::CheckDrained(const std::string& name) const {
  if (under_way_ != 0) {
    return absl::InternalError(absl::StrCat(name, ": ", under_way_, " messages are still under way at the end."));
  }
  for (size_t buffer = 0; buffer < input_credits_.size(); ++buffer) {
    if (input_credits_[buffer] != input_capacity_) {
      return absl::InternalError(absl::StrFormat("%s: input %d, buffer %d has %d of %d credits at the end.", name,
                                                 buffer / speedup_, buffer % speedup_, input_credits_[buffer],
                                                 input_capacity_));
    }
  }
  for (size_t output = 0; output < outputs_.size(); ++output) {
    if (outputs_[output].credits != output_capacity_) {
      return absl::InternalError(absl::StrFormat("%s: output %d has %d of %d credits at the end.", name, output,
                                                 outputs_[output].credits, output_capacity_));
    }
  }
  if (counters_.pushed != counters_.messages) {
    return absl::InternalError(
        absl::StrFormat("%s: %d messages were pushed, but %d arrived.", name, counters_.pushed, counters_.messages));
  }
  return absl::OkStatus();
}

std::string CrossbarCore::Explain(const std::string& name) const {
  std::string text;
  for (size_t buffer = 0; buffer < input_credits_.size(); ++buffer) {
    if (input_credits_[buffer] == input_capacity_) continue;
    absl::StrAppendFormat(&text, "%s: input %d, buffer %d: %d of %d flits, for output", name, buffer / speedup_,
                          buffer % speedup_, input_capacity_ - input_credits_[buffer], input_capacity_);
    for (size_t i = 0; i < queues_per_buffer_; ++i) {
      const Queue& queue = queues_[buffer * queues_per_buffer_ + i];
      if (queue.first == kNone) continue;
      absl::StrAppend(&text, " ", messages_[buffer * input_capacity_ + queue.first].output);
    }
    absl::StrAppend(&text, "\n");
  }
  for (size_t output = 0; output < outputs_.size(); ++output) {
    const Output& out = outputs_[output];
    if (out.credits == output_capacity_) continue;
    absl::StrAppendFormat(&text, "%s: output %d: %d of %d flits taken or reserved, %d whole messages%s\n", name, output,
                          output_capacity_ - out.credits, output_capacity_, out.whole,
                          out.state == OutputState::kBlocked ? ", no room for what is sent to it" : "");
  }
  return text;
}

}  // namespace heddle::replay
