#include "replay/memory/dram_controllers.h"

#include "absl/strings/str_cat.h"
#include "replay/memory/memory_result.h"

namespace heddle::replay {

DramControllers::DramControllers(const DramParameters& parameters, const AddressMap& map, L2Slices& slices,
                                 PartitionTime& time, bool force_tick)
    : states_(map.controllers()),
      slices_(slices),
      time_(time),
      map_(map),
      slices_per_controller_(map.slices() / map.controllers()),
      force_tick_(force_tick),
      parameters_(parameters) {
  controllers_ = MakeControllers();
}

std::vector<DramController> DramControllers::MakeControllers() const {
  std::vector<DramController> made;
  made.reserve(states_.size());
  for (size_t i = 0; i < states_.size(); ++i) made.emplace_back(parameters_);
  return made;
}

void DramControllers::Flush() {
  controllers_ = MakeControllers();
  for (State& state : states_) state.next_slice = 0;
}

void DramControllers::BeginLaunch() {
  for (DramController& controller : controllers_) {
    controller.BeginLaunch();
    controller.ResetCounters();
  }
  for (State& state : states_) state = {.next_slice = state.next_slice};
  sampled_ = false;
  under_way_ = 0;
}

void DramControllers::WakeAll() {
  for (uint32_t controller = 0; controller < states_.size(); ++controller) time_.dram().Wake(controller, 0);
}

void DramControllers::JobQueued(uint32_t slice, Edge ready) {
  ++under_way_;
  const uint32_t controller = slice / slices_per_controller_;
  State& state = states_[controller];
  state.job_ready = std::min(state.job_ready, ready);
  if (ready >= state.wake) return;  // it looks for jobs then
  state.wake = ready;
  time_.dram().Wake(controller, ready);
}

// One job enters the controller; one is ready.
void DramControllers::TakeJob(uint32_t controller, Edge edge) {
  State& state = states_[controller];
  const uint32_t first = controller * slices_per_controller_;
  uint32_t place = state.next_slice;
  while (slices_[first + place].jobs().ready() > edge) place = place + 1 == slices_per_controller_ ? 0 : place + 1;
  L2Slice& slice = slices_[first + place];
  const DramJob& job = slice.jobs().front();
  const DramLocation location = map_.Locate(job.address);
  DramRequest request;
  request.request.address = job.address;
  request.request.tag = job.entry;
  request.request.slice = static_cast<uint16_t>(first + place);
  request.row = location.row;
  request.bank = static_cast<uint16_t>(location.bank);
  request.bytes = job.bytes;
  request.write = job.write;
  controllers_[controller].Push(request, edge);
  slice.TakeDramJob();
  state.next_slice = place + 1 == slices_per_controller_ ? 0 : place + 1;
  if (slice.waits_for_dram_queue()) time_.l2().Wake(first + place, time_.clocks().Soonest(Domain::kL2));
  Edge ready = kNoEdge;
  for (uint32_t i = first; i < first + slices_per_controller_; ++i) ready = std::min(ready, slices_[i].jobs().ready());
  state.job_ready = ready;
}

void DramControllers::Run(uint32_t controller, Edge edge) {
  DramController& dram = controllers_[controller];
  State& state = states_[controller];
  if (edge >= state.ahead) RunAhead(controller, edge);
  while (const DramReply* reply = dram.Reply(edge)) {
    const uint32_t slice = reply->request.slice;
    slices_[slice].Returned(reply->request.tag, reply->write);
    --under_way_;
    ++served_;
    dram.PopReply();
    time_.l2().Wake(slice, time_.clocks().Soonest(Domain::kL2));
  }
  Edge next = std::min(NextEvent(controller), dram.NextReply());
  if (force_tick_) next = edge + 1;
  state.wake = next == kNoEdge ? next : std::max(next, edge + 1);
  time_.dram().Wake(controller, state.wake);
}

void DramControllers::RunAhead(uint32_t controller, Edge edge) {
  DramController& dram = controllers_[controller];
  State& state = states_[controller];
  const Edge end = AheadUntil(controller, edge);
  for (Edge now = edge; now < end; now = std::max(now + 1, NextEvent(controller))) {
    if (state.job_ready <= now && dram.HasRoom()) TakeJob(controller, now);
    if (dram.NextCommand() <= now) dram.Tick(now);
  }
  state.ahead = end;
}

// A job that is taken before its time leaves room in the slice's queue before its time: that may not be seen. So until
// then the queue must have room for all that the slice can queue.
Edge DramControllers::AheadUntil(uint32_t controller, Edge edge) {
  if (force_tick_ || sampled_) return edge + 1;
  uint32_t room = ~uint32_t{0};
  const uint32_t first = controller * slices_per_controller_;
  for (uint32_t slice = first; slice < first + slices_per_controller_; ++slice) {
    room = std::min(room, slices_[slice].jobs().room());
  }
  // In the last of these edges there has to be room still for the most that a slice queues in one.
  const Edge l2_edges = room / L2Slice::kMostJobsPerEdge;
  if (l2_edges < 2) return edge + 1;
  const Tick ticks = (l2_edges - 2) * time_.clocks().period(Domain::kL2);
  return std::min(time_.AfterDramPipe(), edge + 1 + ticks / time_.clocks().period(Domain::kDram));
}

void DramControllers::Settle(uint64_t cycle) {
  for (DramController& controller : controllers_) controller.Settle(cycle);
}

absl::StatusOr<DramCounters> DramControllers::CheckedCounters() const {
  DramCounters counters;
  for (size_t i = 0; i < controllers_.size(); ++i) {
    const DramController& controller = controllers_[i];
    if (!controller.drained()) return absl::InternalError(controller.Explain(absl::StrCat("DRAM controller ", i)));
    counters.Add(controller.counters());
  }
  return counters;
}

void DramControllers::Write(Edge end, result::v1::DramCounters& out) const {
  DramCounters counters;
  for (const DramController& controller : controllers_) counters.Add(controller.counters());
  WriteDram(counters, end, controllers_.size(), out);
}

void DramControllers::AddSample(MemorySample& out) const {
  for (const DramController& controller : controllers_) {
    const DramCounters& counters = controller.counters();
    out.dram_requests += counters.read_requests + counters.write_requests;
    out.dram_bus_busy += counters.bus_busy;
  }
}

std::vector<std::string> DramControllers::Explain() const {
  std::vector<std::string> text;
  for (size_t i = 0; i < controllers_.size(); ++i) {
    text.push_back(controllers_[i].Explain(absl::StrCat("DRAM controller ", i)));
  }
  return text;
}

}  // namespace heddle::replay
