#include "tools/exchange/card/model_benchmarks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/exchange/card/model_chain.h"
#include "tools/exchange/card/model_streams.h"
#include "tools/exchange/card/synthetic_kernel.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

namespace v1 = trace::v1;
using machine::v1::Machine;
using Parameters = std::map<std::string, std::string>;

constexpr uint32_t kWarp = 32;  // lanes of the cards that the benchmarks are for

struct Operation {
  const char* name;  // behind "latency_" and "throughput_"
  v1::OpClass op;
  const char* mnemonic;
  bool has_throughput;
};
constexpr Operation kOperations[] = {
    {"int_alu", v1::OP_INT_ALU, "add.s32", true},        {"int_mul", v1::OP_INT_MUL, "mad.lo.s32", true},
    {"int_div", v1::OP_INT_DIV, "div.s32", false},       {"fp32", v1::OP_FP32, "fma.rn.f32", true},
    {"fp32_div", v1::OP_FP_DIV, "div.rn.f32", false},    {"fp64", v1::OP_FP64, "fma.rn.f64", true},
    {"fp64_div", v1::OP_FP_DIV, "div.rn.f64", false},    {"sfu", v1::OP_SFU, "rsqrt.approx.f32", true},
    {"convert", v1::OP_CONVERT, "cvt.rn.f32.s32", true},
};

// One warp or block that does the same instruction again and again, each time with the result of the time before.
SyntheticKernel Repeat(const v1::Instruction& instruction, uint32_t threads, uint64_t count) {
  SyntheticKernel kernel;
  kernel.threads = threads;
  kernel.instructions.assign(count, instruction);
  return kernel;
}

class Benchmarks {
 public:
  Benchmarks(const Machine& machine, const std::vector<std::string>& wanted) : machine_(machine), wanted_(wanted) {}

  absl::StatusOr<std::vector<ModelBenchmark>> Run() {
    for (const Operation& operation : kOperations) Operate(operation);
    Chains();
    Footprints();
    Streams();
    Conflicts();
    Sectors();
    Steps();
    Launches();
    for (const std::string& name : wanted_) {
      if (names_.contains(name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(name, " is no benchmark of the model; there are: ", absl::StrJoin(names_, ", ")));
    }
    return std::move(found_);
  }

 private:
  using Value = std::function<absl::StatusOr<double>()>;

  // Runs it, unless others are wanted.
  void Add(const std::string& name, const char* unit, Parameters parameter, const Value& run) {
    names_.insert(name);
    if (!wanted_.empty() && std::ranges::find(wanted_, name) == wanted_.end()) return;
    const absl::StatusOr<double> value = run();
    ModelBenchmark benchmark{.name = name, .unit = unit, .parameter = std::move(parameter), .value = 0, .why = ""};
    if (!value.ok()) {
      benchmark.why = std::string(value.status().message());
    } else if (!(*value > 0)) {
      benchmark.why = "it takes no time on this machine";
    } else {
      benchmark.value = *value;
    }
    found_.push_back(std::move(benchmark));
  }

  absl::StatusOr<double> OfChain(const absl::StatusOr<Chain>& chain) {
    if (!chain.ok()) return chain.status();
    return CyclesPerLink(machine_, *chain);
  }

  // Cycles of an instruction, from one time to the next.
  absl::StatusOr<double> CyclesOfEach(const SyntheticKernel& kernel) {
    constexpr uint64_t kWarmUp = 16;
    HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, CyclesBehind(machine_, kernel, kWarmUp));
    return static_cast<double>(cycles) / static_cast<double>(kernel.instructions.size() - kWarmUp);
  }

  void Operate(const Operation& operation) {
    Add(absl::StrCat("latency_", operation.name), "cycles", {},
        [&] { return OfChain(OperationChain(operation.op, operation.mnemonic)); });
    if (!operation.has_throughput) return;
    Add(absl::StrCat("throughput_", operation.name), "threads/cycle/SM", {},
        [&] { return OperationRate(machine_, operation.op, operation.mnemonic); });
  }

  void Chains() {
    Add("latency_shared", "cycles", {}, [&] { return OfChain(SharedChain(machine_)); });
    Add("latency_shared_cluster", "cycles", {}, [&] { return OfChain(ClusterChain(machine_)); });
    Add("latency_l1", "cycles", {}, [&] { return OfChain(L1Chain(machine_)); });
    Add("latency_l2", "cycles", {}, [&] { return OfChain(L2Chain(machine_)); });
    Add("latency_dram", "cycles", {}, [&] { return OfChain(DramChain(machine_)); });
  }

  void Footprints() {
    for (const uint64_t kilobytes : {16, 64, 128, 192, 208, 224, 256, 320}) {
      Add("latency_by_footprint", "cycles", {{"footprint_bytes", absl::StrCat(kilobytes << 10)}},
          [&] { return OfChain(FootprintChain(machine_, kilobytes << 10)); });
    }
  }

  void Streams() {
    Add("bandwidth_l1", "bytes/cycle/SM", {}, [&] { return L1Bandwidth(machine_); });
    Add("bandwidth_shared", "bytes/cycle/SM", {}, [&] { return SharedBandwidth(machine_); });
    Add("bandwidth_l2", "bytes/second", {}, [&] { return L2Bandwidth(machine_); });
    Add("bandwidth_dram_read", "bytes/second", {}, [&] { return DramBandwidth(machine_, /*copies=*/false); });
    Add("bandwidth_dram_copy", "bytes/second", {}, [&] { return DramBandwidth(machine_, /*copies=*/true); });
    for (const bool from_l2 : {true, false}) {
      for (const uint32_t threads : {32, 128, 512, 1024}) {
        Add(from_l2 ? "bandwidth_l2_of_sm" : "bandwidth_dram_of_sm", "bytes/second",
            {{"threads", absl::StrCat(threads)}}, [&] { return BandwidthOfSm(machine_, threads, from_l2); });
      }
    }
  }

