// A crossbar that does everything at every edge, written to be read: docs/reference/timing.md, "The network".
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_CROSSBAR_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_CROSSBAR_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/network/crossbar.h"
#include "replay/memory/network/pim_allocator.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

class ReferenceCrossbar {
 public:
  ReferenceCrossbar(uint32_t inputs, uint32_t outputs, const machine::v1::Network& network, uint64_t seed)
      : network_(network),
        numbers_(seed),
        buffers_(inputs * network.input_speedup()),
        outputs_(outputs),
        grant_pointer_(outputs),
        accept_pointer_(buffers_.size()) {
    for (Buffer& buffer : buffers_) buffer.credits = network.input_buffer_flits();
    for (Output& output : outputs_) output.credits = network.output_buffer_flits();
  }

  bool HasRoom(uint32_t input, uint32_t output, uint32_t flits) const {
    return buffers_[BufferOf(input, output)].credits >= flits;
  }

  // Flits for which the buffers of an input have room.
  uint32_t FreeFlits(uint32_t input) const {
    uint32_t free = 0;
    for (uint32_t i = 0; i < network_.input_speedup(); ++i)
      free += buffers_[input * network_.input_speedup() + i].credits;
    return free;
  }

  void Push(uint32_t input, uint32_t output, const MemoryRequest& request, uint32_t flits, uint64_t next_edge) {
    Buffer& buffer = buffers_[BufferOf(input, output)];
    buffer.messages.push_back({request, output, flits, 0, next_edge});
    buffer.credits -= flits;
    ++counters_.pushed;
  }

  const MemoryRequest* Peek(uint32_t output) const {
    return outputs_[output].whole.empty() ? nullptr : &outputs_[output].whole.front().request;
  }

  void Pop(uint32_t output) {
    outputs_[output].credits += outputs_[output].whole.front().flits;
    outputs_[output].whole.pop_front();
  }

  void Tick(uint64_t edge) {
    for (const Buffer& buffer : buffers_) counters_.buffer_requests += !buffer.messages.empty();
    for (uint32_t output = 0; output < outputs_.size(); ++output) {
      bool asked = false, can_move = false;
      for (uint32_t buffer = 0; buffer < buffers_.size(); ++buffer) {
        asked |= Head(buffer, output).has_value();
        can_move |= CanMove(buffer, output);
      }
      counters_.blocked_outputs += asked && !can_move;
    }
    const std::map<uint32_t, uint32_t> grants =
        network_.allocator() == machine::v1::Network::ISLIP ? Islip() : Pim(edge);
    std::vector<std::pair<uint32_t, uint32_t>> moves;
    for (const auto& [buffer, output] : grants) {
      if (CanMove(buffer, output)) moves.emplace_back(buffer, output);
    }
    for (const auto& [buffer, output] : moves) Move(buffer, output, edge);
  }

  const CrossbarCounters& counters() const { return counters_; }

 private:
  struct Message {
    MemoryRequest request;
    uint32_t output;
    uint32_t flits;
    uint32_t sent;
    uint64_t first_edge;
  };
  struct Buffer {
    std::vector<Message> messages;  // by age
    uint32_t credits;
  };
  struct Output {
    std::deque<Message> whole;
    uint32_t credits;
  };

  uint32_t BufferOf(uint32_t input, uint32_t output) const {
    return input * network_.input_speedup() + output % network_.input_speedup();
  }

