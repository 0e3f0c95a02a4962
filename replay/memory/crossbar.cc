#include "replay/memory/crossbar.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::replay {

using machine::v1::Network;

namespace {

std::unique_ptr<CrossbarAllocator> MakeAllocator(uint32_t buffers, uint32_t outputs, const Network& network,
                                                 uint64_t seed) {
  return network.allocator() == Network::ISLIP ? MakeIslipAllocator(buffers, outputs, network.iterations())
                                               : MakePimAllocator(buffers, outputs, network.iterations(), seed);
}

}  // namespace

Crossbar::Crossbar(uint32_t inputs, uint32_t outputs, const Network& network, uint64_t seed)
    : flit_bytes_(network.flit_bytes()),
      speedup_(network.input_speedup()),
      input_capacity_(network.input_buffer_flits()),
      output_capacity_(network.output_buffer_flits()),
      fifo_inputs_(network.fifo_inputs()),
      reserves_(!network.no_message_reservation()),
      allocator_(MakeAllocator(inputs * speedup_, outputs, network, seed)),
      blind_(allocator_->asks_blindly()),
      rows_are_buffers_(allocator_->rows_are_buffers()) {
  const uint32_t buffers = inputs * speedup_;
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
  wanting_ = BitMatrix(outputs, buffers);
  begun_ = BitMatrix(outputs, buffers);
  requests_ = BitMatrix(outputs, buffers);
  if (rows_are_buffers_) requests_by_buffer_ = BitMatrix(buffers, outputs);
  head_flits_.resize(size_t{outputs} * buffers);
  state_.resize(outputs, OutputState::kUnwanted);
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
    BecomeHead(buffer, message);
    Refresh(output);
  } else {
    MessageOf(buffer, queue.last).next = index;
    queue.last = index;
  }
}

// A message has come to the head of its queue; its output has to be refreshed.
void Crossbar::BecomeHead(uint32_t buffer, const Message& message) {
  wanting_.Set(message.output, buffer);
  head_flits_[size_t{message.output} * input_credits_.size() + buffer] = message.flits;
}

// Finds out anew who takes part in the matching for an output: after a change of its heads or its room.
void Crossbar::Refresh(uint32_t output) {
  const std::span<const uint64_t> wanting = wanting_.Row(output);
  const uint32_t room = output_credits_[output];
  OutputState state = OutputState::kUnwanted;
  if (!TestBit(wanting_.filled_rows(), output)) {
    SetRequests(output, wanting);
  } else if (reserves_ ? room >= largest_ : room > 0) {
    state = OutputState::kReady;
    SetRequests(output, wanting);
  } else {
    std::ranges::copy(begun_.Row(output), fitting_.begin());
    if (reserves_ && room > 0) {
      const uint16_t* flits = &head_flits_[size_t{output} * input_credits_.size()];
      ForEachBit(wanting, [&](uint32_t buffer) {
        if (flits[buffer] <= room) SetBit(fitting_, buffer);
      });
    }
    state = AnyBit(fitting_) ? OutputState::kReady : OutputState::kBlocked;
    SetRequests(output, blind_ && state == OutputState::kBlocked ? wanting : fitting_);
  }
  if (state == state_[output]) return;
  ready_outputs_ += (state == OutputState::kReady) - (state_[output] == OutputState::kReady);
  blocked_outputs_ += (state == OutputState::kBlocked) - (state_[output] == OutputState::kBlocked);
  state_[output] = state;
}

void Crossbar::SetRequests(uint32_t output, std::span<const uint64_t> buffers) {
  if (rows_are_buffers_) {
    const std::span<const uint64_t> before = requests_.Row(output);
    for (uint32_t word = 0; word < buffers.size(); ++word) {
      for (uint64_t rest = before[word] ^ buffers[word]; rest != 0; rest &= rest - 1) {
        const uint32_t bit = std::countr_zero(rest);
        if (buffers[word] >> bit & 1) {
          requests_by_buffer_.Set(word * 64 + bit, output);
        } else {
          requests_by_buffer_.Clear(word * 64 + bit, output);
        }
      }
    }
  }
  requests_.AssignRow(output, buffers);
}

void Crossbar::Settle(uint64_t next_edge) {
  if (next_edge <= settled_) return;
  const uint64_t edges = next_edge - settled_;
  counters_.buffer_requests += edges * occupied_buffers_;
  counters_.blocked_outputs += edges * blocked_outputs_;
  settled_ = next_edge;
}

void Crossbar::Tick(uint64_t edge) {
  Settle(edge + 1);
  if (!has_work()) return;
  grants_.clear();
  allocator_->Allocate(edge, rows_are_buffers_ ? requests_by_buffer_ : requests_, grants_);
  // What was granted of a full output is lost.
  if (blind_) {
    std::erase_if(grants_, [&](const CrossbarGrant& grant) { return state_[grant.output] == OutputState::kBlocked; });
  }
  for (const CrossbarGrant& grant : grants_) Move(grant.buffer, grant.output, edge);
}

// One flit of the head message goes from the buffer to the output.
void Crossbar::Move(uint32_t buffer, uint32_t output, uint64_t edge) {
  Message& message = MessageOf(buffer, QueueOf(buffer, output).first);
  ++counters_.flits;
  if (++input_credits_[buffer] == input_capacity_) --occupied_buffers_;
  SetBit(room_made_, buffer / speedup_);
  const bool first = message.sent == 0;
  if (first) counters_.input_wait += edge - message.first_edge;
  if (!reserves_) {
    --output_credits_[output];
  } else if (first) {
    output_credits_[output] -= message.flits;
    begun_.Set(output, buffer);
  }
  const bool last = ++message.sent == message.flits;
  if (last) Arrive(buffer, message, edge);
  if (first || last || !reserves_) Refresh(output);
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
  wanting_.Clear(output, buffer);
  Queue& queue = QueueOf(buffer, output);
  const uint16_t index = queue.first;
  queue.first = message.next;
  MessageOf(buffer, index).next = free_[buffer];
  free_[buffer] = index;
  if (queue.first == kNone) return;
  const Message& next = MessageOf(buffer, queue.first);
  BecomeHead(buffer, next);
  if (next.output != output) Refresh(next.output);  // fifo_inputs
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
    for (uint32_t output = 0; output < outputs_.size(); ++output) {
      if (wanting_.Test(output, buffer)) absl::StrAppend(&text, " ", output);
    }
    absl::StrAppend(&text, "\n");
  }
  for (size_t output = 0; output < outputs_.size(); ++output) {
    if (output_credits_[output] == output_capacity_) continue;
    absl::StrAppendFormat(&text, "%s: output %d: %d of %d flits taken or reserved, %d whole messages%s\n", name, output,
                          output_capacity_ - output_credits_[output], output_capacity_, outputs_[output].count,
                          state_[output] == OutputState::kBlocked ? ", nothing that is asked for fits" : "");
  }
  return text;
}

}  // namespace heddle::replay
