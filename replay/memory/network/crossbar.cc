#include "replay/memory/network/crossbar.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/memory/network/crossbar_allocator.h"
#include "replay/memory/network/islip_allocator.h"
#include "replay/memory/network/pim_allocator.h"
#include "traces/base/bit_set.h"

namespace heddle::replay {
namespace {

using machine::v1::Network;

// The matching of a crossbar with at most 64 x kWords input buffers and outputs.
template <uint32_t kWords>
class SizedCrossbar final : public CrossbarCore {
 public:
  SizedCrossbar(uint32_t inputs, uint32_t outputs, const Network& network, uint64_t seed)
      : CrossbarCore(inputs, outputs, network),
        buffers_(inputs * network.input_speedup()),
        heads_(outputs),
        requests_(outputs),
        requests_by_buffer_(buffers_),
        head_flits_(size_t{outputs} * buffers_) {
    if (network.allocator() == Network::ISLIP) {
      allocator_ = std::make_unique<IslipAllocator<kWords>>(buffers_, outputs, network.iterations());
    } else {
      allocator_ = std::make_unique<PimAllocator<kWords>>(outputs, network.iterations(), seed);
    }
    rows_are_buffers_ = allocator_->rows_are_buffers();
    blind_ = allocator_->asks_blindly();
  }

  void Push(uint32_t input, uint32_t output, const MemoryRequest& request, uint32_t flits,
            uint64_t next_edge) override {
    const uint32_t buffer = inputs_.BufferOf(input, output);
    if (Enqueue(buffer, output, request, flits, next_edge)) BecomeHead(buffer, output, flits);
  }

  void Pop(uint32_t output, uint64_t next_edge) override {
    TakeWhole(output, next_edge);
    const OutputBuffers::Output& out = outputs_[output];
    if (out.state == State::kUnwanted) return;
    if (out.state == State::kReady && requests_[output] == heads_[output].wanting) return;  // none lacks room
    Refresh(output);
  }

  void Tick(uint64_t edge) override {
    Settle(edge + 1);
    if (!has_work()) return;
    grants_.Clear();
    allocator_->Allocate(edge, rows_are_buffers_ ? requests_by_buffer_ : requests_, grants_);
    if (blind_) {  // what was granted of a full output is lost
      grants_.EraseIf([&](const CrossbarGrant& grant) { return outputs_[grant.output].state == State::kBlocked; });
    }
    counters_.flits += grants_.size();
    for (const CrossbarGrant& grant : grants_) Move(grant.buffer, grant.output, edge);
  }

 private:
  using State = OutputBuffers::State;

  // A message of `flits` flits to the output has come to the head of its queue.
  void BecomeHead(uint32_t buffer, uint32_t output, uint32_t flits) {
    heads_[output].wanting.Insert(buffer);
    head_flits_[size_t{output} * buffers_ + buffer] = static_cast<uint16_t>(flits);
    OutputBuffers::Output& out = outputs_[output];
    if (out.credits >= (reserves_ ? flits : 1)) {
      if (out.state != State::kReady) {
        outputs_.SetState(out, State::kReady);
        if (!requests_[output].empty()) SetRequests(output, {});  // those that asked blindly
      }
      AddRequest(output, buffer);
    } else if (out.state != State::kReady) {
      outputs_.SetState(out, State::kBlocked);
      if (blind_) AddRequest(output, buffer);
    }
  }
  // The message at the head of its queue, which had begun to move, has left it.
  void LeaveHead(uint32_t buffer, uint32_t output) {
    Heads& heads = heads_[output];
    heads.begun.Erase(buffer);
    heads.wanting.Erase(buffer);
    requests_.Erase(output, buffer);
    if (rows_are_buffers_) requests_by_buffer_.Erase(buffer, output);
    if (requests_[output].empty()) Refresh(output);
  }

