#include "tools/drawing/timeline_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/timeline.pb.h"
#include "replay/stats/instruction_profile.h"
#include "tools/console/table.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using replay::Cycle;
using replay::PortLoss;
using replay::WarpState;
using timeline::v1::Packet;
using timeline::v1::Timeline;
using timeline::v1::TrackDescriptor;
using timeline::v1::TrackEvent;
using Recording = TimelineRecording;

constexpr uint32_t kSequence = 1;
constexpr uint32_t kNamesBeginAnew = 1;
constexpr uint32_t kNeedsNames = 2;
constexpr uint64_t kPcBytes = 8;        // as results have it
constexpr Cycle kCounterPoints = 1000;  // of a counter over the recorded cycles, at most

const char* NameOf(WarpState state) {
  switch (state) {
    case WarpState::kReady:
      return "ready";
    case WarpState::kMemory:
      return "waits for memory";
    case WarpState::kArithmetic:
      return "waits for arithmetic";
    case WarpState::kControl:
      return "branch unresolved";
    case WarpState::kFetch:
      return "fetch";
    case WarpState::kPolicy:
      return "held by policy";
    case WarpState::kBarrier:
      return "barrier";
    case WarpState::kInFlight:
      return "in flight";
  }
  return "";
}

const char* NameOf(PortLoss loss) {
  switch (loss) {
    case PortLoss::kStructural:
      return "no unit free";
    case PortLoss::kDataMemory:
      return "waits for memory";
    case PortLoss::kDataArithmetic:
      return "waits for arithmetic";
    case PortLoss::kControl:
      return "branch unresolved";
    case PortLoss::kFetch:
      return "fetch";
    case PortLoss::kPolicy:
      return "held by policy";
    case PortLoss::kBarrier:
      return "barrier";
    case PortLoss::kExit:
      return "warps have exited";
    case PortLoss::kEmpty:
      return "no warp";
    case PortLoss::kStall:
      return "front end full";
    case PortLoss::kMemory:
      return "all wait for memory";
    case PortLoss::kIdle:
      return "idle";
  }
  return "";
}

// Packets with interned names, in the order of their making.
class Writer {
 public:
  Writer() {
    Packet& packet = NewPacket();
    packet.set_sequence_flags(kNamesBeginAnew);
    names_ = packet.mutable_interned_data();
  }

  uint64_t Track(const std::string& name, uint64_t parent, int rank, const char* unit = nullptr) {
    TrackDescriptor& track = *NewPacket().mutable_track_descriptor();
    track.set_uuid(++tracks_);
    track.set_name(name);
    if (parent != 0) track.set_parent_uuid(parent);
    track.set_child_ordering(TrackDescriptor::EXPLICIT);
    track.set_sibling_order_rank(rank);
    if (unit != nullptr) track.mutable_counter()->set_unit_name(unit);
    return tracks_;
  }
  void Begin(uint64_t track, Cycle at, const std::string& name,
             std::initializer_list<std::pair<const char*, uint64_t>> facts) {
    TrackEvent& event = Event(track, at, TrackEvent::SLICE_BEGIN, name);
    for (const auto& [fact, value] : facts) {
      timeline::v1::Annotation& annotation = *event.add_debug_annotations();
      annotation.set_name_iid(Intern(fact, facts_, *names_->mutable_debug_annotation_names()));
      annotation.set_uint_value(value);
    }
  }
  void End(uint64_t track, Cycle at) { Event(track, at, TrackEvent::SLICE_END, ""); }
  void Instant(uint64_t track, Cycle at, const std::string& name) { Event(track, at, TrackEvent::INSTANT, name); }
  void Count(uint64_t track, Cycle at, double value) {
    Event(track, at, TrackEvent::COUNTER, "").set_double_counter_value(value);
  }

  std::string Bytes() const { return timeline_.SerializeAsString(); }

 private:
  using Names = google::protobuf::RepeatedPtrField<timeline::v1::Name>;

