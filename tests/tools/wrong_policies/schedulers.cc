// Schedulers, a dispatcher and a fetch policy that do what they must not, for wrong_policies_test.py.
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include "replay/seams/block_dispatcher.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

enum class Wrong {
  kNotEligible,
  kCounters,
  kNever,
  kAddress,
  kDivision,
  kThrows,
  kThrowsText,
  kParameter,
  kType,
  kNothing
};

// Picks as FIFO would for some cycles, and then does something wrong.
template <Wrong kWrong>
class WrongScheduler final : public WarpScheduler {
 public:
  WrongScheduler(const SchedulerContext& context, const Parameters& parameters) : context_(context) {
    if (kWrong == Wrong::kParameter) parameters.Integer("depht");
    if (kWrong == Wrong::kType) parameters.Bool("depth");
  }

  SlotId Pick(const SlotSet& eligible) const override {
    if (*context_.clock < 100) return eligible.First();
    switch (kWrong) {
      case Wrong::kNotEligible:
        return static_cast<SlotId>(kMaxSlots - 1);
      case Wrong::kNever:
        return kNoSlot;
      case Wrong::kAddress:
        return *reinterpret_cast<const volatile SlotId*>(address_);
      case Wrong::kDivision:
        return static_cast<SlotId>(100 / divisor_);
      case Wrong::kThrows:
        throw 5;
      case Wrong::kThrowsText:
        throw std::runtime_error("no such thing");
      default:
        return eligible.First();
    }
  }
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  const SchedulerContext context_;
  volatile uintptr_t address_ = 8;
  volatile int divisor_ = 0;
  std::array<uint64_t, 1> counters_{};
};

template <Wrong kWrong>
std::unique_ptr<WarpScheduler> Make(const SchedulerContext& context, const Parameters& parameters) {
  if (kWrong == Wrong::kNothing) return nullptr;
  return std::make_unique<WrongScheduler<kWrong>>(context, parameters);
}

PolicyInfo Info(const char* name, size_t counters = 1) {
  PolicyInfo info;
  info.name = name;
  info.summary = "wrong";
  info.source = "a test";
  info.parameters = {{.name = "depth", .default_value = "3", .minimum = 1, .maximum = 9}};
  for (size_t i = 0; i < counters; ++i) info.counters.push_back({std::string(1, static_cast<char>('a' + i)), "x", "x"});
  return info;
}

HEDDLE_WARP_SCHEDULER(Info("wrong_not_eligible"), Make<Wrong::kNotEligible>);
HEDDLE_WARP_SCHEDULER(Info("wrong_counters", 2), Make<Wrong::kCounters>);
HEDDLE_WARP_SCHEDULER(Info("wrong_never"), Make<Wrong::kNever>);
HEDDLE_WARP_SCHEDULER(Info("wrong_address"), Make<Wrong::kAddress>);
HEDDLE_WARP_SCHEDULER(Info("wrong_division"), Make<Wrong::kDivision>);
HEDDLE_WARP_SCHEDULER(Info("wrong_throws"), Make<Wrong::kThrows>);
HEDDLE_WARP_SCHEDULER(Info("wrong_throws_text"), Make<Wrong::kThrowsText>);
HEDDLE_WARP_SCHEDULER(Info("wrong_parameter"), Make<Wrong::kParameter>);
HEDDLE_WARP_SCHEDULER(Info("wrong_type"), Make<Wrong::kType>);
HEDDLE_WARP_SCHEDULER(Info("wrong_nothing"), Make<Wrong::kNothing>);

class WrongDispatcher final : public BlockDispatcher {
 public:
  explicit WrongDispatcher(const DispatchContext& context) : blocks_(context.blocks) {}
  std::optional<Assignment> Next(std::span<const SmOccupancy> /*sms*/, std::span<const bool> accepted) override {
    if (accepted[0]) return std::nullopt;
    if (next_ == 2) return Assignment{static_cast<uint32_t>(100 / divisor_), next_};
    return Assignment{0, next_++};
  }
  bool done() const override { return next_ == blocks_; }

 private:
  const uint64_t blocks_;
  uint64_t next_ = 0;
  volatile int divisor_ = 0;
};
HEDDLE_BLOCK_DISPATCHER({.name = "wrong_dispatch", .summary = "wrong", .source = "a test"},
                        [](const DispatchContext& context, const Parameters&) {
                          return std::make_unique<WrongDispatcher>(context);
                        });

class WrongFetch final : public FetchPolicy {
 public:
  SlotId Pick(const FetchView& /*view*/) const override { throw std::runtime_error("which warp?"); }
};
HEDDLE_FETCH_POLICY({.name = "wrong_fetch", .summary = "wrong", .source = "a test"},
                    [](const FetchContext&, const Parameters&) { return std::make_unique<WrongFetch>(); });

}  // namespace
}  // namespace heddle::replay
