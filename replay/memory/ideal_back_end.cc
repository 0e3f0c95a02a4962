#include "replay/memory/ideal_back_end.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {

class IdealBackEnd::Port : public NetworkPort {
 public:
  Port(IdealBackEnd& memory, uint32_t sm) : memory_(memory), sm_(sm) {}

  bool HasRoom(const MemoryRequest& /*request*/) override { return true; }
  void Send(const MemoryRequest& request) override {
    memory_.counters_.CountRequest(request);
    MemoryRequest reply = request;
    reply.sm = static_cast<uint16_t>(sm_);
    memory_.replies_.Add(reply, memory_.now_ + memory_.cycles_ + memory_.jitter_.Next());
  }
  const MemoryRequest* Reply() const override { return memory_.replies_.Reply(sm_, memory_.now_); }
  void TakeReply() override {
    ++memory_.counters_.replies;
    memory_.replies_.TakeReply(sm_);
  }

 private:
  IdealBackEnd& memory_;
  uint32_t sm_;
};

IdealBackEnd::IdealBackEnd(uint32_t sms, uint32_t cycles, uint32_t jitter_cycles, uint64_t seed)
    : cycles_(cycles), jitter_cycles_(jitter_cycles), seed_(seed), jitter_(0, 0, 0), replies_(sms) {
  for (uint32_t sm = 0; sm < sms; ++sm) ports_.emplace_back(*this, sm);
}
IdealBackEnd::~IdealBackEnd() = default;

void IdealBackEnd::BeginLaunch(uint64_t number) {
  now_ = 0;
  counters_ = {};
  jitter_ = Jitter(jitter_cycles_, seed_, number);
}

NetworkPort& IdealBackEnd::port(uint32_t sm) { return ports_[sm]; }

void IdealBackEnd::Advance(Cycle now, SmWaker& waker) {
  now_ = now;
  replies_.Wake(now, [&waker](uint32_t sm) { waker.WakeSm(sm); });
}

absl::Status IdealBackEnd::EndLaunch(Cycle /*end*/, result::v1::LaunchResult& /*result*/) {
  if (counters_.requests() == counters_.replies && drained()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("ideal memory: ", counters_.requests(), " requests and ", counters_.replies, " replies"));
}

std::string IdealBackEnd::Explain() const {
  return drained() ? "" : absl::StrCat("ideal memory: ", replies_.under_way(), " replies under way");
}

}  // namespace heddle::replay
