// One direction of the network between the SMs and the memory partitions.
#ifndef HEDDLE_REPLAY_MEMORY_CROSSBAR_H_
#define HEDDLE_REPLAY_MEMORY_CROSSBAR_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/memory/bit_matrix.h"
#include "replay/memory/crossbar_allocator.h"
#include "replay/memory/memory_request.h"

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

// Inputs with `input_speedup` buffers each, virtual output queues, credits, and one buffer per output in which flits
// become messages again (Fung's thesis, section 5.1.2; docs/timing.md, "The network"). Time is the number of the
// network's edge; Push and Pop say the number of the next edge to run. Edges without work may be left out: the counters
// are the same.
class Crossbar {
 public:
  // `seed` is that of PIM's choices. The machine has been checked: no size is zero.
  Crossbar(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network, uint64_t seed);

  // Flits of a message of `bytes` bytes, at least 1.
  uint32_t FlitsOf(uint32_t bytes) const { return bytes <= flit_bytes_ ? 1 : (bytes + flit_bytes_ - 1) / flit_bytes_; }

  // Whether Push may be called with these now.
  bool HasRoom(uint32_t input, uint32_t output, uint32_t flits) const {
    return input_credits_[BufferOf(input, output)] >= flits;
  }
  // A message enters at `input` before edge `next_edge`, which is the first that may move it.
  void Push(uint32_t input, uint32_t output, const MemoryRequest& request, uint32_t flits, uint64_t next_edge);

  // Whether an edge would move a flit. False means asleep until Push or Pop.
  bool has_work() const { return ready_outputs_ > 0; }
  // Runs one edge; edges ascend.
  void Tick(uint64_t edge);

  // The oldest whole message at an output, null if none. Good until the next Tick or Pop.
  const MemoryRequest* Peek(uint32_t output) const {
    const Output& out = outputs_[output];
    return out.count == 0 ? nullptr : &arrivals_[size_t{output} * output_capacity_ + out.first].request;
  }
  // Takes it, which gives its room back before edge `next_edge`.
  void Pop(uint32_t output, uint64_t next_edge);

  // Calls `function(input)` for every input at which room was made since the last call, and forgets them.
  template <typename Function>
  void TakeRoomMade(Function function) {
    ForEachBit(room_made_, function);
    std::ranges::fill(room_made_, 0);
  }
  // Calls `function(output)` for every output at which a message became whole since the last call, and forgets them.
  template <typename Function>
  void TakeArrivals(Function function) {
    ForEachBit(arrived_, function);
    std::ranges::fill(arrived_, 0);
  }

  // Messages pushed and not popped.
  uint64_t under_way() const { return under_way_; }
  // Brings the counters up to date with all edges before `next_edge`.
  void Settle(uint64_t next_edge);
  const CrossbarCounters& counters() const { return counters_; }
  void ResetCounters() { counters_ = {}; }
  // Time starts again at edge 0; nothing may be under way.
  void BeginLaunch() { settled_ = 0; }

  // Ok if nothing is under way and every credit is back. Errors: Internal, naming `name` and the buffer.
  absl::Status CheckDrained(const std::string& name) const;
  // Buffers that hold something, for the report of a deadlock; empty if none.
  std::string Explain(const std::string& name) const;

 private:
  struct Message {
    MemoryRequest request;
    uint64_t first_edge = 0;
    uint16_t flits = 0;
    uint16_t sent = 0;
    uint16_t output = 0;
    uint16_t next = 0;
  };
  struct Queue {
    uint16_t first = kNone;
    uint16_t last = kNone;
  };
  struct Arrival {
    MemoryRequest request;
    uint32_t flits = 0;
  };
  struct Output {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  enum class OutputState : uint8_t {
    kUnwanted,
    kReady,    // a flit can move to it
    kBlocked,  // wanted, and room for none of the flits
  };
  static constexpr uint16_t kNone = 0xffff;

  uint32_t BufferOf(uint32_t input, uint32_t output) const { return input * speedup_ + output % speedup_; }
  Queue& QueueOf(uint32_t buffer, uint32_t output) {
    return queues_[fifo_inputs_ ? buffer : size_t{buffer} * outputs_.size() + output];
  }
  Message& MessageOf(uint32_t buffer, uint16_t index) { return messages_[size_t{buffer} * input_capacity_ + index]; }
  void BecomeHead(uint32_t buffer, const Message& message);
  void Move(uint32_t buffer, uint32_t output, uint64_t edge);
  void Arrive(uint32_t buffer, const Message& message, uint64_t edge);
  void Refresh(uint32_t output);
  void SetRequests(uint32_t output, std::span<const uint64_t> buffers);

  const uint32_t flit_bytes_;
  const uint32_t speedup_;
  const uint32_t input_capacity_;   // flits per buffer
  const uint32_t output_capacity_;  // flits
  const bool fifo_inputs_;
  const bool reserves_;  // outputs reserve room for whole messages
  std::unique_ptr<CrossbarAllocator> allocator_;
  const bool blind_;             // the allocator asks for full outputs, too
  const bool rows_are_buffers_;  // of the requests that it takes

  // Input buffers: messages in a pool per buffer, in queues per buffer and output (or per buffer: fifo_inputs).
  std::vector<Message> messages_;
  std::vector<uint16_t> free_;  // per buffer: list of unused messages
  std::vector<Queue> queues_;
  std::vector<uint32_t> input_credits_;
  // Outputs.
  std::vector<Arrival> arrivals_;  // per output a ring of output_capacity_
  std::vector<Output> outputs_;
  std::vector<uint32_t> output_credits_;

  // Heads of queues, by output and buffer: who wants to send, whose message has begun, and who takes part in the
  // matching: those whose flit has room at the output; or, blindly, all that want to send to an output that has room
  // for none.
  BitMatrix wanting_;
  BitMatrix begun_;
  BitMatrix requests_;
  BitMatrix requests_by_buffer_;      // the same the other way round, if the allocator needs it
  std::vector<uint16_t> head_flits_;  // by output and buffer
  uint32_t largest_ = 0;              // flits of the largest message so far
  std::vector<OutputState> state_;
  uint32_t ready_outputs_ = 0;
  uint32_t blocked_outputs_ = 0;
  uint32_t occupied_buffers_ = 0;

  std::vector<CrossbarGrant> grants_;
  std::vector<uint64_t> fitting_;  // scratch of Refresh
  std::vector<uint64_t> room_made_;
  std::vector<uint64_t> arrived_;
  uint64_t under_way_ = 0;
  uint64_t settled_ = 0;  // the counters hold for all edges before this one
  CrossbarCounters counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_CROSSBAR_H_
