// The functions that generated code calls.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/block_runner.h"
#include "tracegen/execute/code/device_print.h"
#include "tracegen/execute/code/image_unit.h"

namespace heddle::tracegen {
namespace {

BlockRunner& Runner(ThreadContext* context) { return *static_cast<BlockRunner*>(context->runner); }

void Yield(ThreadContext* context) { Runner(context).Yield(); }

uint32_t Barrier(ThreadContext* context, uint32_t site, uint32_t id, uint32_t threads, uint32_t reduction,
                 uint32_t predicate) {
  return Runner(context).Barrier(site, id, threads, static_cast<BarrierReduction>(reduction), predicate);
}

uint64_t Warp(ThreadContext* context, uint32_t site, uint32_t operation, uint32_t mask, uint64_t value, uint32_t b,
              uint32_t c) {
  return Runner(context).WarpMeeting(site, static_cast<WarpOperation>(operation), mask, value, b, c, false);
}

uint64_t WarpConverged(ThreadContext* context, uint32_t site, uint32_t operation, uint32_t mask, uint64_t value,
                       uint32_t b, uint32_t c) {
  return Runner(context).WarpMeeting(site, static_cast<WarpOperation>(operation), mask, value, b, c, true);
}

void Trap(ThreadContext* context, uint32_t site) {
  Runner(context).Fail(absl::StrCat("trap at ", Runner(context).SiteText(site)));
}

void Assert(ThreadContext* context, uint32_t, const char* expression, const char* file, uint32_t line, const char*) {
  const char* slash = std::strrchr(file, '/');
  Runner(context).Fail(
      absl::StrCat("assertion `", expression, "` failed at ", slash != nullptr ? slash + 1 : file, ":", line));
}

void Exit(ThreadContext* context) { Runner(context).ExitThread(); }

void LocalOverflow(ThreadContext* context) {
  Runner(context).Fail(absl::StrCat("local arrays need more than ", kLocalBytes, " bytes per thread"));
}

void Misaligned(ThreadContext* context, const uint64_t* record) { Runner(context).FailMisaligned(record); }

void Lockstep(ThreadContext* context, uint32_t pc) { Runner(context).BeforeAccess(pc); }

uint32_t Print(ThreadContext* context, const char* format, const char* arguments) {
  uint32_t conversions = 0;
  Runner(context).Print(FormatDeviceText(format, arguments, &conversions));
  return conversions;
}

uint64_t Allocate(ThreadContext* context, uint64_t bytes) { return Runner(context).Allocate(bytes); }

void Free(ThreadContext* context, uint32_t site, uint64_t address) { Runner(context).Free(site, address); }

void BadCall(ThreadContext* context, uint32_t site, uint64_t pointer) {
  Runner(context).Fail(absl::StrCat("call through a pointer (0x", absl::Hex(pointer), ") that is no function's at ",
                                    Runner(context).SiteText(site)));
}

void Spin(ThreadContext* context, uint32_t wait, uint64_t address) { Runner(context).Spin(wait, address); }

void Wrote(ThreadContext* context, uint64_t address, uint64_t bytes) { Runner(context).Wrote(address, bytes); }

void ResidentGrid(ThreadContext* context, uint32_t site) { Runner(context).RequireResidentGrid(site); }

void Image(ThreadContext* context, uint32_t site, uint32_t operation) {
  const char* wrong = AccessImage(ImageOperation::Decode(operation), context->image_values, &context->texel_address);
  if (wrong != nullptr) Runner(context).Fail(absl::StrCat(wrong, " at ", Runner(context).SiteText(site)));
}

uint32_t QueryOfImage(ThreadContext* context, uint32_t site, uint64_t image, uint32_t query) {
  uint32_t result = 0;
  if (!QueryImage(image, static_cast<ImageQuery>(query), &result)) {
    Runner(context).Fail(
        absl::StrCat("a query of a texture or surface to which nothing is bound at ", Runner(context).SiteText(site)));
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
      {kWarpFunction, Address(Warp)},
      {kWarpConvergedFunction, Address(WarpConverged)},
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
      {kWroteFunction, Address(Wrote)},
      {kImageFunction, Address(Image)},
      {kImageQueryFunction, Address(QueryOfImage)},
  };
  return table;
}

}  // namespace heddle::tracegen
