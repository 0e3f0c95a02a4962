// What the warps of one SM wait for (their issue status), and the statistics that follow from it.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STATUS_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STATUS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/issue_table.h"
#include "replay/seams/slot_entry.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/stats/stall_counters.h"

namespace heddle::replay {

// What one warp waits for in one cycle, and what it needs to issue. One word, since it is made, compared and copied
// several times for every instruction: what is written in pieces and then read as a whole has to wait for the pieces.
class IssueStatus {
 public:
  IssueStatus() = default;  // no warp
  IssueStatus(WarpClass state, uint8_t port, uint8_t threads)
      : bits_(static_cast<uint64_t>(state) | uint64_t{port} << 8 | uint64_t{threads} << 16) {}

  // A structural warp, in another class.
  IssueStatus In(WarpClass state) const { return IssueStatus(bits_ | static_cast<uint64_t>(state)); }
  // An offered warp, else alike.
  IssueStatus Offered() const { return IssueStatus(bits_ | kOffered); }
  // Structural: it needs a unit of this class.
  IssueStatus Needs(UnitClass unit) const { return IssueStatus(bits_ | static_cast<uint64_t>(unit) << 24); }
  // Data: some come from memory beyond the shared one, and from beyond the core.
  IssueStatus From(bool beyond_shared, bool off_core) const {
    return IssueStatus(bits_ | (beyond_shared ? kBeyondShared : 0) | (off_core ? kOffCore : 0));
  }

  WarpClass state() const { return static_cast<WarpClass>(bits_ & 0xff); }
  uint8_t port() const { return static_cast<uint8_t>(bits_ >> 8); }
  uint8_t threads() const { return static_cast<uint8_t>(bits_ >> 16); }
  UnitClass unit() const { return static_cast<UnitClass>(bits_ >> 24 & 0xff); }
  bool offered() const { return (bits_ & kOffered) != 0; }
  bool beyond_shared() const { return (bits_ & kBeyondShared) != 0; }
  bool off_core() const { return (bits_ & kOffCore) != 0; }
  bool waits_for_data() const { return (MaskOf(state()) & kDataClasses) != 0; }
  bool is_warp() const { return state() != WarpClass::kNone; }
  friend bool operator==(IssueStatus, IssueStatus) = default;

 private:
  static constexpr uint64_t kOffered = uint64_t{1} << 32;
  static constexpr uint64_t kBeyondShared = uint64_t{1} << 33;
  static constexpr uint64_t kOffCore = uint64_t{1} << 34;
  explicit IssueStatus(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = static_cast<uint64_t>(WarpClass::kNone);
};

// The issue status of every slot, and what follows from it: sets of warps that could issue, counts of warps by class,
// and integrals over time. Everything is kept incrementally, so that nothing has to look at all warps; cycles count
// with the status between steps 5 and 6 of the cycle.
class IssueStatusTable {
 public:
  IssueStatusTable(int slots, int ports)
      : warps_(static_cast<size_t>(slots)),
        ready_(static_cast<size_t>(ports * kUnitClasses)),
        port_count_(static_cast<uint32_t>(ports)) {}

  // Changes from here on count from cycle `first` on; the cycles before have been credited.
  void SetTime(Cycle first) { time_ = first; }

  IssueStatus of(SlotId slot) const { return warps_[slot].status; }
  [[gnu::always_inline]] void Set(SlotId slot, IssueStatus to) {
    const IssueStatus from = warps_[slot].status;
    if (from == to) return;
    if (!from.is_warp() || !to.is_warp() || from.port() != to.port()) {
      Change(slot, to);
      return;
    }
    SetSame(slot, to);
  }
  // Set for a slot that has a warp, which stays on its port.
  [[gnu::always_inline]] void SetSame(SlotId slot, IssueStatus to) {
    Tracked& warp = warps_[slot];
    const IssueStatus from = warp.status;
    if (from == to) return;
    warp.status = to;
    if (from.state() != to.state()) {
      counters_.warp_class[Index(from.state())] += time_ > warp.since ? time_ - warp.since : 0;
      warp.since = std::max(warp.since, time_);
      PortClasses& port = ports_[to.port()];
      port.Leave(from.state());
      port.Enter(to.state());
    }
    Recount(slot, from, to);
  }
  // The slot's warp, if there is one, ends, and the next one of this slot is another.
  void Renew(SlotId slot) {
    if (warps_[slot].status.is_warp()) Change(slot, IssueStatus());
    warps_[slot].since = time_;
  }
  // The warp issues in cycle `now`; that cycle is no cycle of its class.
  void Issued(SlotId slot, Cycle now) {
    Tracked& warp = warps_[slot];
    if (now > warp.since) counters_.warp_class[Index(warp.status.state())] += now - warp.since;
    warp.since = now + 1;
    ++counters_.warp_issues;
  }

