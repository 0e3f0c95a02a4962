// Network, L2 slices and DRAM controllers that all run at every edge of their clocks, written to be read.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_BACK_END_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_BACK_END_H_

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/address_map.h"
#include "replay/memory/memory_result.h"
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/clock_domains.h"
#include "tests/replay/memory/reference_crossbar.h"
#include "tests/replay/memory/reference_dram.h"
#include "tests/replay/memory/reference_slice.h"

namespace heddle::replay {

// No jitter. Must be advanced in every core cycle.
class ReferenceBackEnd : public MemoryBackEnd {
 public:
  explicit ReferenceBackEnd(const machine::v1::Machine& machine)
      : machine_(machine),
        hierarchy_(machine.memory().hierarchy()),
        network_(hierarchy_.network()),
        periods_(*ClockPeriods(machine.clocks())),
        map_(*AddressMap::Make(hierarchy_.address_map(), hierarchy_.dram(), hierarchy_.l2().slices_per_controller())),
        port_count_((machine.sms() + network_.sms_per_port() - 1) / network_.sms_per_port()),
        up_(port_count_, map_.slices(), network_, 2 * network_.seed()),
        down_(map_.slices(), port_count_, network_, 2 * network_.seed() + 1),
        turn_(map_.controllers()),
        jobs_(map_.controllers()),
        taken_(port_count_) {
    const uint64_t rop = Edges(Domain::kL2, hierarchy_.l2().rop_cycles() * Period(Domain::kCore));
    const uint64_t pipe = Edges(Domain::kL2, hierarchy_.l2().dram_pipe_cycles() * Period(Domain::kCore));
    for (uint32_t i = 0; i < map_.slices(); ++i) slices_.emplace_back(hierarchy_.l2(), rop, pipe);
    for (uint32_t i = 0; i < map_.controllers(); ++i) drams_.emplace_back(hierarchy_.dram());
    for (uint32_t i = 0; i < machine.sms(); ++i) ports_.push_back(std::make_unique<Port>(*this, i));
  }

  void BeginLaunch(uint64_t /*number*/) override {}
  NetworkPort& port(uint32_t sm) override { return *ports_[sm]; }
  Cycle NextEvent() const override { return now_ + 1; }

  void Advance(Cycle now, SmWaker& waker) override {
    now_ = now;
    for (; tick_ <= now * Period(Domain::kCore); ++tick_) {
      if (tick_ % Period(Domain::kDram) == 0) TickDram(tick_ / Period(Domain::kDram));
      if (tick_ % Period(Domain::kL2) == 0) TickL2(tick_ / Period(Domain::kL2));
      if (tick_ % Period(Domain::kNetwork) == 0) {
        TickUp(tick_ / Period(Domain::kNetwork));
        down_.Tick(tick_ / Period(Domain::kNetwork));
      }
    }
    for (uint32_t sm = 0; sm < machine_.sms(); ++sm) waker.WakeSm(sm);
  }

  bool drained() const override {
    for (const ReferenceSlice& slice : slices_) {
      if (!slice.empty()) return false;
    }
    for (const ReferenceDram& dram : drams_) {
      if (!dram.drained()) return false;
    }
    return counters_.requests() == counters_.replies;
  }
  const PortCounters& port_counters() const override { return counters_; }

