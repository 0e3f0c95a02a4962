#include "replay/memory/network/cluster_network.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

ClusterNetwork::ClusterNetwork(const machine::v1::Machine& machine)
    : timing_(machine.clusters()),
      shared_latency_(std::max(1u, machine.memory().hierarchy().shared().latency())),
      ports_(machine.sms()) {}

void ClusterNetwork::BeginLaunch() {
  std::fill(ports_.begin(), ports_.end(), Port());
  events_ = {};
  sent_ = served_ = answered_ = replied_ = Traffic();
  events_added_ = passes_ = wait_cycles_ = latency_sum_ = 0;
}

Cycle ClusterNetwork::Occupy(Cycle& free, Cycle cycles, Cycle now) {
  const Cycle start = std::max(now, free);
  wait_cycles_ += start - now;
  free = start + cycles;
  return start;
}

Cycle ClusterNetwork::Send(const RemoteAccess& access, Cycle now) {
  sent_.Count(access.request_bytes);
  RemoteAccess message = access;
  message.sent = now;
  const Cycle cycles = timing_.CyclesOf(access.request_bytes);
  Add(Occupy(ports_[access.from].out_free, cycles, now) + timing_.network_cycles, Stage::kRequestComes, message);
  return cycles;
}

void ClusterNetwork::Advance(Cycle now, SmWaker& waker) {
  while (!events_.empty() && events_.top().at <= now) {
    const Event event = events_.top();
    events_.pop();
    RunEvent(event, waker);
  }
}

void ClusterNetwork::RunEvent(const Event& event, SmWaker& waker) {
  const RemoteAccess& access = event.access;
  switch (event.stage) {
    case Stage::kRequestComes:
      Serve(access, event.at);
      return;
    case Stage::kReplyLeaves: {
      answered_.Count(access.reply_bytes);
      const Cycle cycles = timing_.CyclesOf(access.reply_bytes);
      const Cycle start = Occupy(ports_[access.to].out_free, cycles, event.at);
      Add(start + timing_.network_cycles, Stage::kReplyComes, access);
      return;
    }
    case Stage::kReplyComes: {
      const Cycle cycles = timing_.CyclesOf(access.reply_bytes);
      Add(Occupy(ports_[access.from].in_free, cycles, event.at) + cycles, Stage::kReplyTaken, access);
      return;
    }
    case Stage::kReplyTaken:
      replied_.Count(access.reply_bytes);
      latency_sum_ += event.at - access.sent;
      ports_[access.from].client->RemoteReply(access);
      waker.WakeSm(access.from);
      return;
  }
}

void ClusterNetwork::Serve(const RemoteAccess& access, Cycle now) {
  served_.Count(access.request_bytes);
  passes_ += access.passes;
  Port& port = ports_[access.to];
  const Cycle cycles = timing_.CyclesOf(access.request_bytes);
  const Cycle there = Occupy(port.in_free, cycles, now) + cycles;
  const Cycle last_pass = Occupy(port.banks_free, access.passes, there) + access.passes - 1;
  Add(last_pass + (access.store ? 1 : shared_latency_), Stage::kReplyLeaves, access);
}

absl::Status ClusterNetwork::EndLaunch(result::v1::LaunchResult& result) const {
  const auto differ = [](const char* what, const Traffic& left, const Traffic& right) {
    return absl::InternalError(absl::StrCat("the network between the SMs of clusters: ", what, ": ", left.messages,
                                            " messages with ", left.bytes, " bytes, and ", right.messages, " with ",
                                            right.bytes));
  };
  if (sent_ != served_) return differ("requests that were sent, and that were served", sent_, served_);
  if (answered_ != replied_) return differ("replies that left, and that came", answered_, replied_);
  if (served_.messages != replied_.messages) return differ("requests, and their replies", served_, replied_);
  if (sent_.messages == 0) return absl::OkStatus();
  result::v1::ClusterCounters& out = *result.mutable_clusters();
  out.set_requests(sent_.messages);
  out.set_request_bytes(sent_.bytes);
  out.set_replies(replied_.messages);
  out.set_reply_bytes(replied_.bytes);
  out.set_passes(passes_);
  out.set_port_wait_cycles(wait_cycles_);
  out.set_latency_sum(latency_sum_);
  out.set_latency_mean(static_cast<double>(latency_sum_) / static_cast<double>(sent_.messages));
  return absl::OkStatus();
}

std::string ClusterNetwork::Explain() const {
  if (events_.empty()) return {};
  return absl::StrCat("network between the SMs of clusters: ", events_.size(), " messages under way");
}

}  // namespace heddle::replay
