#include "replay/memory/partitioned_back_end.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/memory/partitioned_port.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {

PartitionedBackEnd::Parts::Parts(const machine::v1::Machine& machine, const DramParameters& dram, uint32_t ports,
                                 uint32_t slices, Tick l2_period, Tick core_period)
    : up(ports, slices, machine.memory().hierarchy().network(), 2 * machine.memory().hierarchy().network().seed()),
      down(slices, ports, machine.memory().hierarchy().network(),
           2 * machine.memory().hierarchy().network().seed() + 1) {
  const machine::v1::Hierarchy& hierarchy = machine.memory().hierarchy();
  const auto l2_edges = [&](uint64_t core_cycles) {
    return static_cast<uint32_t>((core_cycles * core_period + l2_period - 1) / l2_period);
  };
  this->slices.reserve(slices);
  for (uint32_t slice = 0; slice < slices; ++slice) {
    this->slices.emplace_back(hierarchy.l2(), slice, l2_edges(hierarchy.l2().rop_cycles()),
                              l2_edges(hierarchy.l2().dram_pipe_cycles()));
  }
  controllers.reserve(hierarchy.dram().controllers());
  for (uint32_t i = 0; i < hierarchy.dram().controllers(); ++i) controllers.emplace_back(dram);
}

PartitionedBackEnd::Time::Time(const std::array<Tick, kDomains>& periods, uint32_t slices, uint32_t controllers)
    : clocks(periods),
      dram(controllers, clocks, Domain::kDram),
      l2(slices, clocks, Domain::kL2),
      network(2, clocks, Domain::kNetwork) {}

absl::StatusOr<std::unique_ptr<PartitionedBackEnd>> PartitionedBackEnd::Make(const machine::v1::Machine& machine,
                                                                             uint64_t seed, bool force_tick) {
  const machine::v1::Hierarchy& hierarchy = machine.memory().hierarchy();
  absl::StatusOr<std::array<Tick, kDomains>> periods = ClockPeriods(machine.clocks());
  if (!periods.ok()) return periods.status();
  HEDDLE_ASSIGN_OR_RETURN(AddressMap map, AddressMap::Make(hierarchy.address_map(), hierarchy.dram(),
                                                           hierarchy.l2().slices_per_controller()));
  HEDDLE_ASSIGN_OR_RETURN(DramParameters dram, DramParameters::Make(hierarchy.dram()));
  return std::unique_ptr<PartitionedBackEnd>(new PartitionedBackEnd(machine, *periods, map, dram, seed, force_tick));
}

PartitionedBackEnd::PartitionedBackEnd(const machine::v1::Machine& machine, const std::array<Tick, kDomains>& periods,
                                       const AddressMap& map, const DramParameters& dram, uint64_t seed,
                                       bool force_tick)
    : machine_(machine),
      periods_(periods),
      map_(map),
      dram_parameters_(dram),
      seed_(seed),
      force_tick_(force_tick),
      slices_keep_up_(periods[static_cast<int>(Domain::kL2)] <= periods[static_cast<int>(Domain::kNetwork)]),
      sms_per_port_(machine.memory().hierarchy().network().sms_per_port()),
      buffers_per_port_(machine.memory().hierarchy().network().input_speedup()),
      slices_per_controller_(std::max<uint32_t>(machine.memory().hierarchy().l2().slices_per_controller(), 1)),
      header_bytes_(machine.memory().hierarchy().network().header_bytes()),
      control_bytes_(machine.memory().hierarchy().network().control_bytes()),
      rop_ticks_(machine.memory().hierarchy().l2().rop_cycles() * periods[static_cast<int>(Domain::kCore)]),
      dram_pipe_ticks_(machine.memory().hierarchy().l2().dram_pipe_cycles() * periods[static_cast<int>(Domain::kCore)]),
      waits_for_room_(machine.sms()),
      reply_taken_(PortOf(machine.sms() - 1) + 1),
      ports_with_reply_((reply_taken_.size() + 63) / 64),
      reply_blocked_(map.slices()),
      blocked_reply_(map.slices()),
      next_slice_(map.controllers()),
      job_ready_(map.controllers()),
      dram_ahead_(map.controllers()),
      dram_wake_(map.controllers()),
      jitter_(0, 0, 0) {
  for (uint32_t sm = 0; sm < machine.sms(); ++sm) ports_.emplace_back(*this, sm);
  if (sms_per_port_ > 1) turns_.emplace(PortOf(machine.sms() - 1) + 1, buffers_per_port_, sms_per_port_);
}

