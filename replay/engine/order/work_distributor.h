// How many SMs each launch has, when several run at the same time.
//
// This is the level above dispatchers: a work distributor shares SMs out among launches, and within its SMs each launch
// has a BlockDispatcher of its own. An SM has blocks of one launch at a time.
#ifndef HEDDLE_REPLAY_ENGINE_ORDER_WORK_DISTRIBUTOR_H_
#define HEDDLE_REPLAY_ENGINE_ORDER_WORK_DISTRIBUTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heddle::replay {

// How the launches of a trace follow one another.
enum class LaunchRule : uint8_t {
  kInOrder,       // one after the other, each with the whole machine and a time of its own
  kFillFirst,     // side by side: the oldest takes what it can use
  kSpatialSplit,  // side by side: equal shares
};

// Their names, as --launches takes them, in the order of the enumeration.
std::span<const std::string_view> LaunchRuleNames();
std::string_view NameOf(LaunchRule rule);
// The rule of that name; nothing if there is none.
std::optional<LaunchRule> LaunchRuleOf(std::string_view name);

// A launch that asks for SMs: its time to be set up is over, and it has not ended.
struct LaunchDemand {
  uint64_t unsent_blocks = 0;  // that no SM has got yet
  uint32_t busy_sms = 0;       // of its SMs, those with a block, or with something under way in their memory
  // SMs that it could do anything with: no launch has a use for more.
  uint64_t useful() const { return unsent_blocks + busy_sms; }
};

// Decides, behind a cycle in which a launch has begun to ask or has ended, a block has been sent or has retired, or an
// SM has become empty. What it decides for one state of the launches is always the same.
class WorkDistributor {
 public:
  virtual ~WorkDistributor() = default;
  // How many of `sms` SMs each of the launches is to have, into `shares`, which has as many elements. Launches are in
  // the order in which they became ready, and at one time in that of the trace. The sum is at most `sms`. A launch that
  // has more is left with busy SMs until they are empty, and sends no block to them meanwhile.
  virtual void Share(uint32_t sms, std::span<const LaunchDemand> launches, std::span<uint32_t> shares) const = 0;
};

// Null for kInOrder.
std::unique_ptr<WorkDistributor> MakeWorkDistributor(LaunchRule rule);

// The rules, one file each.
std::unique_ptr<WorkDistributor> MakeFillFirst();
std::unique_ptr<WorkDistributor> MakeSpatialSplit();

// An SM as PlaceLaunches sees it. Launches are numbers from 0.
struct SmHolding {
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t launch = kNone;  // that has it
  bool busy = false;        // so that it cannot change hands
};

// Which SMs those are: by SM, the launch that is to have it, or kNone. A launch keeps as many of its own as its share
// says, busy ones before others, and of these the lowest. Then the launches, in their order, take what they are short
// of: SMs that are not busy before others, and of these the lowest. A busy SM that another launch is to have is to be
// emptied. What nobody keeps or takes belongs to nobody.
void PlaceLaunches(std::span<const uint32_t> shares, std::span<const SmHolding> sms, std::vector<uint32_t>& out);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_ORDER_WORK_DISTRIBUTOR_H_
