#include "tools/exchange/card/model_chain.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/exchange/card/synthetic_kernel.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

namespace v1 = trace::v1;

constexpr uint64_t kLinks = 256;  // that count
constexpr uint32_t kLoadBytes = 8;
constexpr uint32_t kAtomicBytes = 4;

uint64_t Links(const Chain& chain) { return chain.addresses.empty() ? chain.instructions : chain.addresses.size(); }

SyntheticKernel KernelOf(const Chain& chain, uint64_t links) {
  v1::Instruction link = SyntheticOperation(chain.op, chain.mnemonic.c_str(), 1, 1);
  if (!chain.addresses.empty()) {
    link.set_space(chain.space);
    link.set_access_bytes(chain.op == v1::OP_ATOMIC ? kAtomicBytes : kLoadBytes);
  }
  SyntheticKernel kernel;
  kernel.blocks = kernel.cluster_blocks = chain.blocks;
  kernel.instructions.assign(links, link);
  kernel.address = [&chain](uint32_t block, uint32_t, uint64_t instruction) {
    const uint64_t address = chain.addresses[instruction];
    return chain.blocks > 1 ? address + (block + 1) % chain.blocks * kSyntheticSharedBytes : address;
  };
  return kernel;
}

absl::StatusOr<uint64_t> Cycles(const machine::v1::Machine& machine, const Chain& chain, uint64_t links) {
  HEDDLE_ASSIGN_OR_RETURN(const result::v1::Result result, ReplaySynthetic(machine, KernelOf(chain, links)));
  return result.total().cycles();
}

Chain Loads(v1::MemorySpace space) {
  Chain chain;
  chain.space = space;
  return chain;
}

}  // namespace

absl::StatusOr<machine::v1::Hierarchy> HierarchyOf(const machine::v1::Machine& machine) {
  if (machine.memory().has_hierarchy()) return machine.memory().hierarchy();
  return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no memory hierarchy"));
}

absl::StatusOr<Chain> L1Chain(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  if (memory.l1_data().sets() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no L1 data cache"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = 1;
  chain.addresses.assign(chain.warm_up + kLinks, kSyntheticGlobalBase);
  return chain;
}

// Twice through twice what the L1 holds: the second time the L2 has all and the L1 nothing that comes next.
absl::StatusOr<Chain> L2Chain(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  const machine::v1::Cache& l1 = memory.l1_data();
  const machine::v1::Cache& l2 = memory.l2().cache();
  if (memory.l2().slices_per_controller() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no L2"));
  }
  const uint64_t line = std::max(l1.line_bytes(), l2.line_bytes());
  const uint64_t l1_bytes = uint64_t{l1.sets()} * l1.ways() * l1.line_bytes();
  const uint64_t lines = std::max<uint64_t>(kLinks, 2 * l1_bytes / line);
  if (2 * lines > kMostSyntheticInstructions) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), ": its L1 is too large for a chain"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = lines;
  for (uint64_t i = 0; i < 2 * lines; ++i) chain.addresses.push_back(kSyntheticGlobalBase + (i % lines) * line);
  return chain;
}

// Lines in no order all over 256 MB, each once.
absl::StatusOr<Chain> DramChain(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  if (memory.ideal_beyond_l1_cycles() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no DRAM"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = 1;
  constexpr uint64_t kPlaces = uint64_t{1} << 16;
  constexpr uint64_t kPlaceBytes = 4096;
  uint64_t place = 1;
  for (uint64_t i = 0; i < chain.warm_up + kLinks; ++i) {
    // Of full period modulo a power of two (Hull and Dobell).
    place = (place * 40'693 + 12'345) % kPlaces;
    chain.addresses.push_back(kSyntheticGlobalBase + place * kPlaceBytes + (place % 32) * 128);
  }
  return chain;
}

absl::StatusOr<Chain> FootprintChain(const machine::v1::Machine& machine, uint64_t bytes) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  constexpr uint64_t kApart = 128;
  const uint64_t lines = std::max<uint64_t>(1, bytes / kApart);
  if (2 * lines > kMostSyntheticInstructions) {
    return absl::InvalidArgumentError(absl::StrCat("a footprint of ", bytes, " bytes is too large for a chain"));
  }
  Chain chain = Loads(v1::SPACE_GLOBAL);
  chain.warm_up = lines;
  for (uint64_t i = 0; i < 2 * lines; ++i) chain.addresses.push_back(kSyntheticGlobalBase + (i % lines) * kApart);
  return chain;
}

absl::StatusOr<Chain> SharedChain(const machine::v1::Machine& machine) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  Chain chain = Loads(v1::SPACE_SHARED);
  chain.warm_up = 1;
  chain.addresses.assign(chain.warm_up + kLinks, kSyntheticSharedBase);
  return chain;
}

absl::StatusOr<Chain> AtomicChain(const machine::v1::Machine& machine, v1::MemorySpace space) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  Chain chain = Loads(space);
  chain.op = v1::OP_ATOMIC;
  chain.mnemonic = "atom.add.u32";
  chain.warm_up = 1;
  const uint64_t base = space == v1::SPACE_SHARED ? kSyntheticSharedBase : kSyntheticGlobalBase;
  chain.addresses.assign(chain.warm_up + kLinks, base);
  return chain;
}

absl::StatusOr<Chain> ClusterChain(const machine::v1::Machine& machine) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  if (machine.sms() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no second SM for a cluster"));
  }
  Chain chain = Loads(v1::SPACE_CLUSTER_SHARED);
  chain.blocks = 2;
  chain.warm_up = 1;
  chain.addresses.assign(chain.warm_up + kLinks, kSyntheticClusterBase);
  return chain;
}

Chain OperationChain(v1::OpClass op, const std::string& mnemonic) {
  Chain chain;
  chain.op = op;
  chain.mnemonic = mnemonic;
  chain.warm_up = 1;
  chain.instructions = chain.warm_up + kLinks;
  return chain;
}

absl::StatusOr<double> CyclesPerLink(const machine::v1::Machine& machine, const Chain& chain) {
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t all, Cycles(machine, chain, Links(chain)));
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t warm_up, Cycles(machine, chain, chain.warm_up));
  return static_cast<double>(all - warm_up) / static_cast<double>(Links(chain) - chain.warm_up);
}

absl::StatusOr<double> EmptyLaunchCycles(const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, Cycles(machine, Chain{}, 0));
  return static_cast<double>(cycles);
}

}  // namespace heddle::tools
