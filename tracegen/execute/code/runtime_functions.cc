#include "tracegen/execute/code/runtime_functions.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/block_threads.h"
#include "tracegen/execute/block/device_services.h"
#include "tracegen/execute/code/device_print.h"
#include "tracegen/execute/code/image_unit.h"

namespace heddle::tracegen {
namespace {

DeviceServices& Services(ThreadContext* context) { return *static_cast<DeviceServices*>(context->runner); }

BlockThreads& Threads(ThreadContext* context) { return Services(context).threads(); }

std::string Place(ThreadContext* context, uint32_t site) { return Services(context).places().Site(site); }

void Yield(ThreadContext* context) { Threads(context).Yield(); }

uint32_t Barrier(ThreadContext* context, uint32_t site, uint32_t id, uint32_t threads, uint32_t reduction,
                 uint32_t predicate) {
  return Threads(context).Barrier({site, id, threads, static_cast<BarrierReduction>(reduction)}, predicate);
}

void Arrive(ThreadContext* context, uint32_t site, uint32_t id, uint32_t threads) {
  Threads(context).ArriveOnly({site, id, threads, BarrierReduction::kNone});
}

void Cluster(ThreadContext* context, uint32_t site, uint32_t waits) { Threads(context).MeetCluster(site, waits != 0); }

void Copy(ThreadContext* context, uint64_t to, uint64_t from, uint32_t bytes, uint32_t read) {
  Threads(context).Copy(to, from, bytes, read);
}

void Commit(ThreadContext* context) { Threads(context).CommitCopies(); }

void WaitGroup(ThreadContext* context, uint32_t pending) { Threads(context).WaitForCopies(pending); }

uint64_t Transact(ThreadContext* context, uint32_t site, uint32_t operation, uint64_t address, uint32_t number) {
  return Threads(context).Transact(site, static_cast<Transaction>(operation), address, number);
}

uint64_t TransactionWait(ThreadContext* context, uint32_t site, uint64_t address, uint64_t phase, uint32_t is_parity) {
  return Threads(context).WaitForPhase(
      {address, is_parity != 0 ? phase & 1 : TransactionBarriers::ParityOf(phase), site});
}

uint64_t Warp(ThreadContext* context, uint32_t site, uint32_t operation, uint32_t mask, uint64_t value, uint32_t b,
              uint32_t c) {
  return Threads(context).ArriveAtWarpOperation({static_cast<WarpOperation>(operation), site, mask, false},
                                                {value, b, c});
}

uint64_t WarpConverged(ThreadContext* context, uint32_t site, uint32_t operation, uint32_t mask, uint64_t value,
                       uint32_t b, uint32_t c) {
  return Threads(context).ArriveAtWarpOperation({static_cast<WarpOperation>(operation), site, mask, true},
                                                {value, b, c});
}

uint32_t Join(ThreadContext* context, uint32_t site) { return Threads(context).warps().Join(site); }

void Leave(ThreadContext* context, uint32_t barrier) { Threads(context).warps().Leave(barrier); }

void MatrixOperation(ThreadContext* context, uint32_t site, uint64_t operation) {
  // All of the warp takes part, whatever the instruction.
  Threads(context).ArriveAtWarpOperation({WarpOperation::kMatrix, site, ~uint32_t{0}, false}, {operation, 0, 0});
}

void Trap(ThreadContext* context, uint32_t site) {
  Threads(context).Fail(absl::StrCat("trap at ", Place(context, site)));
}

void Assert(ThreadContext* context, uint32_t, const char* expression, const char* file, uint32_t line, const char*) {
  const char* slash = std::strrchr(file, '/');
  Threads(context).Fail(
      absl::StrCat("assertion `", expression, "` failed at ", slash != nullptr ? slash + 1 : file, ":", line));
}

void Exit(ThreadContext* context) { Threads(context).ExitThread(); }

void LocalOverflow(ThreadContext* context) {
  Threads(context).Fail(absl::StrCat("local arrays need more than ", kLocalBytes, " bytes per thread"));
}

// One of the addresses in `record`, all those of the current IR block, is no multiple of the access's size.
void Misaligned(ThreadContext* context, const uint64_t* record) {
  Threads(context).Fail(Services(context).places().Misaligned(record));
}

void Lockstep(ThreadContext* context, uint32_t pc) { Threads(context).BeforeAccess(pc); }

uint32_t Print(ThreadContext* context, const char* format, const char* arguments) {
  uint32_t conversions = 0;
  Services(context).Print(FormatDeviceText(format, arguments, &conversions));
  return conversions;
}

uint64_t Allocate(ThreadContext* context, uint64_t bytes) { return Services(context).Allocate(bytes); }

void Free(ThreadContext* context, uint32_t site, uint64_t address) { Services(context).Free(site, address); }

void BadCall(ThreadContext* context, uint32_t site, uint64_t pointer) {
  Threads(context).Fail(absl::StrCat("call through a pointer (0x", absl::Hex(pointer), ") that is no function's at ",
                                     Place(context, site)));
}

void Spin(ThreadContext* context, uint32_t wait, uint64_t address) { Threads(context).Spin(wait, address); }

void Iterate(ThreadContext* context, uint32_t wait, uint64_t state) { Threads(context).Iterate(wait, state); }

void LeaveLoop(ThreadContext* context, uint32_t wait) { Threads(context).LeaveLoop(wait); }

void Wrote(ThreadContext* context, uint64_t address, uint64_t bytes) { Threads(context).Wrote(address, bytes); }

void ResidentGrid(ThreadContext* context, uint32_t site) { Services(context).RequireResidentGrid(site); }

void Image(ThreadContext* context, uint32_t site, uint32_t operation) {
  const char* wrong = AccessImage(ImageOperation::Decode(operation), context->image_values, &context->texel_address);
  if (wrong != nullptr) Threads(context).Fail(absl::StrCat(wrong, " at ", Place(context, site)));
}

uint32_t QueryOfImage(ThreadContext* context, uint32_t site, uint64_t image, uint32_t query) {
  uint32_t result = 0;
  if (!QueryImage(image, static_cast<ImageQuery>(query), &result)) {
    Threads(context).Fail(
        absl::StrCat("a query of a texture or surface to which nothing is bound at ", Place(context, site)));
  }
  return result;
}

template <typename F>
void* Address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

const std::vector<std::pair<std::string, void*>>& RuntimeFunctions() {
  static const auto& table = *new std::vector<std::pair<std::string, void*>>{
      {kYieldFunction, Address(Yield)},
      {kBarrierFunction, Address(Barrier)},
      {kArriveFunction, Address(Arrive)},
      {kClusterFunction, Address(Cluster)},
      {kCopyFunction, Address(Copy)},
      {kCommitFunction, Address(Commit)},
      {kWaitGroupFunction, Address(WaitGroup)},
      {kTransactionFunction, Address(Transact)},
      {kTransactionWaitFunction, Address(TransactionWait)},
      {kWarpFunction, Address(Warp)},
      {kWarpConvergedFunction, Address(WarpConverged)},
      {kJoinFunction, Address(Join)},
      {kLeaveFunction, Address(Leave)},
      {kMatrixOperationFunction, Address(MatrixOperation)},
      {kTrapFunction, Address(Trap)},
      {kAssertFunction, Address(Assert)},
      {kExitFunction, Address(Exit)},
      {kLocalOverflowFunction, Address(LocalOverflow)},
      {kLockstepFunction, Address(Lockstep)},
      {kMisalignedFunction, Address(Misaligned)},
      {kPrintFunction, Address(Print)},
      {kAllocateFunction, Address(Allocate)},
      {kFreeFunction, Address(Free)},
      {kBadCallFunction, Address(BadCall)},
      {kResidentGridFunction, Address(ResidentGrid)},
      {kSpinFunction, Address(Spin)},
      {kIterateFunction, Address(Iterate)},
      {kLeaveLoopFunction, Address(LeaveLoop)},
      {kWroteFunction, Address(Wrote)},
      {kImageFunction, Address(Image)},
      {kImageQueryFunction, Address(QueryOfImage)},
  };
  return table;
}

}  // namespace heddle::tracegen