  // A hardware warp of a block's threads has exited, the last of them issued by `port`; exited hardware warps of a port
  // leave.
  void HwWarpExited(int port) {
    ports_[static_cast<size_t>(port)].Enter(WarpClass::kExit);
    ++exited_;
  }
  void HwWarpsLeft(int port, uint64_t hw_warps);

  // Credits `count` cycles with the present status of all warps, in which the ports in `issued` (bits) issued; none, if
  // there are several. Returns the number of ports that neither issued nor have a warp that lacks nothing but a unit.
  [[gnu::always_inline]] uint32_t Credit(uint64_t count, uint32_t issued) {
    CreditWarps(count);
    return CreditPorts(count, issued);
  }
  // Credit in two parts. CreditWarps may come later, as long as no warp comes or goes.
  [[gnu::always_inline]] uint32_t CreditPorts(uint64_t count, uint32_t issued) {
    return CreditPorts(count, issued, [](int) { return WarpClassMask{0}; });
  }
  // CreditPorts while warps are detached: `detached(port)` is the classes that they are in.
  template <typename Detached>
  [[gnu::always_inline]] uint32_t CreditPorts(uint64_t count, uint32_t issued, Detached detached) {
    uint32_t waiting = 0;
    counters_.issued += static_cast<uint64_t>(std::popcount(issued));
    for (uint32_t others = ((1u << port_count_) - 1) & ~issued; others != 0; others &= others - 1) {
      const auto port = static_cast<uint32_t>(std::countr_zero(others));
      const WarpClass closest = kClosest[ports_[port].present | detached(static_cast<int>(port))];
      lost_[Index(closest)] += count;
      waiting += closest != WarpClass::kStructural;
    }
    return waiting;
  }
  void CreditWarps(uint64_t count) {
    counters_.warp_cycles += count * (live_ + exited_);
    if (exited_ != 0) counters_.warp_class[Index(WarpClass::kExit)] += count * exited_;
  }
  // After the selection of a cycle: warps that issued in it and ended in it count it.
  void EndSelection() {
    counters_.warp_cycles += issued_and_gone_;
    issued_and_gone_ = 0;
  }

  // Warps that lack nothing but a unit of the class.
  const SlotSet& ready(int port, UnitClass unit) const {
    return ready_[static_cast<size_t>(port) * kUnitClasses + static_cast<size_t>(unit)];
  }
  // Classes of units for which some warp of the port is ready; ports that have one: as bits.
  uint32_t ready_units(int port) const { return ports_[static_cast<size_t>(port)].ready_units; }
  uint32_t ready_ports() const { return ready_ports_; }
  // Classes that a warp of the port is in, and the oldest of its warps in one of `classes` (kNoSlot if there is none).
  // `entries` are those of the warp table. Looks at all warps.
  WarpClassMask present(int port) const { return ports_[static_cast<size_t>(port)].present; }
  SlotId Oldest(int port, WarpClassMask classes, std::span<const SlotEntry> entries) const;
  // Threads in offered warps that wait for data; in warps that wait for data from beyond shared memory.
  uint64_t offered_data_threads() const { return offered_data_threads_; }
  uint64_t memory_threads() const { return memory_threads_; }
  // Before a change from or to a paused warp.
  void CountPaused(IssueStatus from, IssueStatus to) {
    if (from.state() == WarpClass::kPaused) AddPaused(from, -1);
    if (to.state() == WarpClass::kPaused) AddPaused(to, 1);
  }
  // Threads in paused warps, and in those of them that are offered.
  uint64_t paused_threads() const { return paused_threads_; }
  uint64_t paused_offered_threads() const { return paused_offered_threads_; }

  // --- for a fast path, which keeps the status of some warps by itself for a while
  // Detach returns the first cycle that is not in the warp's integrals; from then on the warp is not among those of its
  // port. The fast path counts its issues, and the cycles of its classes, before it gives the status back that the warp
  // has in the end (Reattach).
  Cycle Detach(SlotId slot) {
    const Tracked& warp = warps_[slot];
    ports_[warp.status.port()].Leave(warp.status.state());
    return warp.since;
  }
  void AddDetachedIssues(uint64_t issues) { counters_.warp_issues += issues; }
  void AddDetachedCycles(WarpClass state, uint64_t cycles) { counters_.warp_class[Index(state)] += cycles; }
  void Reattach(SlotId slot, IssueStatus to) {
    const IssueStatus from = warps_[slot].status;
    warps_[slot] = {to, time_};
    ports_[to.port()].Enter(to.state());
    if (from != to) Recount(slot, from, to);
  }

