#include "replay/memory/crossbar.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::replay {

using machine::v1::Network;

Crossbar::Crossbar(uint32_t inputs, uint32_t outputs, const Network& network, uint64_t seed)
    : flit_bytes_(network.flit_bytes()),
      speedup_(network.input_speedup()),
      input_capacity_(network.input_buffer_flits()),
      output_capacity_(network.output_buffer_flits()),
      fifo_inputs_(network.fifo_inputs()),
      reserves_(!network.no_message_reservation()) {
  const uint32_t buffers = inputs * speedup_;
  allocator_ = network.allocator() == Network::ISLIP ? MakeIslipAllocator(buffers, outputs, network.iterations())
                                                     : MakePimAllocator(buffers, outputs, network.iterations(), seed);
  messages_.resize(size_t{buffers} * input_capacity_);
  free_.assign(buffers, 0);
  for (size_t i = 0; i < messages_.size(); ++i) {
    const uint32_t index = i % input_capacity_;
    messages_[i].next = index + 1 == input_capacity_ ? kNone : index + 1;
  }
  queues_.resize(fifo_inputs_ ? buffers : size_t{buffers} * outputs);
  input_credits_.assign(buffers, input_capacity_);
  arrivals_.resize(size_t{outputs} * output_capacity_);
  outputs_.resize(outputs);
  output_credits_.assign(outputs, output_capacity_);
  asking_ = BitMatrix(outputs, buffers);
  asked_by_ = BitMatrix(buffers, outputs);
  begun_ = BitMatrix(outputs, buffers);
  movable_ = BitMatrix(outputs, buffers);
  head_flits_.resize(size_t{outputs} * buffers);
  blocked_.resize(WordsFor(outputs));
  grants_.reserve(std::min(buffers, outputs));
  fitting_.resize(WordsFor(buffers));
  room_made_.resize(WordsFor(inputs));
  arrived_.resize(WordsFor(outputs));
}

void Crossbar::Push(uint32_t input, uint32_t output, const MemoryRequest& request, uint32_t flits, uint64_t next_edge) {
  Settle(next_edge);
  const uint32_t buffer = BufferOf(input, output);
  if (input_credits_[buffer] == input_capacity_) ++occupied_buffers_;
  input_credits_[buffer] -= flits;
  ++under_way_;
  ++counters_.pushed;
  largest_ = std::max(largest_, flits);

  const uint16_t index = free_[buffer];
  Message& message = MessageOf(buffer, index);
  free_[buffer] = message.next;
  message = {.request = request,
             .first_edge = next_edge,
             .flits = static_cast<uint16_t>(flits),
             .sent = 0,
             .output = static_cast<uint16_t>(output),
             .next = kNone};
  Queue& queue = QueueOf(buffer, output);
  if (queue.first == kNone) {
    queue = {index, index};
    Ask(buffer, message);
  } else {
    MessageOf(buffer, queue.last).next = index;
    queue.last = index;
  }
}

// A message has come to the head of its queue.
void Crossbar::Ask(uint32_t buffer, const Message& head) {
  asking_.Set(head.output, buffer);
  asked_by_.Set(buffer, head.output);
  head_flits_[size_t{head.output} * input_credits_.size() + buffer] = head.flits;
  Refresh(head.output);
}

// Finds out anew who can send a flit to the output: after a change of its askers or its room.
void Crossbar::Refresh(uint32_t output) {
  const std::span<const uint64_t> asking = asking_.Row(output);
  const uint32_t room = output_credits_[output];
  if (reserves_ ? room >= largest_ : room > 0) {
    movable_.AssignRow(output, asking);
  } else if (!reserves_) {
    movable_.ClearRow(output);
  } else {
    std::ranges::copy(begun_.Row(output), fitting_.begin());
    if (room > 0) {
      const uint16_t* flits = &head_flits_[size_t{output} * input_credits_.size()];
      ForEachBit(asking, [&](uint32_t buffer) {
        if (flits[buffer] <= room) SetBit(fitting_, buffer);
      });
    }
    movable_.AssignRow(output, fitting_);
  }
  const bool blocked = AnyBit(asking) && !TestBit(movable_.filled_rows(), output);
  if (blocked == TestBit(blocked_, output)) return;
  if (blocked) {
    SetBit(blocked_, output);
    ++blocked_count_;
  } else {
    ClearBit(blocked_, output);
    --blocked_count_;
  }
}

void Crossbar::Settle(uint64_t next_edge) {
  if (next_edge <= settled_) return;
  const uint64_t edges = next_edge - settled_;
  counters_.buffer_requests += edges * occupied_buffers_;
  counters_.blocked_outputs += edges * blocked_count_;
  settled_ = next_edge;
}