  absl::Status EndLaunch(Cycle end, result::v1::LaunchResult& result) override {
    const Tick last = end * Period(Domain::kCore);
    const uint64_t network = last / Period(Domain::kNetwork) + 1;
    const PortCounters& c = counters_;
    const uint64_t header = network_.header_bytes();
    const uint64_t control = network_.control_bytes();
    WriteNetwork(up_.counters(), network, port_count_, map_.slices(),
                 c.reads * control + (c.writes + c.atomics) * header + c.write_bytes + c.atomic_bytes,
                 *result.mutable_network_to_memory());
    WriteNetwork(down_.counters(), network, map_.slices(), port_count_,
                 c.writes * control + (c.reads + c.atomics) * header + c.read_bytes + c.atomic_bytes,
                 *result.mutable_network_to_sms());
    L2SliceCounters slices;
    CacheCounters cache;
    std::vector<uint64_t> occupancy;
    for (const ReferenceSlice& slice : slices_) {
      slices.Add(slice.counters);
      cache.Add(slice.cache_counters);
      occupancy.resize(slice.occupancy.size());
      for (size_t i = 0; i < occupancy.size(); ++i) occupancy[i] += slice.occupancy[i];
    }
    WriteL2(slices, map_.slices(), last / Period(Domain::kL2) + 1, cache, occupancy,
            hierarchy_.l2().cache().line_bytes(), *result.mutable_l2());
    DramCounters dram;
    for (const ReferenceDram& controller : drams_) dram.Add(controller.counters());
    WriteDram(dram, last / Period(Domain::kDram) + 1, map_.controllers(), *result.mutable_dram());
    return absl::OkStatus();
  }
  std::string Explain() const override { return "the reference does not explain itself"; }

 private:
  // The SMs that wait for a buffer of a port that they share, and whether a flit has left the port since one sent.
  struct Line {
    std::deque<uint32_t> sms;
    bool open = false;
  };
  class Port : public NetworkPort {
   public:
    Port(ReferenceBackEnd& memory, uint32_t sm)
        : memory_(memory), sm_(sm), port_(sm / memory.network_.sms_per_port()) {}
    bool HasRoom(const MemoryRequest& request) override {
      const uint32_t slice = memory_.map_.SliceOf(request.address);
      Line& line = LineOf(slice);
      const bool its_turn = line.sms.empty() || (line.sms.front() == sm_ && line.open);
      if (its_turn && memory_.up_.HasRoom(port_, slice, memory_.FlitsUp(request))) return true;
      if (std::find(line.sms.begin(), line.sms.end(), sm_) == line.sms.end()) line.sms.push_back(sm_);
      return false;
    }
    void Send(const MemoryRequest& request) override {
      MemoryRequest sent = request;
      sent.sm = static_cast<uint16_t>(sm_);
      sent.slice = static_cast<uint16_t>(memory_.map_.SliceOf(request.address));
      memory_.counters_.CountRequest(sent);
      const uint64_t edge = memory_.now_ * memory_.Period(Domain::kCore) / memory_.Period(Domain::kNetwork) + 1;
      memory_.up_.Push(port_, sent.slice, sent, memory_.FlitsUp(sent), edge);
      Line& line = LineOf(sent.slice);
      if (!line.sms.empty()) line.sms.pop_front();
      line.open = false;
    }
    const MemoryRequest* Reply() const override {
      const MemoryRequest* reply = memory_.down_.Peek(port_);
      const bool mine = reply != nullptr && reply->sm == sm_ && memory_.taken_[port_] != memory_.now_ + 1;
      return mine ? reply : nullptr;
    }
    void TakeReply() override {
      memory_.taken_[port_] = memory_.now_ + 1;
      memory_.down_.Pop(port_);
      ++memory_.counters_.replies;
    }

   private:
    // An SM alone on its port waits for nobody.
    Line& LineOf(uint32_t slice) {
      if (memory_.network_.sms_per_port() == 1) return nobody_ = Line();
      return memory_.lines_[{port_, slice % memory_.network_.input_speedup()}];
    }

    ReferenceBackEnd& memory_;
    uint32_t sm_;
    uint32_t port_;
    Line nobody_;
  };

  Tick Period(Domain domain) const { return periods_[static_cast<int>(domain)]; }
  // Edges of a domain in a span of time, the last one begun counted whole.
  uint64_t Edges(Domain domain, Tick span) const { return (span + Period(domain) - 1) / Period(domain); }
  uint32_t Flits(uint64_t bytes) const {
    return std::max<uint32_t>(1, static_cast<uint32_t>((bytes + network_.flit_bytes() - 1) / network_.flit_bytes()));
  }
  uint32_t FlitsUp(const MemoryRequest& r) const {
    return Flits(r.kind == RequestKind::kRead ? network_.control_bytes() : network_.header_bytes() + r.bytes);
  }
  uint32_t FlitsDown(const MemoryRequest& r) const {
    return Flits(r.kind == RequestKind::kWrite ? network_.control_bytes() : network_.header_bytes() + r.bytes);
  }