  // The place of the buffer's message that asks for the output.
  std::optional<size_t> Head(uint32_t buffer, uint32_t output) const {
    const std::vector<Message>& messages = buffers_[buffer].messages;
    for (size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].output == output) return i;
      if (network_.fifo_inputs()) break;
    }
    return std::nullopt;
  }

  bool CanMove(uint32_t buffer, uint32_t output) const {
    const std::optional<size_t> head = Head(buffer, output);
    if (!head.has_value()) return false;
    const Message& message = buffers_[buffer].messages[*head];
    if (network_.no_message_reservation()) return outputs_[output].credits >= 1;
    return message.sent > 0 || outputs_[output].credits >= message.flits;
  }

  void Move(uint32_t buffer, uint32_t output, uint64_t edge) {
    const size_t head = Head(buffer, output).value();
    Message& message = buffers_[buffer].messages[head];
    if (message.sent == 0) counters_.input_wait += edge - message.first_edge;
    if (network_.no_message_reservation()) {
      outputs_[output].credits -= 1;
    } else if (message.sent == 0) {
      outputs_[output].credits -= message.flits;
    }
    ++buffers_[buffer].credits;
    ++counters_.flits;
    if (++message.sent < message.flits) return;
    const uint64_t latency = edge - message.first_edge + 1;
    ++counters_.messages;
    counters_.latency += latency;
    uint32_t bin = 0;
    while ((latency >> (bin + 1)) != 0) ++bin;
    ++counters_.latency_histogram[bin];
    outputs_[output].whole.push_back(message);
    buffers_[buffer].messages.erase(buffers_[buffer].messages.begin() + head);
  }

  // Buffers ask for outputs that have room for the flit, and blindly for those that have room for nobody's.
  bool AsksBlindly(uint32_t buffer, uint32_t output) const {
    if (!Head(buffer, output).has_value()) return false;
    for (uint32_t other = 0; other < buffers_.size(); ++other) {
      if (CanMove(other, output)) return CanMove(buffer, output);
    }
    return true;
  }

  std::map<uint32_t, uint32_t> Pim(uint64_t edge) {
    std::map<uint32_t, uint32_t> grants;  // buffer -> output
    std::vector<bool> taken(outputs_.size());
    for (uint32_t pass = 0; pass < network_.iterations(); ++pass) {
      numbers_.Begin(edge * network_.iterations() + pass);
      std::map<uint32_t, std::vector<uint32_t>> bids;  // output -> buffers
      for (uint32_t buffer = 0; buffer < buffers_.size(); ++buffer) {
        std::vector<uint32_t> wanted;
        for (uint32_t output = 0; output < outputs_.size(); ++output) {
          if (!taken[output] && AsksBlindly(buffer, output)) wanted.push_back(output);
        }
        if (grants.contains(buffer) || wanted.empty()) continue;
        bids[wanted[numbers_.OfBuffer(buffer, wanted.size())]].push_back(buffer);
      }
      for (const auto& [output, bidders] : bids) {
        grants[bidders[numbers_.OfOutput(output, bidders.size())]] = output;
        taken[output] = true;
      }
    }
    return grants;
  }

  // Buffers ask only for outputs that have room.
  std::map<uint32_t, uint32_t> Islip() {
    std::map<uint32_t, uint32_t> grants;  // buffer -> output
    std::vector<bool> taken(outputs_.size());
    for (uint32_t pass = 0; pass < network_.iterations(); ++pass) {
      std::map<uint32_t, std::vector<uint32_t>> offers;  // buffer -> outputs
      for (uint32_t output = 0; output < outputs_.size(); ++output) {
        if (taken[output]) continue;
        for (uint32_t step = 0; step < buffers_.size(); ++step) {
          const uint32_t buffer = (grant_pointer_[output] + step) % buffers_.size();
          if (grants.contains(buffer) || !CanMove(buffer, output)) continue;
          offers[buffer].push_back(output);
          break;
        }
      }
      for (const auto& [buffer, outputs] : offers) {
        uint32_t accepted = accept_pointer_[buffer];
        while (std::ranges::find(outputs, accepted) == outputs.end()) accepted = (accepted + 1) % outputs_.size();
        grants[buffer] = accepted;
        taken[accepted] = true;
        if (pass > 0) continue;
        grant_pointer_[accepted] = (buffer + 1) % buffers_.size();
        accept_pointer_[buffer] = (accepted + 1) % outputs_.size();
      }
    }
    return grants;
  }

  const machine::v1::Network network_;
  PimNumbers numbers_;
  std::vector<Buffer> buffers_;
  std::vector<Output> outputs_;
  std::vector<uint32_t> grant_pointer_;
  std::vector<uint32_t> accept_pointer_;
  CrossbarCounters counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_CROSSBAR_H_
