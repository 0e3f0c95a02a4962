#include "tools/exchange/card/fit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/machine/machine.h"
#include "tools/exchange/card/model_chain.h"
#include "tools/exchange/gpgpusim/machine_text.h"
#include "tools/study/statistics/intervals.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using machine::v1::OperationTiming;
using trace::v1::OpClass;

constexpr double kHertzPerMegahertz = 1e6;

// A benchmark that has values.
struct Measured {
  double median = 0;
  std::string text;  // "latency_l2 262.5 cycles (5 times, 261 to 264)"
};

class Fitter {
 public:
  Fitter(const machine::v1::Machine& base, const std::string& name, const HardwareVisit& visit) : visit_(visit.visit) {
    fitted_.machine = base;
    fitted_.machine.set_name(name);
    fitted_.fit.set_card(visit_.card().name());
    fitted_.fit.set_date(visit_.conditions().date());
    fitted_.fit.set_visit_digest(visit.digest);
    fitted_.fit.set_made_up(visit_.made_up());
    fitted_.fit.set_base(base.name());
  }

  absl::StatusOr<FittedMachine> Fit() {
    machine().set_description(absl::StrCat("Fitted to micro-benchmarks on ", visit_.card().name(), " of ",
                                           visit_.conditions().date(), ", the rest as ", fitted_.fit.base()));
    SetSizes();
    SetRates();
    SetClocks();
    HEDDLE_RETURN_IF_ERROR(SetOperationLatencies());
    HEDDLE_RETURN_IF_ERROR(SetMemoryLatencies());
    for (const char* name :
         {"latency_constant", "bandwidth_shared", "bandwidth_dram_copy", "shared_conflict_cycles", "launch_overhead"}) {
      if (const auto value = Value(name))
        Note(absl::StrCat(value->text, ": measured, and the model has no value for it"));
    }
    if (fitted_.fit.benchmark().empty()) {
      return absl::InvalidArgumentError("no micro-benchmark that a machine could be fitted to");
    }
    if (const absl::Status status = replay::CheckMachine(machine()); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("what was measured makes no machine: ", status.message()));
    }
    return std::move(fitted_);
  }

 private:
  machine::v1::Machine& machine() { return fitted_.machine; }
  machine::v1::Hierarchy& memory() { return *machine().mutable_memory()->mutable_hierarchy(); }
  bool has_hierarchy() const { return fitted_.machine.memory().has_hierarchy(); }

  std::optional<Measured> Value(const std::string& name) const {
    for (const hardware::v1::Benchmark& benchmark : visit_.benchmark()) {
      if (benchmark.name() != name) continue;
      const std::optional<double> median = Median({benchmark.value().begin(), benchmark.value().end()});
      if (!median.has_value() || *median <= 0) return std::nullopt;
      const auto [least, most] = std::ranges::minmax_element(benchmark.value());
      return Measured{*median, absl::StrFormat("%s %.6g %s (%d times, %.6g to %.6g)", name, *median, benchmark.unit(),
                                               benchmark.value_size(), *least, *most)};
    }
    return std::nullopt;
  }

  void Note(std::string text) { fitted_.notes.push_back(std::move(text)); }
  std::string Card() const { return absl::StrCat(visit_.card().name(), ", ", visit_.conditions().date(), ": "); }
  // That `path` was set from a benchmark.
  void Use(const std::string& path, const std::string& benchmark, const Measured& value) {
    std::string& source = fitted_.sources[path];
    absl::StrAppend(&source, source.empty() ? Card() : "; ", value.text);
    const auto& known = fitted_.fit.benchmark();
    if (std::ranges::find(known, benchmark) == known.end()) fitted_.fit.add_benchmark(benchmark);
  }

  template <typename Set>
  void Size(uint64_t value, const std::string& path, const std::string& what, const Set& set) {
    if (value == 0 || value > std::numeric_limits<uint32_t>::max()) return;
    set(static_cast<uint32_t>(value));
    fitted_.sources[path] = absl::StrCat(Card(), what);
  }

  void SetSizes() {
    const hardware::v1::Card& card = visit_.card();
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
    Note("memory.hierarchy.l1_split of the base is smaller than the shared memory: left out, say it for this card");
  }

  // The number of sets is a power of two; the rest are ways.
  void SetL2Size(uint64_t bytes) {
    machine::v1::L2& l2 = *memory().mutable_l2();
    machine::v1::Cache& cache = *l2.mutable_cache();
    const uint64_t slices = uint64_t{l2.slices_per_controller()} * memory().dram().controllers();
    const uint64_t way_bytes = slices * cache.line_bytes();
    if (way_bytes == 0 || cache.ways() == 0) return;
    const uint64_t lines = bytes / way_bytes;  // of a slice
    if (lines < cache.ways()) return Note("the L2 is smaller than one set of each slice: left as it was");
    const uint64_t sets = std::max<uint64_t>(1, std::bit_floor(lines / cache.ways()));
    cache.set_sets(static_cast<uint32_t>(sets));
    cache.set_ways(static_cast<uint32_t>(lines / sets));
    const std::string source = absl::StrCat(Card(), "the driver: ", bytes, " bytes in all");
    fitted_.sources["memory.hierarchy.l2.cache.sets"] = source;
    fitted_.sources["memory.hierarchy.l2.cache.ways"] = source;
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
      const double interval = count * fitted_.machine.core().simd_width() / value->median;
      if (interval < 0.75) Note(absl::StrCat(value->text, ": more than the units of the base can do"));
      timing->set_initiation_interval(static_cast<uint32_t>(std::clamp(std::round(interval), 1.0, 1e6)));
      Use(TimingPath(operation), name, *value);
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

  void SetClocks() {
    machine::v1::Clocks& clocks = *machine().mutable_clocks();
    const uint32_t before = clocks.core_mhz();
    if (const auto value = Value("sm_clock"); value.has_value() && before != 0) {
      const auto scaled = [&](uint32_t mhz) {
        return static_cast<uint32_t>(std::clamp(std::round(mhz * value->median / before), 1.0, 1e6));
      };
      clocks.set_core_mhz(scaled(before));
      clocks.set_network_mhz(scaled(clocks.network_mhz()));
      clocks.set_l2_mhz(scaled(clocks.l2_mhz()));
      Use("clocks.core_mhz", "sm_clock", *value);
      fitted_.sources["clocks.network_mhz"] = "to the core as in the base";
      fitted_.sources["clocks.l2_mhz"] = "to the core as in the base";
    }
    if (!has_hierarchy()) return;
    const machine::v1::Dram& dram = memory().dram();
    const double slices = double{1} * memory().l2().slices_per_controller() * dram.controllers();
    const double dram_bytes = double{1} * dram.controllers() * std::max(1u, dram.chips_per_controller()) *
                              dram.bus_bytes() * dram.data_rate();
    SetClock("bandwidth_l2", slices * memory().l2().cache().line_bytes(), "clocks.l2_mhz",
             [&](uint32_t mhz) { clocks.set_l2_mhz(mhz); });
    SetClock("bandwidth_dram_read", dram_bytes, "clocks.dram_mhz", [&](uint32_t mhz) { clocks.set_dram_mhz(mhz); });
    if (const auto value = Value("bandwidth_l1"); value.has_value() && memory().l1_data().line_bytes() != 0) {
      const double lines = value->median / memory().l1_data().line_bytes();
      const auto banks = static_cast<uint32_t>(std::clamp(std::round(lines), 1.0, 64.0));
      memory().mutable_l1_data()->set_banks(banks);
      memory().set_returns_per_cycle(banks);
      Use("memory.hierarchy.l1_data.banks", "bandwidth_l1", *value);
      Use("memory.hierarchy.returns_per_cycle", "bandwidth_l1", *value);
    }
  }

  // A clock at which so many bytes per cycle are the bandwidth that was measured.
  template <typename Set>
  void SetClock(const std::string& benchmark, double bytes_per_cycle, const std::string& path, const Set& set) {
    const std::optional<Measured> value = Value(benchmark);
    if (!value.has_value() || bytes_per_cycle <= 0) return;
    set(static_cast<uint32_t>(std::clamp(std::round(value->median / bytes_per_cycle / kHertzPerMegahertz), 1.0, 1e6)));
    fitted_.sources.erase(path);
    Use(path, benchmark, *value);
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
                       {"latency_convert", OperationTiming::CONVERT, OpClass::OP_CONVERT, "cvt.rn.f32.s32"}};
    for (const auto& one : kOperations) {
      OperationTiming* timing = Value(one.benchmark).has_value() ? TimingOf(one.operation) : nullptr;
      if (timing == nullptr) continue;
      const uint32_t latency = timing->latency();
      HEDDLE_RETURN_IF_ERROR(Adjust(one.benchmark, TimingPath(one.operation), latency, 1,
                                    OperationChain(one.op, one.mnemonic),
                                    [timing](uint32_t cycles) { timing->set_latency(cycles); }));
    }
    return absl::OkStatus();
  }

  // From the core outwards: what an outer level takes includes the inner ones.
  absl::Status SetMemoryLatencies() {
    if (!has_hierarchy()) return absl::OkStatus();
    machine::v1::Hierarchy& memory = this->memory();
    HEDDLE_RETURN_IF_ERROR(Adjust("latency_shared", "memory.hierarchy.shared.latency", memory.shared().latency(), 0,
                                  SharedChain(machine()),
                                  [&](uint32_t cycles) { memory.mutable_shared()->set_latency(cycles); }));
    HEDDLE_RETURN_IF_ERROR(Adjust("latency_l1", "memory.hierarchy.l1_data.hit_cycles", memory.l1_data().hit_cycles(), 1,
                                  L1Chain(machine()),
                                  [&](uint32_t cycles) { memory.mutable_l1_data()->set_hit_cycles(cycles); }));
    HEDDLE_RETURN_IF_ERROR(Adjust("latency_l2", "memory.hierarchy.l2.rop_cycles", memory.l2().rop_cycles(), 0,
                                  L2Chain(machine()),
                                  [&](uint32_t cycles) { memory.mutable_l2()->set_rop_cycles(cycles); }));
    return Adjust("latency_dram", "memory.hierarchy.l2.dram_pipe_cycles", memory.l2().dram_pipe_cycles(), 0,
                  DramChain(machine()), [&](uint32_t cycles) { memory.mutable_l2()->set_dram_pipe_cycles(cycles); });
  }

  // Changes a field, which is `present`, by what a chain takes on the card more than on the model; then asks the model
  // again.
  absl::Status Adjust(const std::string& benchmark, const std::string& path, uint32_t present, uint32_t least,
                      const absl::StatusOr<Chain>& chain, const std::function<void(uint32_t)>& set) {
    const std::optional<Measured> value = Value(benchmark);
    if (!value.has_value()) return absl::OkStatus();
    if (!chain.ok()) {
      Note(absl::StrCat(value->text, ": not fitted: ", chain.status().message()));
      return absl::OkStatus();
    }
    HEDDLE_ASSIGN_OR_RETURN(const double before, CyclesPerLink(machine(), *chain));
    const double wanted = present + std::round(value->median - before);
    set(static_cast<uint32_t>(std::clamp(wanted, static_cast<double>(least), 1e6)));
    Use(path, benchmark, *value);
    HEDDLE_ASSIGN_OR_RETURN(const double after, CyclesPerLink(machine(), *chain));
    Note(absl::StrFormat("%s: %.1f cycles on the machine, %.1f before, %.1f on the card", benchmark, after, before,
                         value->median));
    return absl::OkStatus();
  }

  const hardware::v1::Visit& visit_;
  FittedMachine fitted_;
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
