#include "tests/reference/reference_engine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "replay/memory/make_memory_system.h"
#include "replay/memory/ports/address_windows.h"
#include "tests/reference/reference_launch.h"

namespace heddle::replay {

absl::StatusOr<ReferenceResult> ReplayByReference(const trace::TraceReader& reader, const Configuration& configuration,
                                                  const machine::v1::Machine& machine, IssueObserver* observer,
                                                  const ReferenceOptions& options) {
  const absl::StatusOr<CheckedConfiguration> policies = CheckConfiguration(configuration);
  if (!policies.ok()) return policies.status();
  std::unique_ptr<MemorySystem> own_memory;
  if (options.memory == nullptr) {
    auto made = MakeMemorySystem(machine, AddressWindows(reader.header()), /*seed=*/0, /*force_tick=*/false);
    if (!made.ok()) return made.status();
    own_memory = *std::move(made);
  }
  MemorySystem* const memory = options.memory == nullptr ? own_memory.get() : options.memory;
  const ReferenceSetup setup{reader, *policies, machine, *memory, observer};
  ReferenceResult result;
  SharedState shared = SharedOf(setup);
  for (const trace::LaunchView& view : reader.launches()) {
    if (!view.launch.recorded()) continue;
    auto launch = ReferenceLaunchRun::Make(setup, view, shared, {});
    if (!launch.ok()) return launch.status();
    const absl::StatusOr<Cycle> cycles = RunAlone(setup, **launch);
    if (!cycles.ok()) return cycles.status();
    result::v1::LaunchResult& out = result.launches.emplace_back((*launch)->Result(*cycles));
    if (options.memory == nullptr && machine.memory().has_hierarchy()) {
      if (const absl::Status ended = memory->EndLaunch(*cycles, out); !ended.ok()) return ended;
    }
  }
  result.total = TotalOf(result.launches, static_cast<int>(machine.core().warp_size()));
  return result;
}

}  // namespace heddle::replay
