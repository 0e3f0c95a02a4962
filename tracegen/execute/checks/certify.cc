#include "tracegen/execute/checks/certify.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/block_runner.h"
#include "tracegen/execute/block/record_log.h"
#include "tracegen/execute/checks/block_store.h"
#include "tracegen/execute/checks/global_races.h"
#include "tracegen/execute/checks/launch_validity.h"
#include "tracegen/execute/checks/path_difference.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kWholeBlockEntries = uint64_t{16} << 20;
static_assert(kWholeBlockEntries <= RecordLog::kMostEntries);
// What a run in another order may take.
constexpr uint64_t kMostTimesInstructions = 16;
constexpr uint64_t kLeastInstructions = 100'000'000;

// Keeps the blocks of the usual order.
class Keeper final : public BlockObserver {
 public:
  Keeper(const CertifiedLaunch& launch, BlockStore& store) : launch_(launch), store_(store) {}

  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t>, bool) override {
    if (launch_.is_recorded && !launch_.is_recorded(block)) return absl::OkStatus();
    return store_.Put(block, records.joined());
  }

 private:
  const CertifiedLaunch& launch_;
  BlockStore& store_;
};

// Compares the blocks of another order with those that were kept.
class Comparer final : public BlockObserver {
 public:
  Comparer(const trace::Program& program, BlockStore& store) : difference_(program), store_(store) {}

  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t>, bool) override {
    if (!store_.Has(block)) return absl::OkStatus();
    absl::StatusOr<const StoredBlock*> kept = store_.Get(block);
    if (!kept.ok()) {
      store_failed_ = true;
      return kept.status();
    }
    const std::span<const trace::ThreadRecord> threads = records.joined();
    for (size_t t = 0; t < threads.size(); ++t) {
      difference_.Compare((*kept)->decisions_of(t), (*kept)->addresses_of(t), threads[t].decisions,
                          threads[t].addresses);
    }
    return absl::OkStatus();
  }

  const std::map<trace::Pc, ChangeCount>& changes() const { return difference_.changes(); }
  bool store_failed() const { return store_failed_; }

 private:
  PathDifference difference_;
  BlockStore& store_;
  bool store_failed_ = false;
};

class Certifier {
 public:
  Certifier(const CertifiedLaunch& launch, const CertifyOptions& options, DeviceHeap* heap)
      : launch_(launch), options_(options), heap_(heap) {}

  absl::StatusOr<trace::v1::Certificate> Run(DeviceMemory::Scratch& scratch, BlockStore& store,
                                             const std::vector<trace::v1::Allocation>& allocations) {
    const DeviceHeap::State heap = heap_ != nullptr ? heap_->Save() : DeviceHeap::State();
    const auto start_over = [&] {
      scratch.Reset();
      if (heap_ != nullptr) heap_->Restore(heap);
    };
    Keeper keeper(launch_, store);
    uint64_t instructions = 0;
    absl::Status status = RunOnce(std::nullopt, options_.max_instructions, keeper, &instructions);
    GlobalRaces races(launch_.program, launch_.geometry.threads(), StoredConstants(launch_.kernel, launch_.program),
                      store);
    if (status.ok()) status = races.KeepMemory();
    start_over();
    if (!status.ok()) return status;
    const uint64_t limit = std::max(instructions * kMostTimesInstructions, kLeastInstructions);

    trace::v1::Certificate certificate;
    certificate.set_seed(kFirstOrderSeed);
    certificate.set_lockstep(options_.lockstep);
    std::map<trace::Pc, ChangeCount> most;
    for (uint32_t run = 0; run < options_.runs && status.ok(); ++run) {
      Comparer comparer(launch_.program, store);
      status = RunOnce(kFirstOrderSeed + run, limit, comparer, &instructions);
      if (status.ok()) races.CompareMemory();
      start_over();
      if (absl::IsCancelled(status) || comparer.store_failed()) return status;
      if (!status.ok()) {
        certificate.set_failure(absl::StrCat("in the order of seed ", kFirstOrderSeed + run, ": ", status.message()));
      }
      certificate.set_runs(run + 1);
      for (const auto& [pc, change] : comparer.changes()) {
        ChangeCount& count = most[pc];
        count.decisions = std::max(count.decisions, change.decisions);
        count.addresses = std::max(count.addresses, change.addresses);
        count.threads = std::max(count.threads, change.threads);
      }
    }
    if (status = races.Find(allocations, certificate); !status.ok()) return status;
    if (most.empty()) return certificate;
    HEDDLE_ASSIGN_OR_RETURN(std::vector<uint64_t> executions, Executions(store));
    for (const auto& [pc, change] : most) {
      trace::v1::InstructionVariance& variance = *certificate.add_instruction();
      variance.set_instruction(pc);
      variance.set_decisions_changed(change.decisions);
      variance.set_addresses_changed(change.addresses);
      variance.set_threads(change.threads);
      variance.set_executions(executions[pc]);
    }
    return certificate;
  }

 private:
  absl::Status RunOnce(std::optional<uint64_t> seed, uint64_t limit, BlockObserver& observer, uint64_t* instructions) {
    RunnerOptions options;
    options.max_instructions = limit;
    options.heap = heap_;
    options.order_seed = seed;
    options.lockstep = options_.lockstep;
    options.allow_outside_reads = options_.allow_outside_reads;
    options.whole_block_entries = kWholeBlockEntries;
    BlockRunner runner(std::move(options));
    runner.SetObserver(&observer);
    absl::Status status = runner.Run({&launch_.kernel, launch_.entry, launch_.arguments}, launch_.geometry, nullptr);
    *instructions = runner.instructions();
    return status;
  }

  // In the usual order, by instruction.
  absl::StatusOr<std::vector<uint64_t>> Executions(BlockStore& store) const {
    std::vector<uint64_t> counts(launch_.program.instruction_count(), 0);
    const PathDifference paths(launch_.program);
    for (uint64_t number : store.Blocks()) {
      HEDDLE_ASSIGN_OR_RETURN(const StoredBlock* block, store.Get(number));
      for (size_t t = 0; t + 1 < block->first_decision.size(); ++t) {
        paths.CountExecutions(block->decisions_of(t), counts);
      }
    }
    return counts;
  }

  const CertifiedLaunch& launch_;
  const CertifyOptions& options_;
  DeviceHeap* heap_;
};

}  // namespace

namespace {

absl::StatusOr<trace::v1::Certificate> Certify(const CertifiedLaunch& launch, const CertifyOptions& options,
                                               DeviceMemory& memory, DeviceHeap* heap) {
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<BlockStore> store, BlockStore::Create(options.folder));
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<DeviceMemory::Scratch> scratch, memory.MakeScratch());
  return Certifier(launch, options, heap).Run(*scratch, *store, memory.allocations());
}

}  // namespace

absl::StatusOr<trace::v1::Certificate> CertifyLaunch(const CertifiedLaunch& launch, const CertifyOptions& options,
                                                     DeviceMemory& memory, DeviceHeap* heap) {
  absl::StatusOr<trace::v1::Certificate> certificate = Certify(launch, options, memory, heap);
  if (certificate.ok() || absl::IsCancelled(certificate.status())) return certificate;
  trace::v1::Certificate none;
  none.set_failure(std::string(certificate.status().message()));
  return none;
}

}  // namespace heddle::tracegen
