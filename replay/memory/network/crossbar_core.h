// What a crossbar does whatever the number of its ports: buffers, credits, counters. crossbar.h has the interface.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_CORE_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_CORE_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// What a crossbar counts, in messages, flits and network edges.
struct CrossbarCounters {
  uint64_t pushed = 0;           // messages that entered
  uint64_t messages = 0;         // messages whose last flit has reached the output
  uint64_t flits = 0;            // that went through; each took one grant
  uint64_t buffer_requests = 0;  // input buffers that held a flit, summed over edges; flits / this = grant ratio
  uint64_t input_wait = 0;  // edges between a message's first edge and that of its first flit, summed over messages
  uint64_t latency = 0;     // edges from a message's first edge to that of its last flit, both counted, summed
  // Outputs for which a flit waited and none could come because their buffers had no room, summed over edges.
  uint64_t blocked_outputs = 0;
  std::array<uint64_t, 32> latency_histogram{};  // [k]: messages with a latency of 2^k to 2^(k+1) - 1 edges

  bool operator==(const CrossbarCounters&) const = default;
};

// Ports to which something happened.
class PortSet {
 public:
  explicit PortSet(uint32_t ports) : words_((ports + 63) / 64) {}
  void Insert(uint32_t port) { words_[port >> 6] |= uint64_t{1} << (port & 63); }
  void Erase(uint32_t port) { words_[port >> 6] &= ~(uint64_t{1} << (port & 63)); }
  bool Contains(uint32_t port) const { return (words_[port >> 6] >> (port & 63) & 1) != 0; }
  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  // Calls `function` with each, ascending, and empties the set.
  template <typename Function>
  void TakeEach(Function function) {
    for (uint32_t word = 0; word < words_.size(); ++word) {
      uint64_t rest = words_[word];
      words_[word] = 0;
      for (; rest != 0; rest &= rest - 1) function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }
  // The same with those that are in `wanted` as well.
  template <typename Function>
  void TakeEachOf(const PortSet& wanted, Function function) {
    for (uint32_t word = 0; word < words_.size(); ++word) {
      uint64_t rest = words_[word] & wanted.words_[word];
      words_[word] = 0;
      for (; rest != 0; rest &= rest - 1) function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

class CrossbarCore {
 public:
  virtual ~CrossbarCore() = default;

  virtual void Push(uint32_t input, uint32_t output, const MemoryRequest& request, uint32_t flits,
                    uint64_t next_edge) = 0;
  virtual void Tick(uint64_t edge) = 0;
  virtual void Pop(uint32_t output, uint64_t next_edge) = 0;

  bool HasRoom(uint32_t input, uint32_t output, uint32_t flits) const {
    return input_credits_[BufferOf(input, output)] >= flits;
  }
  const MemoryRequest* Peek(uint32_t output) const {
    const Output& out = outputs_[output];
    return out.whole == 0 ? nullptr : &arrivals_[size_t{output} * output_capacity_ + out.first].request;
  }
  uint32_t whole(uint32_t output) const { return outputs_[output].whole; }
  bool has_work() const { return ready_outputs_ > 0; }
  PortSet& room_made() { return room_made_; }
  PortSet& arrived() { return arrived_; }
  uint64_t under_way() const { return under_way_; }
  void Settle(uint64_t next_edge) {
    if (next_edge <= settled_) return;
    const uint64_t edges = next_edge - settled_;
    counters_.buffer_requests += edges * occupied_buffers_;
    counters_.blocked_outputs += edges * blocked_outputs_;
    settled_ = next_edge;
  }
  const CrossbarCounters& counters() const { return counters_; }
  void ResetCounters() { counters_ = {}; }
  void BeginLaunch() { settled_ = 0; }
  absl::Status CheckDrained(const std::string& name) const;
  std::string Explain(const std::string& name) const;

 protected:
  struct Message {
    MemoryRequest request;
    uint64_t first_edge = 0;
    uint16_t flits = 0;
    uint16_t output = 0;
    uint16_t next = 0;
  };
  static constexpr uint16_t kNone = 0xffff;
  struct Queue {
    uint16_t first = kNone;
    uint16_t last = kNone;
    uint16_t left = 0;  // flits of the head that have not moved yet
  };
  enum class OutputState : uint8_t {
    kUnwanted,
    kReady,    // a flit can move to it
    kBlocked,  // wanted, and room for none of the flits
  };
  struct Output {
    uint32_t first = 0;  // of the ring of whole messages
    uint32_t whole = 0;
    uint32_t credits = 0;
    OutputState state = OutputState::kUnwanted;
  };

  CrossbarCore(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network);

  uint32_t BufferOf(uint32_t input, uint32_t output) const { return input * speedup_ + lane_of_output_[output]; }
  // The queue in which the buffer keeps messages to the output, and its head; one must be there.
  Queue& QueueOf(uint32_t buffer, uint32_t output) {
    return queues_[size_t{buffer} * queues_per_buffer_ + (fifo_inputs_ ? 0 : output)];
  }
  Message& HeadOf(uint32_t buffer, const Queue& queue) { return MessageAt(buffer, queue.first); }
  // Puts a message into its queue. Returns whether it has become the head.
  bool Enqueue(uint32_t buffer, uint32_t output, const MemoryRequest& request, uint32_t flits, uint64_t first_edge);
  // The head has left the buffer with its last flit at `edge`: it is whole at its output. Returns the next head of the
  // queue, null if the queue is empty.
  const Message* FinishHead(uint32_t buffer, uint32_t output, uint64_t edge);
  // Takes the oldest whole message of an output.
  void TakeWhole(uint32_t output, uint64_t next_edge);
  void SetState(Output& output, OutputState state) {
    ready_outputs_ += (state == OutputState::kReady) - (output.state == OutputState::kReady);
    blocked_outputs_ += (state == OutputState::kBlocked) - (output.state == OutputState::kBlocked);
    output.state = state;
  }

  const uint32_t speedup_;
  const uint32_t input_capacity_;   // flits per buffer
  const uint32_t output_capacity_;  // flits
  const bool fifo_inputs_;
  const uint32_t queues_per_buffer_;
  const bool reserves_;                    // outputs reserve room for whole messages
  std::vector<uint32_t> input_of_buffer_;  // buffer / speedup
  std::vector<uint32_t> input_credits_;    // by buffer
  std::vector<Output> outputs_;
  uint32_t occupied_buffers_ = 0;
  uint32_t largest_ = 0;  // flits of the largest message so far
  PortSet room_made_;
  PortSet arrived_;
  CrossbarCounters counters_;

 private:
  struct Arrival {
    MemoryRequest request;
    uint32_t flits = 0;
  };
  Message& MessageAt(uint32_t buffer, uint16_t index) { return messages_[size_t{buffer} * input_capacity_ + index]; }

  std::vector<uint32_t> lane_of_output_;  // output mod speedup: which buffer of an input serves it
  std::vector<Message> messages_;         // a pool of input_capacity_ per buffer
  std::vector<uint16_t> free_;            // per buffer: list of unused messages
  std::vector<Queue> queues_;             // per buffer and output, or per buffer: fifo_inputs
  std::vector<Arrival> arrivals_;         // per output a ring of output_capacity_
  uint32_t ready_outputs_ = 0;
  uint32_t blocked_outputs_ = 0;
  uint64_t under_way_ = 0;
  uint64_t settled_ = 0;  // the counters hold for all edges before this one
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_CORE_H_
