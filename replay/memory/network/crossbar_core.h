// What a crossbar does whatever the number of its ports: buffers, credits, counters. crossbar.h has the interface.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_CORE_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_CORE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/memory/network/input_buffers.h"
#include "replay/memory/network/output_buffers.h"
#include "replay/memory/network/port_set.h"
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

// Buffers, credits and counters. Who gets which output at an edge is the matter of the class that derives from it.
class CrossbarCore {
 public:
  virtual ~CrossbarCore() = default;

  virtual void Push(uint32_t input, uint32_t output, const MemoryRequest& request, uint32_t flits,
                    uint64_t next_edge) = 0;
  virtual void Tick(uint64_t edge) = 0;
  virtual void Pop(uint32_t output, uint64_t next_edge) = 0;

  bool HasRoom(uint32_t input, uint32_t output, uint32_t flits) const { return inputs_.HasRoom(input, output, flits); }
  const MemoryRequest* Peek(uint32_t output) const { return outputs_.Peek(output); }
  uint32_t whole(uint32_t output) const { return outputs_[output].whole; }
  bool has_work() const { return outputs_.ready() > 0; }
  PortSet& room_made() { return room_made_; }
  PortSet& arrived() { return arrived_; }
  uint64_t under_way() const { return under_way_; }
  void Settle(uint64_t next_edge) {
    if (next_edge <= settled_) return;
    const uint64_t edges = next_edge - settled_;
    counters_.buffer_requests += edges * inputs_.occupied();
    counters_.blocked_outputs += edges * outputs_.blocked();
    settled_ = next_edge;
  }
  const CrossbarCounters& counters() const { return counters_; }
  void ResetCounters() { counters_ = {}; }
  void BeginLaunch() { settled_ = 0; }
  absl::Status CheckDrained(const std::string& name) const;
  std::string Explain(const std::string& name) const { return inputs_.Explain(name) + outputs_.Explain(name); }

 protected:
  CrossbarCore(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network);

  // Puts a message into its queue. Returns whether it has become the head.
  bool Enqueue(uint32_t buffer, uint32_t output, const MemoryRequest& request, uint32_t flits, uint64_t first_edge);
  // The head has left the buffer with its last flit at `edge`: it is whole at its output. Returns the next head of the
  // queue, null if the queue is empty.
  const InputBuffers::Message* FinishHead(uint32_t buffer, uint32_t output, uint64_t edge);
  // Takes the oldest whole message of an output.
  void TakeWhole(uint32_t output, uint64_t next_edge);

  const bool reserves_;   // outputs reserve room for whole messages
  uint32_t largest_ = 0;  // flits of the largest message so far
  InputBuffers inputs_;
  OutputBuffers outputs_;
  PortSet room_made_;
  PortSet arrived_;
  CrossbarCounters counters_;

 private:
  uint64_t under_way_ = 0;
  uint64_t settled_ = 0;  // the counters hold for all edges before this one
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_CORE_H_
