#include "replay/memory/request_network.h"

namespace heddle::replay {

RequestNetwork::RequestNetwork(const machine::v1::Machine& machine, uint32_t slices, PartitionTime& time)
    : time_(time),
      crossbar_(PortsOf(machine), slices, machine.memory().hierarchy().network(),
                2 * machine.memory().hierarchy().network().seed()),
      waits_(machine.sms()),
      sizes_(machine.memory().hierarchy().network()),
      sms_per_port_(machine.memory().hierarchy().network().sms_per_port()),
      buffers_per_port_(machine.memory().hierarchy().network().input_speedup()),
      ports_(PortsOf(machine)),
      slices_(slices),
      config_(machine.memory().hierarchy().network()) {
  if (sms_per_port_ > 1) turns_.emplace(ports_, buffers_per_port_, sms_per_port_);
}

void RequestNetwork::Flush() { crossbar_ = Crossbar(ports_, slices_, config_, 2 * config_.seed()); }

void RequestNetwork::BeginLaunch() {
  crossbar_.BeginLaunch();
  crossbar_.ResetCounters();
  std::fill(waits_.begin(), waits_.end(), 0);
  waiting_ = 0;
  if (turns_) turns_->Clear();
}

}  // namespace heddle::replay
