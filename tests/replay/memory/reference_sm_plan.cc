// From a warp's addresses to steps, the slow way.
#include <bit>
#include <set>

#include "tests/replay/memory/reference_sm_memory.h"

namespace heddle::replay {

using machine::v1::Hierarchy;

namespace {

std::vector<int> LanesOf(LaneMask mask) {
  std::vector<int> lanes;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    if ((mask >> lane & 1) != 0) lanes.push_back(lane);
  }
  return lanes;
}

}  // namespace

uint32_t ReferenceSmMemory::SharedPasses(const WarpAccess& access, LaneMask lanes) {
  const uint32_t warp_size = machine_.core().warp_size();
  const uint32_t parts = std::max({memory_.shared().parts(), access.bytes / 4, 1u});
  const uint32_t per_part = (warp_size + parts - 1) / parts;
  std::map<int, std::map<uint64_t, std::set<uint64_t>>> words;  // part, bank
  std::map<int, std::map<uint64_t, std::multiset<int>>> requests;
  for (const int lane : LanesOf(lanes)) {
    const int part = lane / static_cast<int>(per_part);
    for (uint64_t byte = 0; byte < access.bytes; byte += 4) {
      const uint64_t word = ((*access.addresses)[lane] + byte) / 4;
      words[part][word % memory_.shared().banks()].insert(word);
      requests[part][word % memory_.shared().banks()].insert(lane);
    }
  }
  size_t passes = 0;
  const bool atomic = access.op == trace::v1::OP_ATOMIC;
  const bool by_word = atomic ? memory_.shared().merge_atomics() : memory_.shared().broadcast();
  for (const auto& [part, banks] : words) {
    size_t most = 0;
    for (const auto& [bank, of_bank] : banks) {
      most = std::max(most, by_word ? of_bank.size() : requests[part][bank].size());
    }
    passes += most;
  }
  ++counters_.shared_accesses;
  counters_.shared_parts += words.size();
  counters_.shared_passes += passes;
  return static_cast<uint32_t>(passes);
}

void ReferenceSmMemory::PlanData(const WarpAccess& access, LaneMask lanes, const std::map<int, uint64_t>& addresses,
                                 uint32_t bytes, uint32_t group, std::vector<Step>& steps) {
  const bool atomic = access.op == trace::v1::OP_ATOMIC;
  const bool store = access.op == trace::v1::OP_STORE;
  const bool cached = memory_.l1_data().sets() != 0;
  const Hierarchy::Coalescing mode = memory_.coalescing();
  uint32_t largest = 256;
  if (cached) largest = std::min(largest, memory_.l1_data().line_bytes());
  if (memory_.l2().slices_per_controller() != 0) largest = std::min(largest, memory_.l2().cache().line_bytes());
  const auto add = [&](uint64_t address, LaneMask mask, uint32_t size) {
    Step step{.unit = kData, .address = address, .lanes = mask, .bytes = size, .group = group};
    std::map<uint64_t, uint32_t> on_address;
    if (atomic) {
      for (const int lane : LanesOf(mask)) step.passes = std::max(step.passes, ++on_address[addresses.at(lane)]);
      step.bytes = std::min(size, bytes * static_cast<uint32_t>(std::popcount(mask)));
    }
    steps.push_back(step);
  };
  if (mode == Hierarchy::COALESCING_OFF) {
    counters_.transactions[std::countr_zero(bytes)] += LanesOf(lanes).size();
    if (!cached || atomic) {
      for (const int lane : LanesOf(lanes)) add(addresses.at(lane), LaneMask{1} << lane, bytes);
      return;
    }
    std::map<uint64_t, LaneMask> lines;
    for (const int lane : LanesOf(lanes)) lines[addresses.at(lane) / largest * largest] |= LaneMask{1} << lane;
    for (const auto& [line, mask] : lines) {
      const uint32_t written = bytes * static_cast<uint32_t>(std::popcount(mask));
      add(line, mask, store ? std::min(largest, written) : largest);
    }
    return;
  }
  uint32_t segment = 128;
  uint32_t parts = std::max(1u, bytes / 4);
  if (mode == Hierarchy::COMPUTE_13) {
    if (bytes == 1) segment = 32;
    if (bytes == 2) segment = 64;
    parts = std::max(2u, parts);
  } else if (!cached && !atomic) {
    segment = 32;
  }
  segment = std::min(segment, largest);
  const uint32_t per_part = (machine_.core().warp_size() + parts - 1) / parts;
  std::map<std::pair<int, uint64_t>, LaneMask> segments;
  for (const int lane : LanesOf(lanes)) {
    segments[{lane / static_cast<int>(per_part), addresses.at(lane) / segment * segment}] |= LaneMask{1} << lane;
  }
  for (const auto& [key, mask] : segments) {
    uint64_t base = key.second;
    uint32_t size = segment;
    if (mode == Hierarchy::COMPUTE_13 || store) {
      std::set<uint64_t> touched;
      for (const int lane : LanesOf(mask)) {
        for (uint32_t byte = 0; byte < bytes; ++byte) touched.insert(addresses.at(lane) + byte);
      }
      while (size > 32) {
        if (*touched.rbegin() < base + size / 2) {
          size /= 2;
        } else if (*touched.begin() >= base + size / 2) {
          size /= 2;
          base += size;
        } else {
          break;
        }
      }
    }
    ++counters_.transactions[std::countr_zero(size)];
    add(base, mask, size);
  }
}

