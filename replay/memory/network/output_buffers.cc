#include "replay/memory/network/output_buffers.h"

#include "absl/strings/str_format.h"

namespace heddle::replay {

OutputBuffers::OutputBuffers(uint32_t outputs, uint32_t capacity)
    : capacity_(capacity), outputs_(outputs), arrivals_(size_t{outputs} * capacity) {
  for (Output& output : outputs_) output.credits = capacity_;
}

absl::Status OutputBuffers::CheckEmpty(const std::string& name) const {
  for (size_t output = 0; output < outputs_.size(); ++output) {
    if (outputs_[output].credits == capacity_) continue;
    return absl::InternalError(absl::StrFormat("%s: output %d has %d of %d credits at the end.", name, output,
                                               outputs_[output].credits, capacity_));
  }
  return absl::OkStatus();
}

std::string OutputBuffers::Explain(const std::string& name) const {
  std::string text;
  for (size_t output = 0; output < outputs_.size(); ++output) {
    const Output& out = outputs_[output];
    if (out.credits == capacity_) continue;
    absl::StrAppendFormat(&text, "%s: output %d: %d of %d flits taken or reserved, %d whole messages%s\n", name, output,
                          capacity_ - out.credits, capacity_, out.whole,
                          out.state == State::kBlocked ? ", no room for what is sent to it" : "");
  }
  return text;
}

}  // namespace heddle::replay