PartitionedBackEnd::~PartitionedBackEnd() = default;

NetworkPort& PartitionedBackEnd::port(uint32_t sm) { return ports_[sm]; }

void PartitionedBackEnd::Invalidate(std::vector<AddressRange> ranges) {
  if (!parts_) return;
  std::ranges::sort(ranges, {}, &AddressRange::first);
  // Each range begins behind the end of the one before.
  std::vector<AddressRange> apart;
  for (const AddressRange& range : ranges) {
    if (apart.empty() || range.first > apart.back().last) {
      apart.push_back(range);
    } else {
      apart.back().last = std::max(apart.back().last, range.last);
    }
  }
  for (L2Slice& slice : parts_->slices) slice.Invalidate(apart);
}

void PartitionedBackEnd::BeginLaunch(uint64_t number) {
  const machine::v1::Hierarchy& hierarchy = machine_.memory().hierarchy();
  const uint32_t ports = static_cast<uint32_t>(reply_taken_.size());
  if (!parts_ || hierarchy.l2_between_launches() == machine::v1::Hierarchy::FLUSH) {
    parts_.emplace(machine_, dram_parameters_, ports, map_.slices(), periods_[static_cast<int>(Domain::kL2)],
                   periods_[static_cast<int>(Domain::kCore)]);
    std::fill(next_slice_.begin(), next_slice_.end(), 0);
  }
  for (Crossbar* crossbar : {&parts_->up, &parts_->down}) {
    crossbar->BeginLaunch();
    crossbar->ResetCounters();
  }
  for (L2Slice& slice : parts_->slices) slice.BeginLaunch();
  for (DramController& controller : parts_->controllers) {
    controller.BeginLaunch();
    controller.ResetCounters();
  }
  time_.emplace(periods_, map_.slices(), map_.controllers());
  std::fill(waits_for_room_.begin(), waits_for_room_.end(), 0);
  waiting_for_room_ = 0;
  if (turns_) turns_->Clear();
  std::fill(reply_taken_.begin(), reply_taken_.end(), 0);
  std::fill(job_ready_.begin(), job_ready_.end(), kNoEdge);
  std::fill(dram_ahead_.begin(), dram_ahead_.end(), 0);
  std::fill(dram_wake_.begin(), dram_wake_.end(), kNoEdge);
  sampled_ = false;
  std::fill(ports_with_reply_.begin(), ports_with_reply_.end(), 0);
  ports_with_reply_count_ = 0;
  reply_blocked_.Clear();
  blocked_replies_ = 0;
  jitter_ = Jitter(hierarchy.jitter_cycles(), seed_, number);
  if (jitter_.on()) delayed_.emplace(machine_.sms());
  now_ = 0;
  requests_under_way_ = 0;
  dram_under_way_ = 0;
  port_counters_ = {};
  if (force_tick_) WakeAll();
}

void PartitionedBackEnd::WakeAll() {
  for (uint32_t i = 0; i < parts_->controllers.size(); ++i) time_->dram.Wake(i, 0);
  for (uint32_t i = 0; i < parts_->slices.size(); ++i) time_->l2.Wake(i, 0);
  time_->network.Wake(kUp, 0);
  time_->network.Wake(kDown, 0);
}

