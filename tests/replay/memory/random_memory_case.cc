#include "tests/replay/memory/random_memory_case.h"

namespace heddle::replay {

using machine::v1::Cache;
using machine::v1::Core;
using machine::v1::Hierarchy;

trace::v1::FileHeader WindowsForTests() {
  trace::v1::FileHeader header;
  const auto add = [&](trace::v1::MemorySpace space, uint64_t base) {
    trace::v1::AddressWindow& window = *header.add_window();
    window.set_space(space);
    window.set_base(base);
    window.set_bytes(0x10000);
  };
  add(trace::v1::SPACE_SHARED, kSharedWindow);
  add(trace::v1::SPACE_LOCAL, kLocalWindow);
  add(trace::v1::SPACE_CONSTANT, kConstantWindow);
  add(trace::v1::SPACE_PARAM, kParameterWindow);
  return header;
}

void RandomMemoryCase::MakeCache(Cache& cache, uint32_t line_bytes) {
  cache.set_sets(OneOf({0u, 1u, 2u, 4u, 16u}));
  cache.set_line_bytes(line_bytes);
  cache.set_ways(OneOf({1u, 2u, 4u, 8u}));
  cache.set_mshrs(OneOf({1u, 2u, 4u, 32u}));
  cache.set_mshr_merges(OneOf({1u, 2u, 8u}));
  cache.set_miss_queue(OneOf({2u, 3u, 8u}));
  cache.set_hit_cycles(OneOf({1u, 2u, 7u}));
  cache.set_banks(1);
  cache.set_allocate(OneOf({Cache::ON_MISS, Cache::ON_FILL}));
  cache.set_pending_hits(OneOf({Cache::JOIN_MSHR, Cache::JOIN_MSHR, Cache::OWN_MSHR, Cache::OWN_REQUEST}));
}

void RandomMemoryCase::MakeMachine() {
  machine.set_sms(2);
  Core& core = *machine.mutable_core();
  core.set_front_end(OneOf({Core::IBUFFER, Core::THESIS}));
  core.set_warp_size(OneOf({4u, 8u, 16u, 32u, 32u, 64u}));
  core.set_simd_width(std::max(1u, core.warp_size() / OneOf({1u, 1u, 2u, 4u})));
  core.set_max_threads(128);
  core.mutable_units()->set_memory_issue_latency(OneOf({1u, 2u, 3u, 5u, 8u}));
  core.mutable_units()->set_memory_initiation_interval(OneOf({1u, 1u, 1u, 2u, 5u}));
  Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.set_coalescing(OneOf({Hierarchy::COALESCING_OFF, Hierarchy::COMPUTE_13, Hierarchy::COMPUTE_20}));
  memory.mutable_shared()->set_banks(OneOf({4u, 16u, 32u, 33u}));
  memory.mutable_shared()->set_parts(1 + Below(2));
  memory.mutable_shared()->set_broadcast(Below(2) != 0);
  memory.mutable_shared()->set_latency(OneOf({1u, 3u, 20u}));
  memory.mutable_shared()->set_merge_atomics(Below(3) == 0);
  memory.mutable_shared()->set_atomic_cycles(OneOf({0u, 0u, 1u, 9u}));
  memory.set_atomic_cycles(OneOf({0u, 0u, 1u, 30u, 204u}));
  memory.set_returns_per_cycle(OneOf({0u, 0u, 1u, 1u, 2u, 4u, 8u}));
  Cache& data = *memory.mutable_l1_data();
  MakeCache(data, OneOf({32u, 64u, 128u, 256u}));
  data.set_banks(OneOf({1u, 1u, 2u, 16u}));
  data.set_ideal_ports(Below(8) == 0);
  data.set_global_write(OneOf({Cache::WRITE_EVICT, Cache::WRITE_UPDATE, Cache::WRITE_BACK}));
  data.set_local_write(OneOf({Cache::READ_ONLY, Cache::WRITE_EVICT, Cache::WRITE_BACK}));
  MakeCache(*memory.mutable_l1_texture(), OneOf({32u, 128u}));
  MakeCache(*memory.mutable_l1_constant(), 64);
  MakeCache(*memory.mutable_l1_instruction(), 128);
  if (Below(2) != 0) {
    memory.mutable_l2()->set_slices_per_controller(1);
    memory.mutable_l2()->mutable_cache()->set_line_bytes(std::max(64u, data.line_bytes()));
  }
  memory.set_volatile_past_l1(Below(2) != 0);
  if (Below(3) == 0) {
    memory.set_all_misses_or_none(true);
    memory.set_coalescing(Hierarchy::COALESCING_OFF);
    data.set_allocate(Cache::ON_FILL);
    data.set_mshrs(core.warp_size() + Below(8));
    data.set_miss_queue(2 * core.warp_size());
  }
}

DrivenAccess RandomMemoryCase::MakeAccess(Cycle from) {
  DrivenAccess driven;
  driven.from = from;
  const uint32_t warp_size = machine.core().warp_size();
  WarpAccess& access = driven.access;
  access.slot = static_cast<SlotId>(Below(8));
  access.bytes = OneOf({1u, 2u, 4u, 4u, 4u, 8u, 16u});
  access.op = OneOf({trace::v1::OP_LOAD, trace::v1::OP_LOAD, trace::v1::OP_LOAD, trace::v1::OP_STORE,
                     trace::v1::OP_STORE, trace::v1::OP_ATOMIC});
  const bool is_volatile = random_() % 4 == 0;
  const LaneMask all = warp_size == kMaxLanes ? ~LaneMask{0} : (LaneMask{1} << warp_size) - 1;
  access.lanes = Below(2) != 0 ? all : random_() & all;
  if (access.lanes == 0) access.lanes = 1;
  access.space = OneOf({trace::v1::SPACE_GLOBAL, trace::v1::SPACE_GLOBAL, trace::v1::SPACE_GLOBAL,
                        trace::v1::SPACE_SHARED, trace::v1::SPACE_LOCAL, trace::v1::SPACE_GENERIC,
                        trace::v1::SPACE_CONSTANT, trace::v1::SPACE_PARAM, trace::v1::SPACE_TEXTURE});
  access.is_volatile = is_volatile;
  if (access.space == trace::v1::SPACE_TEXTURE) access.op = trace::v1::OP_TEXTURE;
  const bool read_only = access.space == trace::v1::SPACE_CONSTANT || access.space == trace::v1::SPACE_PARAM;
  if (read_only && access.op == trace::v1::OP_ATOMIC) access.op = trace::v1::OP_LOAD;
  if (access.space == trace::v1::SPACE_PARAM && Below(2) != 0) driven.has_addresses = false;
  // Where: few or many places, near or far apart, in order or not.
  const uint32_t range = OneOf({64u, 512u, 4096u, 65536u - 1024u}) / access.bytes;
  const uint32_t start = Below(range);
  const uint32_t stride = OneOf({0u, 1u, 1u, 1u, 2u, 16u, 33u});
  const uint32_t pattern = Below(3);
  const std::initializer_list<uint64_t> bases = {kSharedWindow, kLocalWindow, kConstantWindow, kGlobalMemory,
                                                 kGlobalMemory};
  const uint64_t some_base = OneOf(bases);
  for (uint32_t lane = 0; lane < warp_size; ++lane) {
    const uint32_t index = pattern == 0 ? Below(range) : (start + lane * stride) % range;
    const uint64_t offset = uint64_t{index} * access.bytes;
    uint64_t base = kGlobalMemory;
    if (access.space == trace::v1::SPACE_SHARED) base = kSharedWindow;
    if (access.space == trace::v1::SPACE_LOCAL) base = kLocalWindow;
    if (access.space == trace::v1::SPACE_CONSTANT) base = kConstantWindow;
    if (access.space == trace::v1::SPACE_PARAM) base = kParameterWindow;
    if (access.space == trace::v1::SPACE_GENERIC) base = pattern == 1 ? some_base : OneOf(bases);
    driven.addresses[lane] = base + offset;
    driven.threads[lane] = static_cast<ThreadId>(pattern == 2 ? (access.slot * warp_size + lane) % 128 : Below(128));
  }
  return driven;
}

RandomMemoryCase::RandomMemoryCase(uint64_t seed, const machine::v1::Machine* on) : random_(seed) {
  if (on == nullptr) {
    MakeMachine();
  } else {
    machine = *on;
  }
  script = {.seed = random_(),
            .places = OneOf({1u, 2u, 8u, 100u}),
            .service = OneOf({0u, 1u, 5u}),
            .latency = OneOf({1u, 10u, 60u}),
            .spread = OneOf({0u, 3u, 40u}),
            .period = OneOf({0u, 0u, 5u, 50u})};
  const uint32_t pause = OneOf({1u, 3u, 30u, 200u});
  Cycle from = 0;
  for (uint32_t count = 1 + Below(40); count != 0; --count) {
    accesses.push_back(MakeAccess(from));
    from += Below(pause);
  }
  Cycle at = 0;
  for (uint32_t count = Below(12); count != 0; --count) {
    fetches.push_back({at, 8 * uint64_t{Below(OneOf({16u, 400u}))}});
    at += Below(pause);
  }
}

}  // namespace heddle::replay
