// The buffers at the outputs of a crossbar, in which flits become messages again.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_OUTPUT_BUFFERS_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_OUTPUT_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// One buffer per output, whose capacity is in flits. The credits that a message has taken come back when it is taken
// from the output as a whole. Storage is fixed at construction.
class OutputBuffers {
 public:
  enum class State : uint8_t {
    kUnwanted,
    kReady,    // a flit can move to it
    kBlocked,  // wanted, and room for none of the flits
  };
  struct Output {
    uint32_t first = 0;  // of the ring of whole messages
    uint32_t whole = 0;
    uint32_t credits = 0;  // flits that have room
    State state = State::kUnwanted;
  };

  OutputBuffers(uint32_t outputs, uint32_t capacity);

  uint32_t size() const { return static_cast<uint32_t>(outputs_.size()); }
  Output& operator[](uint32_t output) { return outputs_[output]; }
  const Output& operator[](uint32_t output) const { return outputs_[output]; }
  void SetState(Output& output, State state) {
    ready_ += (state == State::kReady) - (output.state == State::kReady);
    blocked_ += (state == State::kBlocked) - (output.state == State::kBlocked);
    output.state = state;
  }
  // Outputs in these states.
  uint32_t ready() const { return ready_; }
  uint32_t blocked() const { return blocked_; }

  // The last flit of a message has come.
  void Arrive(uint32_t output, const MemoryRequest& request, uint32_t flits) {
    Output& out = outputs_[output];
    uint32_t place = out.first + out.whole++;
    if (place >= capacity_) place -= capacity_;
    arrivals_[size_t{output} * capacity_ + place] = {request, flits};
  }
  // The oldest whole message of an output, null if none; and takes it.
  const MemoryRequest* Peek(uint32_t output) const {
    const Output& out = outputs_[output];
    return out.whole == 0 ? nullptr : &arrivals_[size_t{output} * capacity_ + out.first].request;
  }
  void Pop(uint32_t output) {
    Output& out = outputs_[output];
    out.credits += arrivals_[size_t{output} * capacity_ + out.first].flits;
    out.first = out.first + 1 == capacity_ ? 0 : out.first + 1;
    --out.whole;
  }

  // Ok if every credit is back. Errors: Internal, naming `name` and the output.
  absl::Status CheckEmpty(const std::string& name) const;
  // A line for each buffer that holds something, or is to get it.
  std::string Explain(const std::string& name) const;

 private:
  struct Arrival {
    MemoryRequest request;
    uint32_t flits = 0;
  };

  const uint32_t capacity_;  // flits per output
  uint32_t ready_ = 0;
  uint32_t blocked_ = 0;
  std::vector<Output> outputs_;
  std::vector<Arrival> arrivals_;  // per output a ring of `capacity_`
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_OUTPUT_BUFFERS_H_