  Packet& NewPacket() {
    Packet& packet = *timeline_.add_packet();
    packet.set_sequence(kSequence);
    return packet;
  }
  TrackEvent& Event(uint64_t track, Cycle at, TrackEvent::Type type, const std::string& name) {
    Packet& packet = NewPacket();
    packet.set_timestamp(at);
    packet.set_sequence_flags(kNeedsNames);
    TrackEvent& event = *packet.mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(track);
    if (!name.empty()) event.set_name_iid(Intern(name, events_, *names_->mutable_event_names()));
    return event;
  }
  // All names are in the first packet, which every other one comes after.
  static uint64_t Intern(const std::string& name, std::map<std::string, uint64_t>& known, Names& names) {
    const auto [entry, is_new] = known.emplace(name, known.size() + 1);
    if (is_new) {
      timeline::v1::Name& added = *names.Add();
      added.set_iid(entry->second);
      added.set_name(name);
    }
    return entry->second;
  }

  Timeline timeline_;
  timeline::v1::Names* names_;
  std::map<std::string, uint64_t> events_;
  std::map<std::string, uint64_t> facts_;
  uint64_t tracks_ = 0;
};

// The rows of one SM. They are made when something is in them, and every launch uses them again.
struct SmTracks {
  uint64_t sm = 0;
  std::map<uint32_t, uint64_t> ports;
  std::map<uint32_t, uint64_t> slots;
  uint64_t barriers = 0;
  uint64_t ipc = 0;
  uint64_t activity = 0;
};

class File {
 public:
  File(const Recording& recording, const trace::TraceReader& trace, const result::v1::Result& result)
      : recording_(recording), result_(result) {
    for (const trace::LaunchView& launch : trace.launches()) programs_[launch.launch.id()] = launch.program;
    const machine::v1::Core& core = result.provenance().machine().core();
    warp_size_ = core.warp_size();
    issue_cycles_ = core.front_end() == machine::v1::Core::IBUFFER || core.simd_width() == 0
                        ? 1
                        : (core.warp_size() + core.simd_width() - 1) / core.simd_width();
  }

  std::string Bytes() {
    launches_ = writer_.Track("launches", 0, 0);
    machine_ = writer_.Track("machine", 0, 1);
    Cycle start = 0;
    for (const result::v1::LaunchResult& launch : result_.launch()) {
      writer_.Begin(launches_, start, trace::ShortKernelName(launch.kernel()),
                    {{"launch", launch.launch()}, {"cycles", launch.cycles()}});
      writer_.End(launches_, start + launch.cycles());
      const auto recorded = recording_.launches().find(launch.launch());
      if (recorded != recording_.launches().end()) {
        for (const auto& [number, sm] : recorded->second) {
          WriteSm(number, sm, *programs_.at(launch.launch()), start, launch.cycles());
        }
      }
      if (launch.has_time_series()) WriteSeries(launch, start);
      for (const result::v1::WarpTimeline& warp : launch.warp_timeline()) WritePhases(warp, start);
      start += launch.cycles();
    }
    return writer_.Bytes();
  }

 private:
  static constexpr int kFirstSlotRank = 100;
  static constexpr int kFirstPhaseRank = 100000;

  SmTracks& TracksOf(uint32_t sm) {
    const auto [entry, is_new] = sms_.try_emplace(sm);
    if (is_new) entry->second.sm = writer_.Track(absl::StrCat("SM ", sm), 0, 10 + static_cast<int>(sm));
    return entry->second;
  }
  uint64_t Row(uint64_t& track, const std::string& name, uint64_t parent, int rank, const char* unit = nullptr) {
    if (track == 0) track = writer_.Track(name, parent, rank, unit);
    return track;
  }

  void WriteIssue(uint64_t track, const Recording::Issue& issue, const trace::Program& program, Cycle start,
                  Cycle end) {
    const trace::v1::Instruction& instruction = program.instruction(issue.pc);
    const std::string name =
        instruction.mnemonic().empty() ? trace::v1::OpClass_Name(instruction.op()) : instruction.mnemonic();
    writer_.Begin(track, start + issue.cycle, name,
                  {{"pc", issue.pc * kPcBytes},
                   {"threads", issue.threads},
                   {"block", issue.block},
                   {"slot", issue.slot},
                   {"port", issue.port}});
    writer_.End(track, start + end);
  }

