#include "replay/memory/network/input_buffers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::replay {

InputBuffers::InputBuffers(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network)
    : speedup_(network.input_speedup()),
      capacity_(network.input_buffer_flits()),
      fifo_(network.fifo_inputs()),
      queues_per_buffer_(fifo_ ? 1 : outputs) {
  const uint32_t buffers = inputs * speedup_;
  for (uint32_t output = 0; output < outputs; ++output) lane_of_output_.push_back(output % speedup_);
  for (uint32_t buffer = 0; buffer < buffers; ++buffer) input_of_buffer_.push_back(buffer / speedup_);
  credits_.assign(buffers, capacity_);
  messages_.resize(size_t{buffers} * capacity_);
  for (size_t i = 0; i < messages_.size(); ++i) {
    const uint32_t index = i % capacity_;
    messages_[i].next = index + 1 == capacity_ ? kNone : index + 1;
  }
  free_.assign(buffers, 0);
  queues_.resize(size_t{buffers} * queues_per_buffer_);
}

bool InputBuffers::Push(uint32_t buffer, uint32_t output, const MemoryRequest& request, uint32_t flits,
                        uint64_t first_edge) {
  if (credits_[buffer] == capacity_) ++occupied_;
  credits_[buffer] -= flits;

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

absl::Status InputBuffers::CheckEmpty(const std::string& name) const {
  for (size_t buffer = 0; buffer < credits_.size(); ++buffer) {
    if (credits_[buffer] == capacity_) continue;
    return absl::InternalError(absl::StrFormat("%s: input %d, buffer %d has %d of %d credits at the end.", name,
                                               buffer / speedup_, buffer % speedup_, credits_[buffer], capacity_));
  }
  return absl::OkStatus();
}

std::string InputBuffers::Explain(const std::string& name) const {
  std::string text;
  for (size_t buffer = 0; buffer < credits_.size(); ++buffer) {
    if (credits_[buffer] == capacity_) continue;
    absl::StrAppendFormat(&text, "%s: input %d, buffer %d: %d of %d flits, for output", name, buffer / speedup_,
                          buffer % speedup_, capacity_ - credits_[buffer], capacity_);
    for (size_t i = 0; i < queues_per_buffer_; ++i) {
      const Queue& queue = queues_[buffer * queues_per_buffer_ + i];
      if (queue.first == kNone) continue;
      absl::StrAppend(&text, " ", messages_[buffer * capacity_ + queue.first].output);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace heddle::replay
