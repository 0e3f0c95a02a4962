// The buffers at the inputs of a crossbar, with their queues of messages.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_INPUT_BUFFERS_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_INPUT_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// Each input has `input_speedup` buffers, and each output is served by one of them. A buffer keeps one queue per output
// (virtual output queues), or with `fifo_inputs` a single one. Its capacity is in flits: a message takes as many
// credits as it has flits, and gives one back with each flit that leaves. Storage is fixed at construction.
class InputBuffers {
 public:
  static constexpr uint16_t kNone = 0xffff;
  struct Message {
    MemoryRequest request;
    uint64_t first_edge = 0;  // that may move it
    uint16_t flits = 0;
    uint16_t output = 0;
    uint16_t next = 0;  // of its queue, or of the unused ones
  };
  struct Queue {
    uint16_t first = kNone;
    uint16_t last = kNone;
    uint16_t left = 0;  // flits of the head that have not moved yet
  };

  InputBuffers(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network);

  uint32_t BufferOf(uint32_t input, uint32_t output) const { return input * speedup_ + lane_of_output_[output]; }
  uint32_t InputOf(uint32_t buffer) const { return input_of_buffer_[buffer]; }
  // Whether a message of `flits` flits may enter.
  bool HasRoom(uint32_t input, uint32_t output, uint32_t flits) const {
    return credits_[BufferOf(input, output)] >= flits;
  }
  // Buffers that hold a flit.
  uint32_t occupied() const { return occupied_; }

  // Puts a message into its queue. Returns whether it has become the head.
  bool Push(uint32_t buffer, uint32_t output, const MemoryRequest& request, uint32_t flits, uint64_t first_edge);
  // The queue in which the buffer keeps messages to the output, and its head; one must be there.
  Queue& QueueOf(uint32_t buffer, uint32_t output) {
    return queues_[size_t{buffer} * queues_per_buffer_ + (fifo_ ? 0 : output)];
  }
  Message& HeadOf(uint32_t buffer, const Queue& queue) { return MessageAt(buffer, queue.first); }
  // One flit of the head leaves the buffer. Returns the queue, which says how many are left.
  Queue& TakeFlit(uint32_t buffer, uint32_t output) {
    if (++credits_[buffer] == capacity_) --occupied_;
    Queue& queue = QueueOf(buffer, output);
    --queue.left;
    return queue;
  }
  // The head, whose last flit has left, is forgotten. Returns the next one, null if the queue is empty.
  const Message* PopHead(uint32_t buffer, Queue& queue) {
    Message& message = MessageAt(buffer, queue.first);
    const uint16_t index = queue.first;
    queue.first = message.next;
    message.next = free_[buffer];
    free_[buffer] = index;
    if (queue.first == kNone) return nullptr;
    const Message& next = MessageAt(buffer, queue.first);
    queue.left = next.flits;
    return &next;
  }

  // Ok if every credit is back. Errors: Internal, naming `name`, input and buffer.
  absl::Status CheckEmpty(const std::string& name) const;
  // A line for each buffer that holds something.
  std::string Explain(const std::string& name) const;

 private:
  Message& MessageAt(uint32_t buffer, uint16_t index) { return messages_[size_t{buffer} * capacity_ + index]; }

  const uint32_t speedup_;
  const uint32_t capacity_;  // flits per buffer
  const bool fifo_;
  const uint32_t queues_per_buffer_;
  uint32_t occupied_ = 0;
  std::vector<uint32_t> lane_of_output_;   // output mod speedup: which buffer of an input serves it
  std::vector<uint32_t> input_of_buffer_;  // buffer / speedup
  std::vector<uint32_t> credits_;          // by buffer
  std::vector<Message> messages_;          // a pool of `capacity_` per buffer
  std::vector<uint16_t> free_;             // per buffer: list of unused messages
  std::vector<Queue> queues_;              // per buffer and output, or per buffer: fifo_
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_INPUT_BUFFERS_H_