  // One flit of the head message goes from the buffer to the output.
  void Move(uint32_t buffer, uint32_t output, uint64_t edge) {
    const InputBuffers::Queue& queue = inputs_.TakeFlit(buffer, output);
    room_made_.Insert(inputs_.InputOf(buffer));
    const bool last = queue.left == 0;
    // Within a message whose room is reserved nothing changes.
    if (!last && heads_[output].begun.Contains(buffer)) return;
    const InputBuffers::Message& message = inputs_.HeadOf(buffer, queue);
    const bool first = queue.left + 1 == message.flits;
    if (first) counters_.input_wait += edge - message.first_edge;
    uint32_t& room = outputs_[output].credits;
    if (!reserves_) {
      --room;
    } else if (first) {
      room -= message.flits;
      heads_[output].begun.Insert(buffer);
    }
    if (last) {
      LeaveHead(buffer, output);
      if (const InputBuffers::Message* next = FinishHead(buffer, output, edge); next != nullptr) {
        BecomeHead(buffer, next->output, next->flits);  // to another output only with fifo_inputs
      }
    }
    // With room for any message only the heads decide. Who has begun alone stays alone.
    if (!reserves_ || (first && room < largest_ && (last || requests_[output].size() != 1))) Refresh(output);
  }

  // Finds out anew who takes part in the matching for an output: after a change of its heads or its room.
  void Refresh(uint32_t output) {
    OutputBuffers::Output& out = outputs_[output];
    const BitSet<kWords>& wanting = heads_[output].wanting;
    if (wanting.empty()) {
      outputs_.SetState(out, State::kUnwanted);
      SetRequests(output, wanting);
    } else if (out.credits >= (reserves_ ? largest_ : 1)) {
      outputs_.SetState(out, State::kReady);
      SetRequests(output, wanting);
    } else {
      BitSet<kWords> fitting = heads_[output].begun;
      if (reserves_) {
        const uint16_t* const flits = &head_flits_[size_t{output} * buffers_];
        wanting.Without(fitting).ForEach([&](uint32_t buffer) {
          if (flits[buffer] <= out.credits) fitting.Insert(buffer);
        });
      }
      const bool blocked = fitting.empty();
      outputs_.SetState(out, blocked ? State::kBlocked : State::kReady);
      SetRequests(output, blocked && blind_ ? wanting : fitting);
    }
  }

  void SetRequests(uint32_t output, const BitSet<kWords>& buffers) {
    if (rows_are_buffers_) {
      buffers.DifferenceTo(requests_[output]).ForEach([&](uint32_t buffer) {
        if (buffers.Contains(buffer)) {
          requests_by_buffer_.Insert(buffer, output);
        } else {
          requests_by_buffer_.Erase(buffer, output);
        }
      });
    }
    requests_.Assign(output, buffers);
  }
  void AddRequest(uint32_t output, uint32_t buffer) {
    requests_.Insert(output, buffer);
    if (rows_are_buffers_) requests_by_buffer_.Insert(buffer, output);
  }

  const uint32_t buffers_;
  std::unique_ptr<CrossbarAllocator<kWords>> allocator_;
  bool rows_are_buffers_ = false;  // of the requests that the allocator takes
  bool blind_ = false;             // it asks for full outputs, too

  // Heads of queues: the buffers whose head wants to go to an output, and those of them whose head has begun to.
  struct Heads {
    BitSet<kWords> wanting;
    BitSet<kWords> begun;
  };
  std::vector<Heads> heads_;  // by output
  // Who takes part in the matching: heads whose flit has room at the output; or, blindly, all that want to send to an
  // output that has room for none. By output.
  BitMatrix<kWords> requests_;
  BitMatrix<kWords> requests_by_buffer_;  // the same the other way round, if the allocator needs it
  std::vector<uint16_t> head_flits_;      // by output and buffer: of the message that wants to go there
  CrossbarGrants grants_{std::min(buffers_, outputs_.size())};  // of the present edge
};

}  // namespace

Crossbar::Crossbar(uint32_t inputs, uint32_t outputs, const Network& network, uint64_t seed)
    : flit_bytes_(network.flit_bytes()) {
  const uint32_t most = std::max(inputs * network.input_speedup(), outputs);
  if (most <= 64) {
    core_ = std::make_unique<SizedCrossbar<1>>(inputs, outputs, network, seed);
  } else if (most <= 128) {
    core_ = std::make_unique<SizedCrossbar<2>>(inputs, outputs, network, seed);
  } else if (most <= 256) {
    core_ = std::make_unique<SizedCrossbar<4>>(inputs, outputs, network, seed);
  } else {
    core_ = std::make_unique<SizedCrossbar<kMaxPorts / 64>>(inputs, outputs, network, seed);
  }
}

}  // namespace heddle::replay