  // Lanes of one group of `ways` share a bank, and have rows of their own.
  absl::StatusOr<double> ConflictLatency(uint32_t ways) {
    SyntheticKernel kernel = Repeat(SyntheticAccess(v1::OP_LOAD, v1::SPACE_SHARED, 4, 1, 1), kWarp, 144);
    kernel.address = [ways](uint32_t, uint32_t lane, uint64_t) {
      return kSyntheticSharedBase + 4 * (uint64_t{lane % ways} * kWarp + lane / ways);
    };
    return CyclesOfEach(kernel);
  }

  absl::StatusOr<double> ConflictCycles(uint32_t ways) {
    HEDDLE_ASSIGN_OR_RETURN(const double alone, ConflictLatency(1));
    HEDDLE_ASSIGN_OR_RETURN(const double together, ConflictLatency(ways));
    return (together - alone) / (ways - 1);
  }

  void Conflicts() {
    for (uint32_t ways = 2; ways <= kWarp; ways *= 2) {
      Add("shared_conflict_cycles", "cycles", {{"ways", absl::StrCat(ways)}}, [&] { return ConflictCycles(ways); });
    }
  }

  absl::StatusOr<double> SectorsOfLoad(uint32_t stride) {
    SyntheticKernel kernel = Repeat(SyntheticAccess(v1::OP_LOAD, v1::SPACE_GLOBAL, 4, 1, 1), kWarp, 1);
    kernel.address = [stride](uint32_t, uint32_t lane, uint64_t) {
      return kSyntheticGlobalBase + uint64_t{lane} * stride;
    };
    HEDDLE_ASSIGN_OR_RETURN(const result::v1::Result result, ReplaySynthetic(machine_, kernel));
    constexpr uint64_t kSectorBytes = 32;
    uint64_t sectors = 0;
    for (const result::v1::SizeCount& size : result.launch(0).memory_instructions().transactions()) {
      if (size.count() == 0) continue;
      if (size.bytes() > kSectorBytes) {
        return absl::InvalidArgumentError(
            absl::StrCat("transactions of ", size.bytes(), " bytes do not tell how many sectors of 32 they touch"));
      }
      sectors += size.count();
    }
    return static_cast<double>(sectors);
  }

  void Sectors() {
    for (uint32_t stride = 4; stride <= 256; stride *= 2) {
      Add("sectors_per_request", "sectors", {{"stride_bytes", absl::StrCat(stride)}},
          [&] { return SectorsOfLoad(stride); });
    }
  }

  // A word for each thread.
  absl::StatusOr<double> AtomicLatency(v1::MemorySpace space, uint64_t base, uint32_t threads) {
    SyntheticKernel kernel = Repeat(SyntheticAccess(v1::OP_ATOMIC, space, 4, 1, 1), threads, 144);
    kernel.address = [base](uint32_t, uint32_t thread, uint64_t) { return base + 4 * uint64_t{thread}; };
    return CyclesOfEach(kernel);
  }

  void Steps() {
    for (const uint32_t threads : {32, 128, 256, 512, 1024}) {
      Add("latency_barrier", "cycles", {{"threads", absl::StrCat(threads)}},
          [&] { return CyclesOfEach(Repeat(SyntheticOperation(v1::OP_BARRIER, "bar.sync", 0, 0), threads, 144)); });
    }
    for (const uint32_t threads : {1u, kWarp}) {
      const Parameters parameter = {{"threads", absl::StrCat(threads)}};
      Add("latency_atomic_shared", "cycles", parameter,
          [&] { return AtomicLatency(v1::SPACE_SHARED, kSyntheticSharedBase, threads); });
      Add("latency_atomic_global", "cycles", parameter,
          [&] { return AtomicLatency(v1::SPACE_GLOBAL, kSyntheticGlobalBase, threads); });
    }
    for (const auto& [benchmark, mnemonic] :
         {std::pair{"latency_shuffle", "shfl.sync.idx"}, std::pair{"latency_vote", "vote.sync.ballot"}}) {
      Add(benchmark, "cycles", {},
          [&] { return CyclesOfEach(Repeat(SyntheticOperation(v1::OP_WARP, mnemonic, 1, 1), kWarp, 144)); });
    }
  }

  absl::StatusOr<double> EmptyCycles(uint32_t blocks) {
    SyntheticKernel kernel;
    kernel.blocks = blocks;
    kernel.threads = kWarp;
    HEDDLE_ASSIGN_OR_RETURN(const result::v1::Result result, ReplaySynthetic(machine_, kernel));
    return static_cast<double>(result.total().cycles());
  }

  void Launches() {
    for (const uint32_t blocks : {1u, machine_.sms(), 16 * machine_.sms()}) {
      Add("launch_cycles", "cycles", {{"blocks", absl::StrCat(blocks)}}, [&] { return EmptyCycles(blocks); });
    }
  }

  const Machine& machine_;
  const std::vector<std::string>& wanted_;
  std::set<std::string> names_;  // of all benchmarks, wanted or not
  std::vector<ModelBenchmark> found_;
};

}  // namespace

absl::StatusOr<std::vector<ModelBenchmark>> RunModelBenchmarks(const Machine& machine,
                                                               const std::vector<std::string>& wanted) {
  return Benchmarks(machine, wanted).Run();
}

}  // namespace heddle::tools