Cycle PartitionedBackEnd::NextEvent() const {
  Cycle next = delayed_ ? delayed_->next() : kNever;
  if (ports_with_reply_count_ != 0) next = std::min(next, now_ + 1);
  const Tick first = std::min({time_->dram.next_time(), time_->l2.next_time(), time_->network.next_time()});
  if (first == ~Tick{0}) return next;
  // Mostly the next cycle, which takes no division.
  const ClockDomains& clocks = time_->clocks;
  const Tick end = now_ * clocks.period(Domain::kCore);
  const bool is_next = first > end && first <= end + clocks.period(Domain::kCore);
  return std::min<Cycle>(next, is_next ? now_ + 1 : clocks.NotBefore(Domain::kCore, first));
}

void PartitionedBackEnd::Advance(Cycle now, SmWaker& waker) {
  Time& time = *time_;
  waker_ = &waker;
  now_ = now;
  const Tick end = now * time.clocks.period(Domain::kCore);
  for (;;) {
    // Of edges at the same time that of the first domain runs first.
    const Tick dram = time.dram.next_time();
    const Tick l2 = time.l2.next_time();
    const Tick network = time.network.next_time();
    if (dram <= l2 && dram <= network) {
      if (dram > end) break;
      const Edge edge = time.dram.next();
      time.dram.RunNext([&](uint32_t controller) { RunDram(controller, edge); });
    } else if (l2 <= network) {
      if (l2 > end) break;
      const Edge edge = time.l2.next();
      time.l2.RunNext([&](uint32_t slice) { RunSlice(slice, edge); });
    } else {
      if (network > end) break;
      const Edge edge = time.network.next();
      time.network.RunNext([&](uint32_t direction) { direction == kUp ? RunUp(edge) : RunDown(edge); });
    }
  }
  time.clocks.Enter(Domain::kCore, now);
  if (delayed_) delayed_->Wake(now, [this](uint32_t sm) { WakeSm(sm); });
  if (ports_with_reply_count_ != 0) {
    for (size_t word = 0; word < ports_with_reply_.size(); ++word) {
      for (uint64_t bits = ports_with_reply_[word]; bits != 0; bits &= bits - 1) {
        WakeSm(parts_->down.Peek(static_cast<uint32_t>(word * 64 + std::countr_zero(bits)))->sm);
      }
    }
  }
  waker_ = nullptr;
}

// One job per cycle enters the controller, from the slices in turn; one is ready.
void PartitionedBackEnd::TakeDramJob(uint32_t controller, Edge edge) {
  const uint32_t first = controller * slices_per_controller_;
  uint32_t place = next_slice_[controller];
  while (parts_->slices[first + place].jobs().ready() > edge) {
    place = place + 1 == slices_per_controller_ ? 0 : place + 1;
  }
  L2Slice& slice = parts_->slices[first + place];
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
  parts_->controllers[controller].Push(request, edge);
  slice.TakeDramJob();
  next_slice_[controller] = place + 1 == slices_per_controller_ ? 0 : place + 1;
  if (slice.waits_for_dram_queue()) time_->l2.Wake(first + place, time_->clocks.Soonest(Domain::kL2));
  Edge ready = kNoEdge;
  for (uint32_t i = first; i < first + slices_per_controller_; ++i) {
    ready = std::min(ready, parts_->slices[i].jobs().ready());
  }
  job_ready_[controller] = ready;
}

// A controller hears of nothing but its slices' jobs, and of these long before it may take them. So it runs ahead,
// while the host has its state at hand: through all edges before the first at which a job that is not queued yet can be
// ready. Only replies wait for their time.
void PartitionedBackEnd::RunDram(uint32_t controller, Edge edge) {
  DramController& dram = parts_->controllers[controller];
  if (edge >= dram_ahead_[controller]) RunDramAhead(controller, edge);
  while (const DramReply* reply = dram.Reply(edge)) {
    const uint32_t slice = reply->request.slice;
    parts_->slices[slice].Returned(reply->request.tag, reply->write);
    --dram_under_way_;
    ++dram_served_;
    dram.PopReply();
    time_->l2.Wake(slice, time_->clocks.Soonest(Domain::kL2));
  }
  Edge next = std::min(NextDramEvent(controller), dram.NextReply());
  if (force_tick_) next = edge + 1;
  dram_wake_[controller] = next == kNoEdge ? next : std::max(next, edge + 1);
  time_->dram.Wake(controller, dram_wake_[controller]);
}

