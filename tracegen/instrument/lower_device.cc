// What lowered PTX asks of the runtime, as calls of it.
#include "tracegen/instrument/kernel_pass.h"
#include "tracegen/program/ptx_source/device_operation.h"

namespace heddle::tracegen {

static_assert(static_cast<uint32_t>(BarrierReduction::kNone) == 0 &&
                  static_cast<uint32_t>(BarrierReduction::kCount) == 1 &&
                  static_cast<uint32_t>(BarrierReduction::kAnd) == 2 &&
                  static_cast<uint32_t>(BarrierReduction::kOr) == 3,
              "as meetings.cc numbers them");

DeviceOperation LowerDeviceOperation(KernelPass& pass, llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  llvm::StringRef name = call.getCalledFunction()->getName();
  name.consume_front(kDeviceOperation);
  llvm::Value* const context = KernelPass::Context(builder);
  const auto argument = [&call](unsigned i) { return call.getArgOperand(i); };
  const auto run = [&](const char* function, llvm::ArrayRef<llvm::Value*> arguments) -> DeviceOperation {
    llvm::Type* const type = call.getType();
    llvm::CallInst* made = pass.CallRuntime(builder, function, type, arguments);
    return {true, type->isVoidTy() ? nullptr : made};
  };
  const auto site = [&] { return builder.getInt32(pass.AddSite(call)); };
  if (name == kArriveOperation) return run(kArriveFunction, {context, site(), argument(0), argument(1)});
  if (name == kBarrierOperation) {
    return run(kBarrierFunction, {context, site(), argument(0), argument(1), argument(2), argument(3)});
  }
  if (name == kClusterArriveOperation || name == kClusterWaitOperation) {
    return run(kClusterFunction, {context, site(), builder.getInt32(name == kClusterWaitOperation ? 1 : 0)});
  }
  if (name == kJoinOperation) return run(kJoinFunction, {context, site()});
  if (name == kLeaveOperation) return run(kLeaveFunction, {context, argument(0)});
  const auto together = [&](WarpOperation operation, llvm::Value* mask, llvm::Value* value) -> DeviceOperation {
    llvm::Value* const none = builder.getInt32(0);
    llvm::Value* const wide = builder.CreateZExt(value, builder.getInt64Ty());
    llvm::Value* const number = builder.getInt32(static_cast<uint32_t>(operation));
    const bool is_meeting = operation == WarpOperation::kMeet;
    llvm::Value* const made =
        pass.CallRuntime(builder, kWarpConvergedFunction, builder.getInt64Ty(),
                         {context, site(), number, is_meeting ? mask : none, wide, is_meeting ? none : mask, none});
    return {true, call.getType()->isVoidTy() ? nullptr : builder.CreateTrunc(made, call.getType())};
  };
  if (name == kMeetOperation) return together(WarpOperation::kMeet, argument(0), builder.getInt32(0));
  if (name == kDivergedOperation) return together(WarpOperation::kDiverged, argument(0), argument(1));
  if (name == kDiffersOperation) return together(WarpOperation::kDiffers, builder.getInt32(0), argument(0));
  if (name == kCopyOperation) {
    return run(kCopyFunction, {context, argument(0), argument(1), argument(2), argument(3)});
  }
  if (name == kCommitOperation) return run(kCommitFunction, {context});
  if (name == kWaitGroupOperation) return run(kWaitGroupFunction, {context, argument(0)});
  if (name == kTransactionOperation) {
    return run(kTransactionFunction, {context, site(), argument(0), argument(1), argument(2)});
  }
  if (name == kTransactionWaitOperation) {
    return run(kTransactionWaitFunction, {context, site(), argument(0), argument(1), argument(2)});
  }
  return {};
}

}  // namespace heddle::tracegen
