// All pairs of policies that the registries know: a new policy file is among them without an edit here.
#ifndef HEDDLE_TESTS_CONFORMANCE_CONFIGURATIONS_H_
#define HEDDLE_TESTS_CONFORMANCE_CONFIGURATIONS_H_

#include <cstdint>
#include <deque>
#include <ranges>
#include <string>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/seams/divergence_policy.h"
#include "tests/random/random.h"

namespace heddle::replay {

// A configuration that Validate accepts, with what the rules need to know of its divergence policy.
struct AcceptedConfiguration {
  Configuration configuration;
  bool mixed_pcs = false;     // an issue may hold several PCs (MIMD)
  bool any_lane = false;      // a thread may sit in a lane that is not its home lane
  bool swizzled = false;      // home lanes of odd static warps are swapped
  bool mixes_blocks = false;  // a warp may hold threads of several blocks: parameter "scope" is not "block"
  bool regroups = false;      // threads of a full warp may fill up a partial one
  bool by_warp = false;       // the dispatcher gives single warps: the reference engine has none of those
  bool may_not_fit = false;   // the dispatcher takes registers, with which a block may be too large for an SM
  bool default_parameters = true;
  std::string Text()
      const;  // "dwf:swizzle=none / gto"; also dispatcher, fetch and memory policy where they are not the usual
};

struct RefusedConfiguration {
  Configuration configuration;
  std::string reason;
};

struct AllConfigurations {
  std::vector<AcceptedConfiguration> accepted;
  std::vector<RefusedConfiguration> refused;
};

// Which policies are combined.
enum class Seams {
  kPairs,  // every divergence policy with every scheduler
  kAll,    // also the other dispatchers and fetch policies, each with every policy of every other of these seams
};

// With default parameters. Policies of shared libraries are among them if the environment variable
// HEDDLE_CONFORMANCE_LIBRARIES names these, separated by commas; HEDDLE_CONFORMANCE_ONLY keeps only the combinations
// that one of the named policies, of whatever kind, is in. A name that nothing has, and one that a program ran nothing
// with, are failures of the program: its tests would have said nothing. Policies that follow the convergence barriers
// of machine code are not among them, for most programs have none: machine_code/ runs those.
AllConfigurations DefaultConfigurations(Seams seams = Seams::kPairs);

// DefaultConfigurations with one parameter of one policy changed: every choice but the default, and every boolean
// turned round.
AllConfigurations VariedConfigurations(Seams seams = Seams::kPairs);

// Every memory policy but the machine's own rule, next to every policy of every other seam, with default parameters or
// with variations of these. They go with machines that have a data cache: MakeCacheCase.
AllConfigurations MemoryConfigurations(bool varied);

// Whether HEDDLE_CONFORMANCE_ONLY leaves out some of the policies.
bool OnlySomeAreWanted();

// To be called of whatever has been run and checked.
void NoteChecked(const Configuration& configuration);

// `count` drawn from both lists of all seams that go with the machine, two of five with a parameter changed; fewer, or
// none, where there are none.
std::vector<AcceptedConfiguration> DrawConfigurations(Random& random, const machine::v1::Machine& machine,
                                                      size_t count);

// Those of `all` that go with the machine.
std::vector<AcceptedConfiguration> ForMachine(const std::vector<AcceptedConfiguration>& all,
                                              const machine::v1::Machine& machine);

// The next `count` of `all`, or all of them if these are fewer: from number `next` on, round and round.
std::vector<AcceptedConfiguration> NextOf(const std::vector<AcceptedConfiguration>& all, size_t count, size_t& next);

// The first `count` of the queue that go with the machine, or fewer if it has no more of these. They move to the end of
// the queue, the others keep their places.
std::vector<AcceptedConfiguration> TakeForMachine(std::deque<AcceptedConfiguration>& queue, size_t count,
                                                  const machine::v1::Machine& machine);

// `all` in another order, always the same one, which has nothing to do with the policies' names: a part of it is a fair
// sample.
std::vector<AcceptedConfiguration> Shuffled(std::vector<AcceptedConfiguration> all);

// Number of random programs that a test runs, of the `full` number in a thorough run. The environment variable
// HEDDLE_CONFORMANCE_PROGRAMS says how many run of every 200; 60 unless it is set.
uint64_t Programs(uint64_t full);

// Which part of a long campaign this is: 0, or what the environment variable HEDDLE_CONFORMANCE_SLICE says. Slices have
// programs of their own, so that a campaign can run one after the other, and go on where it stopped.
uint64_t Slice();

// Seeds of the programs of this slice: `Programs(full)` of them; those of slice 0 begin with `first`.
std::ranges::iota_view<uint64_t, uint64_t> Seeds(uint64_t first, uint64_t full);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_CONFIGURATIONS_H_