  void TickUp(uint64_t edge) {
    std::vector<uint32_t> free;
    for (uint32_t port = 0; port < port_count_; ++port) free.push_back(up_.FreeFlits(port));
    up_.Tick(edge);
    for (auto& [place, line] : lines_) {
      if (up_.FreeFlits(place.first) != free[place.first]) line.open = !line.sms.empty();
    }
  }

  void TickDram(uint64_t edge) {
    const uint32_t per_controller = map_.slices() / map_.controllers();
    for (uint32_t controller = 0; controller < drams_.size(); ++controller) {
      ReferenceDram& dram = drams_[controller];
      for (uint32_t i = 0; i < per_controller && dram.HasRoom(); ++i) {
        const uint32_t place = (turn_[controller] + i) % per_controller;
        const uint32_t number = controller * per_controller + place;
        if (slices_[number].FirstJob(edge) == nullptr) continue;
        jobs_[controller].push_back({number, slices_[number].TakeJob()});
        const ReferenceSlice::Job& job = jobs_[controller].back().second;
        const DramLocation location = map_.Locate(job.address);
        DramRequest request;
        request.request.tag = static_cast<uint32_t>(jobs_[controller].size() - 1);
        request.row = location.row;
        request.bank = static_cast<uint16_t>(location.bank);
        request.bytes = job.bytes;
        request.write = job.write;
        dram.Push(request, edge);
        turn_[controller] = (place + 1) % per_controller;
        break;
      }
      dram.Tick(edge);
      while (const auto reply = dram.TakeReply(edge)) {
        const auto& [number, job] = jobs_[controller][reply->tag];
        slices_[number].Returned(job);
      }
    }
  }

  void TickL2(uint64_t edge) {
    const Tick core = Period(Domain::kCore);
    for (uint32_t i = 0; i < slices_.size(); ++i) {
      ReferenceSlice::World world;
      world.arrived = [&] { return up_.Peek(i); };
      world.take_arrived = [&] { up_.Pop(i); };
      world.send = [&](const MemoryRequest& reply) {
        const uint32_t port = reply.sm / network_.sms_per_port();
        if (!down_.HasRoom(i, port, FlitsDown(reply))) return false;
        down_.Push(i, port, reply, FlitsDown(reply), Edges(Domain::kNetwork, tick_));
        return true;
      };
      world.within_slice = [&](uint64_t address) { return map_.WithinSlice(address); };
      world.after_rop = Edges(Domain::kL2, tick_ + hierarchy_.l2().rop_cycles() * core);
      // The DRAM's edge at this time has run.
      world.after_dram_pipe = std::max(tick_ / Period(Domain::kDram) + 1,
                                       Edges(Domain::kDram, tick_ + hierarchy_.l2().dram_pipe_cycles() * core));
      slices_[i].Tick(edge, world);
    }
  }

  const machine::v1::Machine machine_;
  const machine::v1::Hierarchy hierarchy_;
  const machine::v1::Network network_;
  const std::array<Tick, kDomains> periods_;
  const AddressMap map_;
  const uint32_t port_count_;
  ReferenceCrossbar up_;
  ReferenceCrossbar down_;
  std::vector<ReferenceSlice> slices_;
  std::vector<ReferenceDram> drams_;
  std::map<std::pair<uint32_t, uint32_t>, Line> lines_;  // by port and its buffer
  std::vector<uint32_t> turn_;
  std::vector<std::deque<std::pair<uint32_t, ReferenceSlice::Job>>> jobs_;  // by controller, all that it ever got
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Cycle> taken_;
  PortCounters counters_;
  Tick tick_ = 0;
  Cycle now_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_BACK_END_H_