Edge PartitionedBackEnd::NextDramEvent(uint32_t controller) const {
  const DramController& dram = parts_->controllers[controller];
  // A job that found no room is tried again when the queue gives something to a bank, which is an event.
  return dram.HasRoom() ? std::min(dram.NextCommand(), job_ready_[controller]) : dram.NextCommand();
}

void PartitionedBackEnd::RunDramAhead(uint32_t controller, Edge edge) {
  DramController& dram = parts_->controllers[controller];
  const Edge end = DramAheadUntil(controller, edge);
  for (Edge now = edge; now < end; now = std::max(now + 1, NextDramEvent(controller))) {
    if (job_ready_[controller] <= now && dram.HasRoom()) TakeDramJob(controller, now);
    if (dram.NextCommand() <= now) dram.Tick(now);
  }
  dram_ahead_[controller] = end;
}

// A job that is taken before its time leaves room in the slice's queue before its time: that may not be seen. So until
// then the queue must have room for all that the slice can queue.
Edge PartitionedBackEnd::DramAheadUntil(uint32_t controller, Edge edge) {
  if (force_tick_ || sampled_) return edge + 1;
  uint32_t room = ~uint32_t{0};
  const uint32_t first = controller * slices_per_controller_;
  for (uint32_t slice = first; slice < first + slices_per_controller_; ++slice) {
    room = std::min(room, parts_->slices[slice].jobs().room());
  }
  // In the last of these edges there has to be room still for the most that a slice queues in one.
  const Edge l2_edges = room / L2Slice::kMostJobsPerEdge;
  if (l2_edges < 2) return edge + 1;
  const Tick ticks = (l2_edges - 2) * time_->clocks.period(Domain::kL2);
  return std::min(AfterDramPipe(), edge + 1 + ticks / time_->clocks.period(Domain::kDram));
}

void PartitionedBackEnd::RunSlice(uint32_t slice, Edge edge) {
  const Edge next = parts_->slices[slice].Run(edge, *this);
  time_->l2.Wake(slice, force_tick_ ? edge + 1 : next);
}

void PartitionedBackEnd::WakeSm(uint32_t sm) {
  ports_[sm].NoteNews();
  waker_->WakeSm(sm);
}

void PartitionedBackEnd::RunUp(Edge edge) {
  Crossbar& up = parts_->up;
  up.Tick(edge);
  up.TakeArrivals([&](uint32_t slice) { RequestArrived(slice, edge); });
  if (waiting_for_room_ == 0 && !turns_) {
    up.ForgetRoomMade();
  } else {
    up.TakeRoomMade([&](uint32_t port) {
      if (turns_) turns_->RoomMade(port);
      const uint32_t last = std::min<uint32_t>((port + 1) * sms_per_port_, machine_.sms());
      for (uint32_t sm = port * sms_per_port_; sm < last; ++sm) {
        if (waits_for_room_[sm] == 0 || !ports_[sm].RoomWasMade()) continue;
        waits_for_room_[sm] = 0;
        --waiting_for_room_;
        WakeSm(sm);
      }
    });
  }
  if (up.has_work() || force_tick_) time_->network.Wake(kUp, edge + 1);
}

// A request has become whole at edge `edge`. If the slice's next edge comes before the network's, and nothing is in the
// way, then it is taken in there, and its room in the network is free at the network's next edge: both are known now.
void PartitionedBackEnd::RequestArrived(uint32_t slice, Edge edge) {
  Crossbar& up = parts_->up;
  const Edge next = time_->clocks.Soonest(Domain::kL2);
  if (slices_keep_up_ && up.Whole(slice) == 1) {
    const Tick after_rop = next * time_->clocks.period(Domain::kL2) + rop_ticks_;
    const Edge ready = std::max(next + 1, time_->clocks.NotBefore(Domain::kL2, after_rop));
    bool wakes = false;
    if (parts_->slices[slice].TakeInAtOnce(*up.Peek(slice), ready, wakes)) {
      up.Pop(slice, edge + 1);
      if (wakes) time_->l2.Wake(slice, ready);
      return;
    }
  }
  time_->l2.Wake(slice, next);
}

