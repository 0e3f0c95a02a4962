// MWF: most waiting first, the issue half of barrier-aware warp scheduling (BAWS).
#include <memory>

#include "replay/policies/schedule/shared/barrier_order.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

// Thread blocks with the most warps at their barrier go first, since the warps that those wait for are the critical
// ones; ties go to the older block (Liu et al., section 4.1).
class MostWaitingFirst final : public BarrierAwareScheduler {
 public:
  MostWaitingFirst(const SchedulerContext& context, const Parameters& parameters)
      : BarrierAwareScheduler(context, InnerOf(parameters), parameters.Bool("count_exits")),
        by_place_(parameters.Choice("ties") == "place") {}

  SlotId Pick(const SlotSet& eligible) const override {
    return PickByBlock(eligible, [this](BlockId a, BlockId b) {
      const uint64_t waiting_a = barriers().waiting(a);
      const uint64_t waiting_b = barriers().waiting(b);
      if (waiting_a != waiting_b) return waiting_a > waiting_b;
      return by_place_ ? a < b : barriers().sequence(a) < barriers().sequence(b);
    });
  }

 private:
  static Inner InnerOf(const Parameters& parameters) {
    if (parameters.Choice("order") == "lrr") return Inner::kRoundRobin;
    return parameters.Choice("greedy") == "per_block" ? Inner::kGreedyOfBlock : Inner::kGreedyOfPort;
  }
  const bool by_place_;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "mwf",
        .summary = "Most waiting first: warps of the thread block that has the most warps at its barrier",
        .source = "Liu et al. (BAWS), section 4.1",
        .parameters = {{.name = "order",
                        .type = ParameterType::kChoice,
                        .default_value = "gto",
                        .choices = {"lrr", "gto"},
                        .description = "order inside a block: MWF(LRR) or MWF(GTO)",
                        .source = "section 4.1.1"},
                       {.name = "greedy",
                        .type = ParameterType::kChoice,
                        .default_value = "per_block",
                        .choices = {"per_block", "last_issue"},
                        .only_if = "order=gto",
                        .description = "order=gto: the greedy warp is the block's last issued one, or the port's",
                        .source = "our reading of section 4.1.1"},
                       {.name = "count_exits",
                        .type = ParameterType::kBool,
                        .default_value = "false",
                        .description = "warps that have exited count as waiting",
                        .source = "section 4.1.2 counts arrivals only; figure 1 treats the exit as a barrier"},
                       {.name = "ties",
                        .type = ParameterType::kChoice,
                        .default_value = "age",
                        .choices = {"age", "place"},
                        .description = "between equal blocks: the one dispatched first, or the lower place on the SM",
                        .source = "our reading of \"smallest block number\""}},
        .counters = BarrierAwareCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<MostWaitingFirst>(context, parameters);
    });

HEDDLE_POLICY_STORAGE("scheduler", "mwf",
                      PolicyStorage{
                          .source = "Liu et al. (BAWS), section 4.1.2: 48 bits, one table for all schedulers of an SM",
                          .items = [](const StorageContext& context, const Parameters&) -> std::vector<StorageItem> {
                            return {{"warp priority table", context.max_blocks, BitsFor(context.warps()),
                                     "warps that wait, per block"}};
                          }});

}  // namespace
}  // namespace heddle::replay