  // A row: the issues, and what was the case between them. `name` of a piece's state.
  template <typename NameOfState>
  void WriteRow(uint64_t track, const std::vector<Recording::Piece>& pieces,
                const std::vector<const Recording::Issue*>& issues, const trace::Program& program, Cycle start,
                NameOfState name, bool of_warp) {
    size_t next = 0;
    Cycle free_from = 0;  // the last issue has ended
    const auto write_issues_before = [&](Cycle limit) {
      for (; next < issues.size() && issues[next]->cycle < limit; ++next) {
        const Cycle after = next + 1 < issues.size() ? issues[next + 1]->cycle : ~Cycle{0};
        free_from = std::min(issues[next]->cycle + issue_cycles_, after);
        WriteIssue(track, *issues[next], program, start, free_from);
      }
    };
    for (const Recording::Piece& piece : pieces) {
      write_issues_before(piece.begin);
      Cycle at = std::max(piece.begin, free_from);
      while (at < piece.end) {
        const Cycle until = next < issues.size() ? std::min(piece.end, issues[next]->cycle) : piece.end;
        if (at < until) {
          if (of_warp) {
            writer_.Begin(track, start + at, name(piece.state),
                          {{"pc", piece.pc * kPcBytes}, {"threads", piece.threads}});
          } else {
            writer_.Begin(track, start + at, name(piece.state), {});
          }
          writer_.End(track, start + until);
        }
        if (until == piece.end) break;
        write_issues_before(until + 1);
        at = std::max(until, free_from);
      }
    }
    write_issues_before(~Cycle{0});
  }

  void WriteSm(uint32_t number, const Recording::Sm& sm, const trace::Program& program, Cycle start, Cycle cycles) {
    SmTracks& tracks = TracksOf(number);
    std::map<uint32_t, std::vector<const Recording::Issue*>> of_port, of_slot;
    for (const Recording::Issue& issue : sm.issues) {
      of_port[issue.port].push_back(&issue);
      of_slot[issue.slot].push_back(&issue);
    }
    for (uint32_t port = 0; port < sm.ports.size(); ++port) {
      const uint64_t track =
          Row(tracks.ports[port], absl::StrCat("port ", port), tracks.sm, 10 + static_cast<int>(port));
      WriteRow(
          track, sm.ports[port], of_port[port], program, start,
          [](uint32_t state) { return NameOf(static_cast<PortLoss>(state)); }, false);
    }
    static const std::vector<Recording::Piece> kNone;
    for (const auto& [slot, pieces] : sm.warps) of_slot[slot];
    for (const auto& [slot, issues] : of_slot) {
      const uint64_t track =
          Row(tracks.slots[slot], absl::StrCat("slot ", slot), tracks.sm, kFirstSlotRank + static_cast<int>(slot));
      const auto pieces = sm.warps.find(slot);
      WriteRow(
          track, pieces == sm.warps.end() ? kNone : pieces->second, issues, program, start,
          [](uint32_t state) { return NameOf(static_cast<WarpState>(state)); }, true);
    }
    for (const Recording::Barrier& barrier : sm.barriers) {
      writer_.Instant(Row(tracks.barriers, "barriers that open", tracks.sm, 5), start + barrier.cycle,
                      absl::StrCat("block ", barrier.block));
    }
    WriteActivity(sm, tracks, start, cycles);
  }

  // IPC and lane activity in equal bins of the recorded cycles.
  void WriteActivity(const Recording::Sm& sm, SmTracks& tracks, Cycle start, Cycle cycles) {
    const Cycle first = recording_.first();
    const Cycle end = std::min(recording_.last() + 1, cycles);
    if (first >= end) return;
    const Cycle width = std::max<Cycle>((end - first + kCounterPoints - 1) / kCounterPoints, 10);
    size_t next = 0;
    for (Cycle at = first; at < end; at += width) {
      const Cycle until = std::min(at + width, end);
      uint64_t issues = 0;
      uint64_t threads = 0;
      for (; next < sm.issues.size() && sm.issues[next].cycle < until; ++next) {
        ++issues;
        threads += sm.issues[next].threads;
      }
      writer_.Count(Row(tracks.ipc, "IPC", tracks.sm, 1, "thread-instructions per cycle"), start + at,
                    static_cast<double>(threads) / static_cast<double>(until - at));
      if (issues == 0) continue;
      writer_.Count(Row(tracks.activity, "lane activity", tracks.sm, 2, "%"), start + at,
                    100.0 * static_cast<double>(threads) / static_cast<double>(issues * warp_size_));
    }
    if (tracks.ipc != 0) writer_.Count(tracks.ipc, start + end, 0);
  }