void PartitionedBackEnd::RunDown(Edge edge) {
  Crossbar& down = parts_->down;
  down.Tick(edge);
  down.TakeArrivals([&](uint32_t port) { ReplyArrived(port); });
  if (blocked_replies_ == 0) {
    down.ForgetRoomMade();
  } else {
    down.TakeRoomMade(reply_blocked_, [&](uint32_t slice) {
      // A message leaves flit by flit; the reply waits until there is room for all of it.
      const BlockedReply& reply = blocked_reply_[slice];
      if (!down.HasRoom(slice, reply.port, reply.flits)) return;
      parts_->slices[slice].NetworkHasRoom();
      reply_blocked_.Erase(slice);
      --blocked_replies_;
      time_->l2.Wake(slice, time_->clocks.Soonest(Domain::kL2));
    });
  }
  if (down.has_work() || force_tick_) time_->network.Wake(kDown, edge + 1);
}

// The oldest reply at the port can be taken.
void PartitionedBackEnd::ReplyArrived(uint32_t port) {
  if (delayed_) {
    // The cycle in which it would be seen, and the noise.
    while (const MemoryRequest* reply = parts_->down.Peek(port)) {
      delayed_->Add(*reply, time_->clocks.Soonest(Domain::kCore) + jitter_.Next());
      parts_->down.Pop(port, time_->clocks.Soonest(Domain::kNetwork));
    }
    return;
  }
  uint64_t& word = ports_with_reply_[port >> 6];
  const uint64_t bit = uint64_t{1} << (port & 63);
  ports_with_reply_count_ += (word & bit) == 0;
  word |= bit;
}

// The SM has taken the oldest reply at the port.
void PartitionedBackEnd::PopReply(uint32_t port) {
  Crossbar& down = parts_->down;
  const Edge edge = time_->clocks.Soonest(Domain::kNetwork);
  down.Pop(port, edge);
  if (down.has_work()) time_->network.Wake(kDown, edge);
  if (down.Peek(port) == nullptr) {
    ports_with_reply_[port >> 6] &= ~(uint64_t{1} << (port & 63));
    --ports_with_reply_count_;
  }
}

uint32_t PartitionedBackEnd::BytesUp(const MemoryRequest& request) const {
  return request.kind == RequestKind::kRead ? control_bytes_ : header_bytes_ + request.bytes;
}

uint32_t PartitionedBackEnd::BytesDown(const MemoryRequest& reply) const {
  return reply.kind == RequestKind::kWrite ? control_bytes_ : header_bytes_ + reply.bytes;
}

const MemoryRequest* PartitionedBackEnd::Arrived(uint32_t slice) const { return parts_->up.Peek(slice); }

void PartitionedBackEnd::TakeArrived(uint32_t slice) {
  const Edge edge = time_->clocks.Soonest(Domain::kNetwork);
  parts_->up.Pop(slice, edge);
  if (parts_->up.has_work()) time_->network.Wake(kUp, edge);
}

bool PartitionedBackEnd::SendReply(uint32_t slice, const MemoryRequest& reply) {
  const uint32_t flits = parts_->down.FlitsOf(BytesDown(reply));
  const uint32_t port = PortOf(reply.sm);
  if (!parts_->down.HasRoom(slice, port, flits)) {
    reply_blocked_.Insert(slice);
    blocked_reply_[slice] = {port, flits};
    ++blocked_replies_;
    return false;
  }
  const Edge edge = time_->clocks.Soonest(Domain::kNetwork);
  parts_->down.Push(slice, port, reply, flits, edge);
  time_->network.Wake(kDown, edge);
  return true;
}

