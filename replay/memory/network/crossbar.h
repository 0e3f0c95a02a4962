// One direction of the network between the SMs and the memory partitions.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/memory/network/crossbar_core.h"
#include "replay/memory/network/port_set.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// Inputs with `input_speedup` buffers each, virtual output queues, credits, and one buffer per output in which flits
// become messages again (Fung's thesis, section 5.1.2; docs/reference/timing.md, "The network"). Time is the number of
// the network's edge; Push and Pop say the number of the next edge to run. Edges without work may be left out: the
// counters are the same.
class Crossbar {
 public:
  // Input buffers (inputs x input_speedup) and outputs, each.
  static constexpr uint32_t kMaxPorts = 1024;

  // `seed` is that of PIM's choices. The machine has been checked: no size is zero, nothing is above kMaxPorts.
  Crossbar(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network, uint64_t seed);

  // Flits of a message of `bytes` bytes, at least 1.
  uint32_t FlitsOf(uint32_t bytes) const { return bytes <= flit_bytes_ ? 1 : (bytes + flit_bytes_ - 1) / flit_bytes_; }

  // Whether Push may be called with these now.
  bool HasRoom(uint32_t input, uint32_t output, uint32_t flits) const { return core_->HasRoom(input, output, flits); }
  // A message enters at `input` before edge `next_edge`, which is the first that may move it.
  void Push(uint32_t input, uint32_t output, const MemoryRequest& request, uint32_t flits, uint64_t next_edge) {
    core_->Push(input, output, request, flits, next_edge);
  }

  // Whether an edge would move a flit. False means asleep until Push or Pop.
  bool has_work() const { return core_->has_work(); }
  // Runs one edge; edges ascend.
  void Tick(uint64_t edge) { core_->Tick(edge); }

  // The oldest whole message at an output, null if none. Good until the next Tick or Pop.
  const MemoryRequest* Peek(uint32_t output) const { return core_->Peek(output); }
  // How many whole messages there are.
  uint32_t Whole(uint32_t output) const { return core_->whole(output); }
  // Takes the oldest one, which gives its room back before edge `next_edge`.
  void Pop(uint32_t output, uint64_t next_edge) { core_->Pop(output, next_edge); }

  // Calls `function(input)` for every input at which room was made since the last call, of those in `wanted` if that is
  // given, and forgets all of them.
  template <typename Function>
  void TakeRoomMade(Function function) {
    core_->room_made().TakeEach(function);
  }
  template <typename Function>
  void TakeRoomMade(const PortSet& wanted, Function function) {
    core_->room_made().TakeEachOf(wanted, function);
  }
  // Forgets them.
  void ForgetRoomMade() { core_->room_made().Clear(); }
  // Calls `function(output)` for every output at which a message became whole since the last call, and forgets them.
  template <typename Function>
  void TakeArrivals(Function function) {
    core_->arrived().TakeEach(function);
  }

  // Messages pushed and not popped.
  uint64_t under_way() const { return core_->under_way(); }
  // Brings the counters up to date with all edges before `next_edge`.
  void Settle(uint64_t next_edge) { core_->Settle(next_edge); }
  const CrossbarCounters& counters() const { return core_->counters(); }
  void ResetCounters() { core_->ResetCounters(); }
  // Time starts again at edge 0; nothing may be under way.
  void BeginLaunch() { core_->BeginLaunch(); }

  // Ok if nothing is under way and every credit is back. Errors: Internal, naming `name` and the buffer.
  absl::Status CheckDrained(const std::string& name) const { return core_->CheckDrained(name); }
  // Buffers that hold something, for the report of a deadlock; empty if none.
  std::string Explain(const std::string& name) const { return core_->Explain(name); }

 private:
  uint32_t flit_bytes_;
  std::unique_ptr<CrossbarCore> core_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_H_
