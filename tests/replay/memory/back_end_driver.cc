#include "tests/replay/memory/back_end_driver.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"

namespace heddle::replay {

machine::v1::Machine BackEndMachine() {
  machine::v1::Machine machine;
  const bool parsed = google::protobuf::TextFormat::ParseFromString(
      R"pb(
        name: "back end"
        sms: 2
        memory {
          hierarchy {
            network {
              sms_per_port: 1
              flit_bytes: 32
              input_buffer_flits: 8
              output_buffer_flits: 8
              input_speedup: 1
              allocator: ISLIP
              iterations: 1
              header_bytes: 8
              control_bytes: 8
            }
            l2 {
              slices_per_controller: 1
              cache {
                sets: 64
                line_bytes: 128
                ways: 8
                mshrs: 32
                mshr_merges: 4
                hit_cycles: 1
                banks: 1
                global_write: WRITE_BACK
              }
              input_queue: 8
              output_queue: 8
              dram_queue: 8
            }
            dram {
              controllers: 2
              chips_per_controller: 2
              queue: 16
              banks: 16
              bus_bytes: 4
              burst_length: 8
              data_rate: 4
              timing { cl: 12 wl: 4 rcd: 12 ras: 28 rp: 12 rc: 40 rrd: 6 ccd: 2 wtr: 5 }
            }
            address_map {
              text: "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"
              slice_bit: 8
            }
          }
        })pb",
      &machine);
  if (!parsed) std::abort();
  return machine;
}

MemoryRequest Read(uint64_t address, uint32_t bytes) {
  return {.address = address, .bytes = static_cast<uint16_t>(bytes), .kind = RequestKind::kRead};
}
MemoryRequest Write(uint64_t address, uint32_t bytes) {
  return {.address = address, .bytes = static_cast<uint16_t>(bytes), .kind = RequestKind::kWrite};
}
MemoryRequest Atomic(uint64_t address, uint8_t passes, uint32_t bytes) {
  return {.address = address, .bytes = static_cast<uint16_t>(bytes), .kind = RequestKind::kAtomic, .passes = passes};
}

namespace {

class Waker : public SmWaker {
 public:
  explicit Waker(MemoryBackEnd& memory) : memory_(memory) {}
  void WakeSm(uint32_t sm) override {
    woken.insert(sm);
    if (!memory_.port(sm).TakeWakeup()) unannounced_wakeup = true;
  }
  std::set<uint32_t> woken;
  bool unannounced_wakeup = false;

 private:
  MemoryBackEnd& memory_;
};

}  // namespace

DrivenLaunch Drive(MemoryBackEnd& memory, uint32_t sms, const std::vector<ScriptedRequest>& script, bool run_all,
                   uint64_t launch, Cycle limit) {
  DrivenLaunch driven;
  std::vector<std::deque<uint32_t>> to_send(sms);
  std::vector<Cycle> sent(script.size());
  for (uint32_t i = 0; i < script.size(); ++i) to_send[script[i].sm].push_back(i);
  memory.BeginLaunch(launch);
  Waker waker(memory);
  std::set<Cycle> own;  // cycles for which the script asks
  own.insert(0);
  for (const ScriptedRequest& request : script) own.insert(request.from);
  uint64_t left = script.size();
  Cycle now = 0;
  for (;; ++now) {
    if (now > limit) {
      driven.status = absl::InternalError(absl::StrCat("not done after ", limit, " cycles:\n", memory.Explain()));
      return driven;
    }
    if (!run_all) {
      const Cycle next = std::min(own.empty() ? kNever : *own.begin(), memory.NextEvent());
      if (next == kNever) {
        driven.status = absl::InternalError(absl::StrCat("nothing to do in cycle ", now, ":\n", memory.Explain()));
        return driven;
      }
      now = std::max(now, next);
    }
    ++driven.cycles_run;
    own.erase(own.begin(), own.upper_bound(now));
    waker.woken.clear();
    memory.Advance(now, waker);
    if (waker.unannounced_wakeup) {
      driven.status =
          absl::InternalError(absl::StrCat("an SM is woken in cycle ", now, " whose port has not announced it"));
      return driven;
    }
    for (uint32_t sm = 0; sm < sms; ++sm) {
      NetworkPort& port = memory.port(sm);
      if (const MemoryRequest* reply = port.Reply(); reply != nullptr) {
        if (!waker.woken.contains(sm)) {
          driven.status = absl::InternalError(absl::StrCat("SM ", sm, " was not woken for a reply in cycle ", now));
          return driven;
        }
        driven.replies.push_back({sm, reply->tag, sent[reply->tag], now});
        port.TakeReply();
        --left;
      }
      if (to_send[sm].empty() || script[to_send[sm].front()].from > now) continue;
      MemoryRequest request = script[to_send[sm].front()].request;
      request.tag = to_send[sm].front();
      if (!port.HasRoom(request)) continue;
      port.Send(request);
      sent[request.tag] = now;
      to_send[sm].pop_front();
      if (!to_send[sm].empty()) own.insert(now + 1);
    }
    if (left == 0 && memory.drained()) break;
  }
  driven.end = now;
  driven.status = memory.EndLaunch(now, driven.result);
  return driven;
}

}  // namespace heddle::replay