  void WriteSeries(const result::v1::LaunchResult& launch, Cycle start) {
    const result::v1::TimeSeries& series = launch.time_series();
    const double width = static_cast<double>(series.bin_cycles());
    const auto write = [&](const char* name, const char* unit, int rank,
                           const google::protobuf::RepeatedField<uint64_t>& list, double scale) {
      if (list.empty()) return;
      const uint64_t track = Row(counters_[name], name, machine_, rank, unit);
      for (int bin = 0; bin < list.size(); ++bin) {
        const Cycle at = static_cast<Cycle>(bin) * series.bin_cycles();
        if (at + series.bin_cycles() <= recording_.first() || at > recording_.last()) continue;
        writer_.Count(track, start + at, static_cast<double>(list[bin]) * scale);
      }
    };
    write("IPC", "thread-instructions per cycle", 0, series.thread_instructions(), 1 / width);
    write("SMs with a block", "SMs", 1, series.resident_cycles(), 1 / width);
    const auto& memory = series.memory_system();
    write("misses under way (L1 MSHRs in use)", "misses", 2, memory.outstanding_misses(), 1 / width);
    write("L2 accesses per cycle", "accesses", 3, memory.l2_accesses(), 1 / width);
    write("DRAM requests per cycle", "requests", 4, memory.dram_requests(), 1 / width);
    if (const uint64_t all = launch.dram().cycles() * launch.dram().controllers(); all != 0 && launch.cycles() != 0) {
      const double per_cycle = static_cast<double>(all) / static_cast<double>(launch.cycles());
      write("DRAM bus in use", "%", 5, memory.dram_bus_busy(), 100 / (width * per_cycle));
    }
    for (const auto& policy : series.policy()) WritePolicy(policy, series.bin_cycles(), launch.cycles(), start);
  }

  // What a policy counts itself: per cycle in each bin, or as each bin ends.
  void WritePolicy(const result::v1::TimeSeries::PolicySeries& policy, Cycle width, Cycle cycles, Cycle start) {
    if (std::all_of(policy.value().begin(), policy.value().end(), [](uint64_t value) { return value == 0; })) return;
    const std::string name =
        absl::StrCat(policy.seam(), ": ", policy.name(), policy.adds_up() ? " per 1,000 cycles" : "");
    const uint64_t track = Row(counters_[name], name.c_str(), machine_, 6, policy.unit().c_str());
    for (int bin = 0; bin < policy.value_size(); ++bin) {
      const Cycle at = static_cast<Cycle>(bin) * width;
      if (at + width <= recording_.first() || at > recording_.last()) continue;
      const auto value = static_cast<double>(policy.value(bin));
      if (policy.adds_up()) {
        writer_.Count(track, start + at, 1000 * value / static_cast<double>(width));
      } else {
        writer_.Count(track, start + std::min(at + width, cycles), value);
      }
    }
  }

  void WritePhases(const result::v1::WarpTimeline& warp, Cycle start) {
    if (!std::binary_search(recording_.sms().begin(), recording_.sms().end(), warp.sm())) return;
    std::optional<uint64_t> track;
    for (int i = 0; i < warp.phase_size(); ++i) {
      const auto& phase = warp.phase(i);
      if (phase.release() < recording_.first() || phase.start() > recording_.last()) continue;
      if (!track.has_value()) {
        track = writer_.Track(absl::StrCat("block ", warp.block(), ", warp ", warp.warp()), TracksOf(warp.sm()).sm,
                              kFirstPhaseRank + phases_++);
      }
      writer_.Begin(*track, start + phase.start(), absl::StrCat("phase ", i + 1), {});
      writer_.End(*track, start + phase.arrival());
      if (phase.release() == phase.arrival()) continue;
      writer_.Begin(*track, start + phase.arrival(),
                    i + 1 < warp.phase_size() ? "at the barrier" : "exited, its block runs", {});
      writer_.End(*track, start + phase.release());
    }
  }

  const Recording& recording_;
  const result::v1::Result& result_;
  std::map<uint32_t, const trace::Program*> programs_;  // by launch
  uint64_t warp_size_ = 0;
  Cycle issue_cycles_ = 1;
  Writer writer_;
  uint64_t launches_ = 0;
  uint64_t machine_ = 0;
  std::map<std::string, uint64_t> counters_;
  std::map<uint32_t, SmTracks> sms_;
  int phases_ = 0;
};

}  // namespace

std::string TimelineFile(const TimelineRecording& recording, const trace::TraceReader& trace,
                         const result::v1::Result& result) {
  return File(recording, trace, result).Bytes();
}

}  // namespace heddle::tools