void PartitionedBackEnd::DramJobQueued(uint32_t slice, Edge ready) {
  ++dram_under_way_;
  const uint32_t controller = slice / slices_per_controller_;
  job_ready_[controller] = std::min(job_ready_[controller], ready);
  if (ready >= dram_wake_[controller]) return;  // it looks for jobs then
  dram_wake_[controller] = ready;
  time_->dram.Wake(controller, ready);
}

Edge PartitionedBackEnd::AfterRop() { return time_->clocks.NotBefore(Domain::kL2, time_->clocks.now() + rop_ticks_); }

Edge PartitionedBackEnd::AfterDramPipe() {
  ClockDomains& clocks = time_->clocks;
  return std::max(clocks.Soonest(Domain::kDram), clocks.NotBefore(Domain::kDram, clocks.now() + dram_pipe_ticks_));
}

absl::Status PartitionedBackEnd::CheckCounters() const {
  const auto equal = [](const char* what, uint64_t left, uint64_t right) {
    if (left == right) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(what, ": ", left, " and ", right));
  };
  L2SliceCounters slices;
  for (const L2Slice& slice : parts_->slices) {
    HEDDLE_RETURN_IF_ERROR(slice.CheckDrained());
    slices.Add(slice.counters());
  }
  uint64_t dram_reads = 0;
  uint64_t dram_writes = 0;
  for (size_t i = 0; i < parts_->controllers.size(); ++i) {
    const DramController& controller = parts_->controllers[i];
    if (!controller.drained()) {
      return absl::InternalError(controller.Explain(absl::StrCat("DRAM controller ", i)));
    }
    dram_reads += controller.counters().read_requests;
    dram_writes += controller.counters().write_requests;
  }
  const PortCounters& ports = port_counters_;
  const CrossbarCounters& up = parts_->up.counters();
  const CrossbarCounters& down = parts_->down.counters();
  const absl::Status checks[] = {
      parts_->up.CheckDrained("network to the memory"),
      parts_->down.CheckDrained("network to the SMs"),
      equal("requests of the SMs and messages into the network to the memory", ports.requests(), up.pushed),
      equal("network to the memory: messages in and out", up.pushed, up.messages),
      equal("reads of the SMs and of the L2 slices", ports.reads, slices.reads),
      equal("writes of the SMs and of the L2 slices", ports.writes, slices.writes),
      equal("atomics of the SMs and of the L2 slices", ports.atomics, slices.atomics),
      equal("replies of the L2 slices and messages into the network to the SMs", slices.replies, down.pushed),
      equal("network to the SMs: messages in and out", down.pushed, down.messages),
      equal("requests of the SMs and replies that they took", ports.requests(), ports.replies),
      equal("reads of the L2 slices and of the DRAM", slices.fetches, dram_reads),
      equal("writes of the L2 slices and of the DRAM", slices.write_backs, dram_writes),
      equal("requests under way at the end", requests_under_way_ + dram_under_way_, 0),
  };
  for (const absl::Status& status : checks) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PartitionedBackEnd::EndLaunch(Cycle end, result::v1::LaunchResult& result) {
  // Every edge up to that of the core's last cycle counts.
  ClockDomains& clocks = time_->clocks;
  clocks.Enter(Domain::kCore, end);
  parts_->up.Settle(clocks.Soonest(Domain::kNetwork));
  parts_->down.Settle(clocks.Soonest(Domain::kNetwork));
  for (DramController& controller : parts_->controllers) controller.Settle(clocks.Soonest(Domain::kDram));
  HEDDLE_RETURN_IF_ERROR(CheckCounters());
  WriteResult(result);
  return absl::OkStatus();
}

std::string PartitionedBackEnd::Explain() const {
  std::string text;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) absl::StrAppend(&text, text.empty() ? "" : "\n", line);
  };
  add(parts_->up.Explain("network to the memory"));
  add(parts_->down.Explain("network to the SMs"));
  for (const L2Slice& slice : parts_->slices) add(slice.Explain());
  for (size_t i = 0; i < parts_->controllers.size(); ++i) {
    add(parts_->controllers[i].Explain(absl::StrCat("DRAM controller ", i)));
  }
  return text;
}

}  // namespace heddle::replay