void Crossbar::Tick(uint64_t edge) {
  Settle(edge + 1);
  if (movable_.empty()) return;
  grants_.clear();
  const bool blind = allocator_->asks_blindly();
  allocator_->Allocate(edge, allocator_->rows_are_buffers() ? asked_by_ : movable_, grants_);
  for (const CrossbarGrant& grant : grants_) {
    if (!blind || movable_.Test(grant.output, grant.buffer)) Move(grant.buffer, grant.output, edge);
  }
}

// One flit of the head message goes from the buffer to the output.
void Crossbar::Move(uint32_t buffer, uint32_t output, uint64_t edge) {
  const uint16_t index = QueueOf(buffer, output).first;
  Message& message = MessageOf(buffer, index);
  if (message.sent == 0) {
    counters_.input_wait += edge - message.first_edge;
    if (reserves_) {
      output_credits_[output] -= message.flits;
      begun_.Set(output, buffer);
    }
  }
  if (!reserves_) --output_credits_[output];
  ++counters_.flits;
  if (++input_credits_[buffer] == input_capacity_) --occupied_buffers_;
  SetBit(room_made_, buffer / speedup_);
  if (++message.sent == message.flits) Arrive(buffer, message, edge);
  Refresh(output);
}

// The last flit of the head message is in: the message can be popped, and its queue goes on with the next one.
void Crossbar::Arrive(uint32_t buffer, const Message& message, uint64_t edge) {
  const uint32_t output = message.output;
  Output& out = outputs_[output];
  uint32_t place = out.first + out.count++;
  if (place >= output_capacity_) place -= output_capacity_;
  arrivals_[size_t{output} * output_capacity_ + place] = {message.request, message.flits};
  SetBit(arrived_, output);
  const uint64_t latency = edge + 1 - message.first_edge;
  ++counters_.messages;
  counters_.latency += latency;
  ++counters_.latency_histogram[std::min<int>(std::bit_width(latency) - 1, counters_.latency_histogram.size() - 1)];

  begun_.Clear(output, buffer);
  asking_.Clear(output, buffer);
  asked_by_.Clear(buffer, output);
  Queue& queue = QueueOf(buffer, output);
  const uint16_t index = queue.first;
  queue.first = message.next;
  MessageOf(buffer, index).next = free_[buffer];
  free_[buffer] = index;
  if (queue.first == kNone) {
    queue.last = kNone;
  } else {
    Ask(buffer, MessageOf(buffer, queue.first));
  }
}

void Crossbar::Pop(uint32_t output, uint64_t next_edge) {
  Settle(next_edge);
  Output& out = outputs_[output];
  output_credits_[output] += arrivals_[size_t{output} * output_capacity_ + out.first].flits;
  out.first = out.first + 1 == output_capacity_ ? 0 : out.first + 1;
  --out.count;
  --under_way_;
  Refresh(output);
}

absl::Status Crossbar::CheckDrained(const std::string& name) const {
  if (under_way_ != 0) {
    return absl::InternalError(absl::StrCat(name, ": ", under_way_, " messages are still under way at the end."));
  }
  for (size_t buffer = 0; buffer < input_credits_.size(); ++buffer) {
    if (input_credits_[buffer] != input_capacity_) {
      return absl::InternalError(absl::StrFormat("%s: input %d, buffer %d has %d of %d credits at the end.", name,
                                                 buffer / speedup_, buffer % speedup_, input_credits_[buffer],
                                                 input_capacity_));
    }
  }
  for (size_t output = 0; output < outputs_.size(); ++output) {
    if (output_credits_[output] != output_capacity_) {
      return absl::InternalError(absl::StrFormat("%s: output %d has %d of %d credits at the end.", name, output,
                                                 output_credits_[output], output_capacity_));
    }
  }
  if (counters_.pushed != counters_.messages) {
    return absl::InternalError(
        absl::StrFormat("%s: %d messages were pushed, but %d arrived.", name, counters_.pushed, counters_.messages));
  }
  return absl::OkStatus();
}

std::string Crossbar::Explain(const std::string& name) const {
  std::string text;
  for (size_t buffer = 0; buffer < input_credits_.size(); ++buffer) {
    if (input_credits_[buffer] == input_capacity_) continue;
    absl::StrAppendFormat(&text, "%s: input %d, buffer %d: %d of %d flits, asks for output", name, buffer / speedup_,
                          buffer % speedup_, input_capacity_ - input_credits_[buffer], input_capacity_);
    ForEachBit(asked_by_.Row(buffer), [&](uint32_t output) { absl::StrAppend(&text, " ", output); });
    absl::StrAppend(&text, "\n");
  }
  for (size_t output = 0; output < outputs_.size(); ++output) {
    if (output_credits_[output] == output_capacity_) continue;
    absl::StrAppendFormat(&text, "%s: output %d: %d of %d flits taken or reserved, %d whole messages%s\n", name, output,
                          output_capacity_ - output_credits_[output], output_capacity_, outputs_[output].count,
                          TestBit(blocked_, output) ? ", nothing that is asked for fits" : "");
  }
  return text;
}

}  // namespace heddle::replay