std::vector<ReferenceSmMemory::Step> ReferenceSmMemory::PlanOf(const WarpAccess& access) {
  if (access.addresses == nullptr) return {{.unit = kUnknown, .lanes = access.lanes}};
  std::map<trace::v1::MemorySpace, LaneMask> spaces;
  std::map<int, uint64_t> addresses;
  for (const int lane : LanesOf(access.lanes)) {
    addresses[lane] = (*access.addresses)[lane];
    trace::v1::MemorySpace space = access.space;
    if (space == trace::v1::SPACE_GENERIC) space = windows_.SpaceOf(addresses[lane]);
    if (space == trace::v1::SPACE_PARAM) space = trace::v1::SPACE_CONSTANT;
    if (space == trace::v1::SPACE_TEXTURE && memory_.l1_texture().sets() == 0) space = trace::v1::SPACE_GLOBAL;
    spaces[space] |= LaneMask{1} << lane;
  }
  std::vector<Step> steps;
  if (const LaneMask lanes = spaces[trace::v1::SPACE_SHARED]; lanes != 0) {
    steps.push_back({.unit = kShared, .lanes = lanes, .passes = SharedPasses(access, lanes)});
  }
  std::vector<uint64_t> constants;
  std::map<uint64_t, LaneMask> lanes_of;
  for (const int lane : LanesOf(spaces[trace::v1::SPACE_CONSTANT])) {
    if (lanes_of[addresses[lane]] == 0) constants.push_back(addresses[lane]);
    lanes_of[addresses[lane]] |= LaneMask{1} << lane;
  }
  for (const uint64_t address : constants) {
    steps.push_back({.unit = kConstant, .address = address, .lanes = lanes_of[address]});
  }
  std::map<uint64_t, LaneMask> lines;
  for (const int lane : LanesOf(spaces[trace::v1::SPACE_TEXTURE])) {
    lines[addresses[lane] / memory_.l1_texture().line_bytes()] |= LaneMask{1} << lane;
  }
  for (const auto& [line, mask] : lines) {
    steps.push_back({.unit = kTexture, .address = line * memory_.l1_texture().line_bytes(), .lanes = mask});
  }
  const LaneMask global = spaces[trace::v1::SPACE_GLOBAL];
  const LaneMask local = spaces[trace::v1::SPACE_LOCAL];
  if ((global | local) != 0) {
    uint64_t& kind = access.op == trace::v1::OP_STORE    ? counters_.data_stores
                     : access.op == trace::v1::OP_ATOMIC ? counters_.data_atomics
                                                         : counters_.data_loads;
    ++kind;
  }
  if (global != 0) PlanData(access, global, addresses, access.bytes, 0, steps);
  if (local != 0) {
    const uint64_t base = windows_.BaseOf(trace::v1::SPACE_LOCAL);
    const uint64_t threads = machine_.core().max_threads();
    for (uint32_t word = 0; word < std::max(1u, access.bytes / 4); ++word) {
      std::map<int, uint64_t> physical;
      for (const int lane : LanesOf(local)) {
        const uint64_t offset = addresses[lane] - base + 4 * word;
        const uint64_t thread = sm_ * threads + (*access.threads)[lane];
        physical[lane] = base + (offset / 4 * threads * machine_.sms() + thread) * 4 + offset % 4;
      }
      PlanData(access, local, physical, std::min(4u, access.bytes), word + 1, steps);
    }
  }
  return steps;
}

}  // namespace heddle::replay
