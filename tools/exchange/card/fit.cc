#include "tools/exchange/card/fit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/machine/machine.h"
#include "tools/exchange/card/fitting.h"
#include "tools/exchange/card/model_chain.h"
#include "tools/exchange/card/model_streams.h"
#include "tools/exchange/gpgpusim/machine_text.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using machine::v1::OperationTiming;
using trace::v1::OpClass;

class Fitter {
 public:
  Fitter(const machine::v1::Machine& base, const std::string& name, const HardwareVisit& visit)
      : fitting_(base, name, visit) {}

  absl::StatusOr<FittedMachine> Fit() {
    SetSizes();
    SetRates();
    SetClocks();
    FitProducts(fitting_);
    HEDDLE_RETURN_IF_ERROR(SetOperationLatencies());
    HEDDLE_RETURN_IF_ERROR(FitBarriers(fitting_));
    HEDDLE_RETURN_IF_ERROR(SetMemoryLatencies());
    HEDDLE_RETURN_IF_ERROR(SetLaunch());
    SetBlocksPerCycle();
    HEDDLE_RETURN_IF_ERROR(CompareL1Size(fitting_));
    NoteTheRest();
    if (fitting_.fitted().fit.benchmark().empty()) {
      return absl::InvalidArgumentError("no micro-benchmark that a machine could be fitted to");
    }
    if (const absl::Status status = replay::CheckMachine(machine()); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("what was measured makes no machine: ", status.message()));
    }
    return std::move(fitting_.fitted());
  }

 private:
  machine::v1::Machine& machine() { return fitting_.machine(); }
  machine::v1::Hierarchy& memory() { return *machine().mutable_memory()->mutable_hierarchy(); }
  bool has_hierarchy() { return machine().memory().has_hierarchy(); }
  std::optional<Measured> Value(const std::string& benchmark) const { return fitting_.Find(benchmark); }

  template <typename Set>
  void Size(uint64_t value, const std::string& path, const std::string& what, const Set& set) {
    if (value == 0 || value > std::numeric_limits<uint32_t>::max()) return;
    set(static_cast<uint32_t>(value));
    fitting_.UseCard(path, what);
  }

  void SetSizes() {
    const hardware::v1::Card& card = fitting_.card();
    machine::v1::Core& core = *machine().mutable_core();
    Size(card.sms(), "sms", "the driver", [&](uint32_t value) { machine().set_sms(value); });
    Size(card.max_threads_per_sm(), "core.max_threads", "the driver",
         [&](uint32_t value) { core.set_max_threads(value); });
    Size(card.max_blocks_per_sm(), "core.max_blocks", "the driver",
         [&](uint32_t value) { core.set_max_blocks(value); });
    Size(card.registers_per_sm(), "core.registers", "the driver", [&](uint32_t value) { core.set_registers(value); });
    Size(card.shared_bytes_per_sm(), "core.shared_memory_bytes", "the driver",
         [&](uint32_t value) { core.set_shared_memory_bytes(value); });
    Size(card.shared_bytes_reserved(), "core.shared_bytes_per_block", "the driver",
         [&](uint32_t value) { core.set_shared_bytes_per_block(value); });
    if (has_hierarchy()) KeepSplit();
    if (has_hierarchy() && card.l2_bytes() != 0) SetL2Size(card.l2_bytes());
  }

  // A split of the base that cannot hold the card's shared memory is none of this card: the L1 keeps what the largest
  // shared memory of the base leaves it.
  void KeepSplit() {
    const machine::v1::L1Split& split = memory().l1_split();
    machine::v1::Cache& cache = *memory().mutable_l1_data();
    if (!replay::SplitsL1(memory()) || split.shared_bytes().empty()) return;
    const uint32_t most = *split.shared_bytes().rbegin();
    if (most >= machine().core().shared_memory_bytes()) return;
    cache.set_ways(std::min(cache.ways(), (split.bytes() - most) / (cache.sets() * cache.line_bytes())));
    memory().clear_l1_split();
    fitting_.Note(
        "memory.hierarchy.l1_split of the base is smaller than the shared memory: left out, say it for this card");
  }

  // The number of sets is a power of two; the rest are ways.
  void SetL2Size(uint64_t bytes) {
    machine::v1::L2& l2 = *memory().mutable_l2();
    machine::v1::Cache& cache = *l2.mutable_cache();
    const uint64_t slices = uint64_t{l2.slices_per_controller()} * memory().dram().controllers();
    const uint64_t way_bytes = slices * cache.line_bytes();
    if (way_bytes == 0 || cache.ways() == 0) return;
    const uint64_t lines = bytes / way_bytes;  // of a slice
    if (lines < cache.ways()) return fitting_.Note("the L2 is smaller than one set of each slice: left as it was");
    const uint64_t sets = std::max<uint64_t>(1, std::bit_floor(lines / cache.ways()));
    cache.set_sets(static_cast<uint32_t>(sets));
    cache.set_ways(static_cast<uint32_t>(lines / sets));
    const std::string source = absl::StrCat("the driver: ", bytes, " bytes in all");
    fitting_.UseCard("memory.hierarchy.l2.cache.sets", source);
    fitting_.UseCard("memory.hierarchy.l2.cache.ways", source);
  }

  // Threads per cycle of all units together become the interval of one unit.
  void SetRates() {
    constexpr std::pair<const char*, OperationTiming::Operation> kRates[] = {
        {"throughput_int_alu", OperationTiming::INT_ALU}, {"throughput_int_mul", OperationTiming::INT_MUL},
        {"throughput_fp32", OperationTiming::FP32},       {"throughput_fp64", OperationTiming::FP64},
        {"throughput_sfu", OperationTiming::SFU},         {"throughput_convert", OperationTiming::CONVERT}};
    machine::v1::ExecutionUnits& units = *machine().mutable_core()->mutable_units();
    for (const auto& [name, operation] : kRates) {
      const std::optional<Measured> value = Value(name);
      OperationTiming* timing = TimingOf(operation);
      if (!value.has_value() || timing == nullptr) continue;
      const uint32_t counts[] = {units.sp(), units.sfu(), units.tensor()};  // by OperationTiming::Unit
      const uint32_t count = counts[timing->unit()];
      const double interval = count * machine().core().simd_width() / value->median;
      if (interval < 0.75) fitting_.Note(absl::StrCat(value->text, ": more than the units of the base can do"));
      timing->set_initiation_interval(static_cast<uint32_t>(std::clamp(std::round(interval), 1.0, 1e6)));
      fitting_.Use(TimingPath(operation), *value);
    }
  }

  // The entry of the operation; one that the base takes from INT_ALU becomes one of its own. Null without instruction
  // buffers.
  OperationTiming* TimingOf(OperationTiming::Operation operation) {
    if (machine().core().front_end() != machine::v1::Core::IBUFFER) return nullptr;
    machine::v1::ExecutionUnits& units = *machine().mutable_core()->mutable_units();
    const OperationTiming* usual = nullptr;
    for (OperationTiming& timing : *units.mutable_timing()) {
      if (timing.operation() == operation) return &timing;
      if (timing.operation() == OperationTiming::INT_ALU) usual = &timing;
    }
    if (usual == nullptr) return nullptr;
    const OperationTiming copy = *usual;
    OperationTiming& added = *units.add_timing();
    added = copy;
    added.set_operation(operation);
    return &added;
  }
  static std::string TimingPath(OperationTiming::Operation operation) {
    return absl::StrCat("core.units.timing[", OperationTiming::Operation_Name(operation), "]");
  }

  // The domains' edges have to meet: clocks have small ratios if all of them are multiples of one step.
  static uint32_t Megahertz(double mhz) {
    constexpr double kStep = 5;
    return static_cast<uint32_t>(std::clamp(kStep * std::round(mhz / kStep), kStep, 1e5));
  }

  void SetClocks() {
    machine::v1::Clocks& clocks = *machine().mutable_clocks();
    const uint32_t before = clocks.core_mhz();
    if (const auto value = Value("sm_clock"); value.has_value() && before != 0) {
      const auto scaled = [&](uint32_t mhz) { return Megahertz(mhz * value->median / before); };
      clocks.set_core_mhz(scaled(before));
      clocks.set_network_mhz(scaled(clocks.network_mhz()));
      clocks.set_l2_mhz(scaled(clocks.l2_mhz()));
      fitting_.Use("clocks.core_mhz", *value);
      fitting_.fitted().sources["clocks.network_mhz"] = "to the core as in the base";
      fitting_.fitted().sources["clocks.l2_mhz"] = "to the core as in the base";
    }
    if (!has_hierarchy()) return;
    const machine::v1::Dram& dram = memory().dram();
    SetLinesOnTheirWay();
    const double slices = double{1} * memory().l2().slices_per_controller() * dram.controllers();
    const double dram_bytes = double{1} * dram.controllers() * std::max(1u, dram.chips_per_controller()) *
                              dram.bus_bytes() * dram.data_rate();
    SetClock(
        "bandwidth_l2", slices * memory().l2().cache().line_bytes(), "clocks.l2_mhz",
        [&](uint32_t mhz) { clocks.set_l2_mhz(mhz); }, [&] { return L2Bandwidth(machine()); });
    SetClock(
        "bandwidth_dram_read", dram_bytes, "clocks.dram_mhz", [&](uint32_t mhz) { clocks.set_dram_mhz(mhz); },
        [&] { return DramBandwidth(machine(), /*copies=*/false); });
    if (const auto value = Value("bandwidth_l1"); value.has_value() && memory().l1_data().line_bytes() != 0) {
      const double lines = value->median / memory().l1_data().line_bytes();
      const auto banks = static_cast<uint32_t>(std::clamp(std::round(lines), 1.0, 64.0));
      memory().mutable_l1_data()->set_banks(banks);
      memory().set_returns_per_cycle(banks);
      fitting_.Use("memory.hierarchy.l1_data.banks", *value);
      fitting_.Use("memory.hierarchy.returns_per_cycle", *value);
    }
  }

  // A clock at which the model has the bandwidth that was measured: that of so many bytes per cycle, and more by what
  // queues and banks take of it. What they take beyond a third the clock cannot give.
  template <typename Set, typename Model>
  void SetClock(const std::string& benchmark, double bytes_per_cycle, const std::string& path, const Set& set,
                const Model& model) {
    const std::optional<Measured> value = Value(benchmark);
    if (!value.has_value() || bytes_per_cycle <= 0) return;
    const double peak = value->median / bytes_per_cycle / kHertzPerMegahertz;
    set(Megahertz(peak));
    fitting_.fitted().sources.erase(path);
    fitting_.Use(path, *value);
    const absl::StatusOr<double> reached = model();
    if (!reached.ok()) return fitting_.Note(absl::StrCat(value->text, ": not compared: ", reached.status().message()));
    constexpr double kMost = 4.0 / 3;
    set(Megahertz(peak * std::clamp(value->median / *reached, 1.0, kMost)));
    fitting_.Note(absl::StrFormat("%s: %.4g on the machine with that as its peak, %.4g on the card: %s follows",
                                  benchmark, *reached, value->median, path));
  }

  // The setting with the largest value.
  std::optional<Measured> Most(const std::string& benchmark) const {
    const std::vector<Measured> all = fitting_.All(benchmark);
    const auto most = std::ranges::max_element(all, {}, &Measured::median);
    return most == all.end() ? std::nullopt : std::optional(*most);
  }

  // One SM that gets so many bytes per cycle, each after so many cycles, has their product on its way (Little's law).
  // It may have more.
  void SetLinesOnTheirWay() {
    constexpr std::pair<const char*, const char*> kLevels[] = {{"bandwidth_l2_of_sm", "latency_l2"},
                                                               {"bandwidth_dram_of_sm", "latency_dram"}};
    machine::v1::Cache& l1 = *memory().mutable_l1_data();
    const double hertz = machine().clocks().core_mhz() * kHertzPerMegahertz;
    if (l1.line_bytes() == 0 || hertz == 0) return;
    for (const auto& [bandwidth, latency] : kLevels) {
      const std::optional<Measured> bytes = Most(bandwidth);
      const std::optional<Measured> cycles = Value(latency);
      if (!bytes.has_value() || !cycles.has_value()) continue;
      const double lines = std::ceil(bytes->median / hertz * cycles->median / l1.line_bytes());
      if (lines <= l1.mshrs()) continue;
      l1.set_mshrs(static_cast<uint32_t>(std::min(lines, 1e5)));
      fitting_.fitted().sources.erase("memory.hierarchy.l1_data.mshrs");
      fitting_.Use("memory.hierarchy.l1_data.mshrs", *bytes);
      fitting_.Use("memory.hierarchy.l1_data.mshrs", *cycles);
    }
  }

  absl::Status SetOperationLatencies() {
    constexpr struct {
      const char* benchmark;
      OperationTiming::Operation operation;
      OpClass op;
      const char* mnemonic;
    } kOperations[] = {{"latency_int_alu", OperationTiming::INT_ALU, OpClass::OP_INT_ALU, "add.s32"},
                       {"latency_int_mul", OperationTiming::INT_MUL, OpClass::OP_INT_MUL, "mad.lo.s32"},
                       {"latency_int_div", OperationTiming::INT_DIV, OpClass::OP_INT_DIV, "div.s32"},
                       {"latency_fp32", OperationTiming::FP32, OpClass::OP_FP32, "fma.rn.f32"},
                       {"latency_fp32_div", OperationTiming::FP32_DIV, OpClass::OP_FP_DIV, "div.rn.f32"},
                       {"latency_fp64", OperationTiming::FP64, OpClass::OP_FP64, "fma.rn.f64"},
                       {"latency_fp64_div", OperationTiming::FP64_DIV, OpClass::OP_FP_DIV, "div.rn.f64"},
                       {"latency_sfu", OperationTiming::SFU, OpClass::OP_SFU, "rsqrt.approx.f32"},
                       {"latency_convert", OperationTiming::CONVERT, OpClass::OP_CONVERT, "cvt.rn.f32.s32"},
                       {"latency_shuffle", OperationTiming::SHUFFLE, OpClass::OP_WARP, "shfl.sync.idx.b32"},
                       {"latency_vote", OperationTiming::VOTE, OpClass::OP_WARP, "vote.sync.ballot.b32"}};
    for (const auto& one : kOperations) {
      OperationTiming* timing = Value(one.benchmark).has_value() ? TimingOf(one.operation) : nullptr;
      if (timing == nullptr) continue;
      HEDDLE_RETURN_IF_ERROR(Adjust(one.benchmark,
                                    {.path = TimingPath(one.operation),
                                     .present = timing->latency(),
                                     .least = 1,
                                     .set = [timing](uint32_t cycles) { timing->set_latency(cycles); }},
                                    OperationChain(one.op, one.mnemonic)));
    }
    return absl::OkStatus();
  }

  // From the core outwards: what an outer level takes includes the inner ones.
  absl::Status SetMemoryLatencies() {
    if (!has_hierarchy()) return absl::OkStatus();
    machine::v1::Hierarchy& memory = this->memory();
    machine::v1::L2& l2 = *memory.mutable_l2();
    HEDDLE_RETURN_IF_ERROR(Adjust("latency_shared",
                                  {.path = "memory.hierarchy.shared.latency",
                                   .present = memory.shared().latency(),
                                   .set = [&](uint32_t cycles) { memory.mutable_shared()->set_latency(cycles); }},
                                  SharedChain(machine())));
    HEDDLE_RETURN_IF_ERROR(SetClusterLatency());
    HEDDLE_RETURN_IF_ERROR(Adjust("latency_l1",
                                  {.path = "memory.hierarchy.l1_data.hit_cycles",
                                   .present = memory.l1_data().hit_cycles(),
                                   .least = 1,
                                   .set = [&](uint32_t cycles) { memory.mutable_l1_data()->set_hit_cycles(cycles); }},
                                  L1Chain(machine())));
    HEDDLE_RETURN_IF_ERROR(Adjust("latency_l2",
                                  {.path = "memory.hierarchy.l2.rop_cycles",
                                   .present = l2.rop_cycles(),
                                   .set = [&](uint32_t cycles) { l2.set_rop_cycles(cycles); }},
                                  L2Chain(machine())));
    HEDDLE_RETURN_IF_ERROR(Adjust("latency_dram",
                                  {.path = "memory.hierarchy.l2.dram_pipe_cycles",
                                   .present = l2.dram_pipe_cycles(),
                                   .set = [&](uint32_t cycles) { l2.set_dram_pipe_cycles(cycles); }},
                                  DramChain(machine())));
    HEDDLE_RETURN_IF_ERROR(
        SetAtomicLatency("latency_atomic_shared",
                         {.path = "memory.hierarchy.shared.atomic_cycles",
                          .present = memory.shared().atomic_cycles(),
                          .set = [&](uint32_t cycles) { memory.mutable_shared()->set_atomic_cycles(cycles); }},
                         trace::v1::SPACE_SHARED));
    return SetAtomicLatency("latency_atomic_global",
                            {.path = "memory.hierarchy.atomic_cycles",
                             .present = memory.atomic_cycles(),
                             .set = [&](uint32_t cycles) { memory.set_atomic_cycles(cycles); }},
                            trace::v1::SPACE_GLOBAL);
  }

  // Atomics of one thread, which wait for nobody.
  absl::Status SetAtomicLatency(const char* benchmark, const Fitting::Field& field, trace::v1::MemorySpace space) {
    const std::optional<Measured> value = fitting_.Find(benchmark, {{"threads", "1"}});
    if (!value.has_value()) return absl::OkStatus();
    return fitting_.Adjust(*value, field, AtomicChain(machine(), space));
  }

  // A load from another block's shared memory is two ways through the network, and an access to shared memory.
  absl::Status SetClusterLatency() {
    if (!Value("latency_shared_cluster").has_value()) return absl::OkStatus();
    constexpr uint32_t kUsual = 74;  // that 0 stands for (proto/machine.proto)
    machine::v1::Clusters& clusters = *machine().mutable_clusters();
    const uint32_t present = clusters.network_cycles() == 0 ? kUsual : clusters.network_cycles();
    return Adjust("latency_shared_cluster",
                  {.path = "clusters.network_cycles",
                   .present = present,
                   .least = 1,
                   .set = [&](uint32_t cycles) { clusters.set_network_cycles(cycles); },
                   .times = 2},
                  ClusterChain(machine()));
  }

  // What the profiler counts for a kernel that does nothing, less what the model takes for it.
  absl::Status SetLaunch() {
    const std::optional<Measured> value = fitting_.Find("launch_cycles", {{"blocks", "1"}});
    if (!value.has_value()) return absl::OkStatus();
    machine::v1::Dispatch& dispatch = *machine().mutable_dispatch();
    HEDDLE_ASSIGN_OR_RETURN(const double before, EmptyLaunchCycles(machine()));
    const double wanted = dispatch.launch_cycles() + std::round(value->median - before);
    dispatch.set_launch_cycles(static_cast<uint32_t>(std::clamp(wanted, 0.0, 1e6)));
    fitting_.Use("dispatch.launch_cycles", *value);
    return absl::OkStatus();
  }

  // How many blocks start per cycle, from kernels that do nothing with few blocks and with many.
  void SetBlocksPerCycle() {
    uint64_t few = 0, many = 0;
    std::optional<Measured> least, most;
    for (const Measured& value : fitting_.All("launch_cycles")) {
      const auto blocks = value.parameter.find("blocks");
      uint64_t number = 0;
      if (blocks == value.parameter.end() || !absl::SimpleAtoi(blocks->second, &number)) continue;
      if (!least.has_value() || number < few) few = number, least = value;
      if (!most.has_value() || number > many) many = number, most = value;
    }
    if (!most.has_value() || most->median <= least->median) return;
    const double rate = static_cast<double>(many - few) / (most->median - least->median);
    if (rate >= machine().sms()) return;
    machine().mutable_dispatch()->set_blocks_per_cycle(static_cast<uint32_t>(std::max(1.0, std::round(rate))));
    fitting_.Use("dispatch.blocks_per_cycle", *least);
    fitting_.Use("dispatch.blocks_per_cycle", *most);
  }

  absl::Status Adjust(const char* benchmark, const Fitting::Field& field, const absl::StatusOr<Chain>& chain) {
    const std::optional<Measured> value = Value(benchmark);
    return value.has_value() ? fitting_.Adjust(*value, field, chain) : absl::OkStatus();
  }

  // What was measured and sets nothing, and why.
  void NoteTheRest() {
    constexpr struct {
      const char* benchmark;
      const char* why;
    } kRest[] = {{"latency_constant", kNoValue},
                 {"bandwidth_shared", kNoValue},
                 {"bandwidth_dram_copy", kNoValue},
                 {"shared_conflict_cycles", kNoValue},
                 {"launch_overhead", kNoValue},
                 {"throughput_atomic_global", kNoValue},
                 {"latency_copy", "issue_latency and write_latency of core.copies are in it both"},
                 {"latency_transaction_barrier",
                  "arrival_latency and wake_latency of core.transaction_barriers are in it both"}};
    for (const auto& one : kRest) {
      if (const auto value = Value(one.benchmark))
        fitting_.Note(absl::StrCat(value->text, ": measured, and ", one.why));
    }
  }
  static constexpr char kNoValue[] = "the model has no value for it";

  Fitting fitting_;
};

}  // namespace

absl::StatusOr<FittedMachine> FitMachine(const machine::v1::Machine& base, const std::string& name,
                                         const HardwareVisit& visit) {
  return Fitter(base, name, visit).Fit();
}

std::string FitText(const FittedMachine& fitted) {
  const hardware::v1::Fit& fit = fitted.fit;
  std::string text;
  if (!fit.made_up().empty()) absl::StrAppend(&text, "# THE NUMBERS OF THE CARD ARE MADE UP: ", fit.made_up(), "\n");
  absl::StrAppend(&text, "# Fitted by `heddle machines fit` to the micro-benchmarks of a visit to ", fit.card(), " on ",
                  fit.date(), ".\n# The visit's file has the SHA-256 ", fit.visit_digest(),
                  ".\n# No kernel was used: all are held out. Values without a source are those of ", fit.base(),
                  ".\n");
  for (const std::string& note : fitted.notes) absl::StrAppend(&text, "#   ", note, "\n");
  return absl::StrCat(text, MachineText(fitted.machine, fitted.sources));
}

}  // namespace heddle::tools