  // So far; port cycles add up from their parts.
  StallCounters counters() const;

 private:
  struct Tracked {
    IssueStatus status;
    Cycle since = 0;  // the first cycle that is not in its integrals; after the present one if it has issued
  };
  // Warps of a port by class, and the classes that have one.
  struct PortClasses {
    std::array<uint16_t, kWarpClasses> counts{};
    WarpClassMask present = 0;
    uint16_t ready_units = 0;  // bits of the sets in ready_ that are not empty
    void Enter(WarpClass one) {
      ++counts[Index(one)];
      present |= MaskOf(one);
    }
    void Leave(WarpClass one) {  // without a branch, which would often be guessed wrong
      const uint32_t none = --counts[Index(one)] == 0;
      present &= static_cast<WarpClassMask>(~(none << Index(one)));
    }
  };
  static constexpr auto kClosest = [] {
    std::array<WarpClass, 1 << kWarpClasses> closest{};
    for (size_t classes = 0; classes < closest.size(); ++classes) {
      closest[classes] = ClosestOf(static_cast<WarpClassMask>(classes));
    }
    return closest;
  }();
  static constexpr size_t Index(WarpClass one) { return static_cast<size_t>(one); }

  void AddPaused(IssueStatus one, int sign) {
    paused_threads_ += static_cast<uint64_t>(sign * one.threads());
    if (one.offered()) paused_offered_threads_ += static_cast<uint64_t>(sign * one.threads());
  }
  // A warp comes, goes, or changes its port.
  void Change(SlotId slot, IssueStatus to);
  void AddReady(SlotId slot, IssueStatus one) {
    ready_[ReadyIndex(one)].Insert(slot);
    ports_[one.port()].ready_units |= static_cast<uint16_t>(1u << static_cast<int>(one.unit()));
    ready_ports_ |= 1u << one.port();
  }
  void RemoveReady(SlotId slot, IssueStatus one) {
    SlotSet& ready = ready_[ReadyIndex(one)];
    ready.Erase(slot);
    PortClasses& port = ports_[one.port()];
    port.ready_units &= static_cast<uint16_t>(~(uint32_t{ready.empty()} << static_cast<int>(one.unit())));
    ready_ports_ &= ~(uint32_t{port.ready_units == 0} << one.port());
  }
  static size_t ReadyIndex(IssueStatus one) {
    return size_t{one.port()} * kUnitClasses + static_cast<size_t>(one.unit());
  }
  // Keeps the sets of ready warps and the numbers of threads that wait in step.
  [[gnu::always_inline]] void Recount(SlotId slot, IssueStatus from, IssueStatus to) {
    if (from.state() == WarpClass::kStructural) {
      RemoveReady(slot, from);
    } else if (from.waits_for_data()) {
      if (from.offered()) offered_data_threads_ -= from.threads();
      if (from.beyond_shared()) memory_threads_ -= from.threads();
    }
    if (to.state() == WarpClass::kStructural) {
      AddReady(slot, to);
    } else if (to.waits_for_data()) {
      if (to.offered()) offered_data_threads_ += to.threads();
      if (to.beyond_shared()) memory_threads_ += to.threads();
    }
  }

  std::vector<Tracked> warps_;
  std::vector<SlotSet> ready_;  // by port and unit
  // What every cycle needs, in few lines of the host's cache.
  const uint32_t port_count_;
  alignas(64) uint32_t ready_ports_ = 0;
  Cycle time_ = 0;
  uint64_t live_ = 0;             // slots with a class
  uint64_t exited_ = 0;           // hardware warps
  uint64_t issued_and_gone_ = 0;  // warps that issued in this cycle and ended in it
  uint64_t offered_data_threads_ = 0;
  uint64_t memory_threads_ = 0;
  uint64_t paused_threads_ = 0;
  uint64_t paused_offered_threads_ = 0;
  std::array<PortClasses, kMaxPorts> ports_{};
  std::array<uint64_t, kWarpClasses + 1> lost_{};  // port cycles without issue by the class closest to it
  StallCounters counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_ISSUE_STATUS_H_
