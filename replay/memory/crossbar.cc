#include "replay/memory/crossbar.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/memory/bit_set.h"
#include "replay/memory/crossbar_allocator.h"
#include "replay/memory/islip_allocator.h"
#include "replay/memory/pim_allocator.h"

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
        sizes_(output_capacity_ + 1),
        heads_by_size_(size_t{outputs} * sizes_),
        is_size_used_(sizes_) {
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
    const uint32_t buffer = BufferOf(input, output);
    if (const Message* head = Enqueue(buffer, output, request, flits, next_edge); head != nullptr) {
      BecomeHead(buffer, *head);
      Refresh(output);
    }
  }

  void Pop(uint32_t output, uint64_t next_edge) override {
    TakeWhole(output, next_edge);
    if (outputs_[output].state != OutputState::kUnwanted) Refresh(output);
  }

  void Tick(uint64_t edge) override {
    Settle(edge + 1);
    if (!has_work()) return;
    grants_.Clear();
    allocator_->Allocate(edge, rows_are_buffers_ ? requests_by_buffer_ : requests_, grants_);
    if (blind_) {  // what was granted of a full output is lost
      grants_.EraseIf(
          [&](const CrossbarGrant& grant) { return outputs_[grant.output].state == OutputState::kBlocked; });
    }
    counters_.flits += grants_.size();
    for (const CrossbarGrant& grant : grants_) Move(grant.buffer, grant.output, edge);
  }

 private:
  // A message has come to the head of its queue; its output has to be refreshed.
  void BecomeHead(uint32_t buffer, const Message& message) {
    heads_[message.output].wanting.Insert(buffer);
    if (message.flits >= sizes_) return;
    HeadsOfSize(message.output, message.flits).Insert(buffer);
    if (!is_size_used_[message.flits]) {
      is_size_used_[message.flits] = true;
      used_sizes_.insert(std::upper_bound(used_sizes_.begin(), used_sizes_.end(), message.flits), message.flits);
    }
  }
  BitSet<kWords>& HeadsOfSize(uint32_t output, uint32_t flits) {
    return heads_by_size_[size_t{output} * sizes_ + flits];
  }

  // One flit of the head message goes from the buffer to the output.
  void Move(uint32_t buffer, uint32_t output, uint64_t edge) {
    if (++input_credits_[buffer] == input_capacity_) --occupied_buffers_;
    room_made_.Insert(input_of_buffer_[buffer]);
    Queue& queue = QueueOf(buffer, output);
    const bool last = --queue.left == 0;
    BitSet<kWords>& begun = heads_[output].begun;
    // Within a message whose room is reserved nothing changes.
    if (!last && begun.Contains(buffer)) return;
    const Message& message = HeadOf(buffer, queue);
    const bool first = queue.left + 1 == message.flits;
    if (first) counters_.input_wait += edge - message.first_edge;
    uint32_t& room = outputs_[output].credits;
    if (!reserves_) {
      --room;
    } else if (first) {
      room -= message.flits;
      begun.Insert(buffer);
    }
    if (last) {
      begun.Erase(buffer);
      heads_[output].wanting.Erase(buffer);
      if (message.flits < sizes_) HeadsOfSize(output, message.flits).Erase(buffer);
      if (const Message* next = FinishHead(buffer, output, edge); next != nullptr) {
        BecomeHead(buffer, *next);
        if (next->output != output) Refresh(next->output);  // fifo_inputs
      }
    }
    // With room for any message only the heads decide.
    if (last || !reserves_ || (first && room < largest_)) Refresh(output);
  }

  // Finds out anew who takes part in the matching for an output: after a change of its heads or its room.
  void Refresh(uint32_t output) {
    Output& out = outputs_[output];
    const BitSet<kWords>& wanting = heads_[output].wanting;
    if (wanting.empty()) {
      SetState(out, OutputState::kUnwanted);
      SetRequests(output, wanting);
    } else if (out.credits >= (reserves_ ? largest_ : 1)) {
      SetState(out, OutputState::kReady);
      SetRequests(output, wanting);
    } else {
      BitSet<kWords> fitting = heads_[output].begun;
      if (reserves_) {
        for (const uint32_t flits : used_sizes_) {
          if (flits > out.credits) break;
          fitting.Add(HeadsOfSize(output, flits));
        }
      }
      const bool blocked = fitting.empty();
      SetState(out, blocked ? OutputState::kBlocked : OutputState::kReady);
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
  // By output and flits of the message, up to what an output holds at all: whose head has that many.
  const uint32_t sizes_;
  std::vector<BitSet<kWords>> heads_by_size_;
  // Sizes that some message has had, ascending, and by size: there are few.
  std::vector<uint32_t> used_sizes_;
  std::vector<bool> is_size_used_;
  CrossbarGrants grants_{std::min(buffers_, static_cast<uint32_t>(outputs_.size()))};  // of the present edge
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
