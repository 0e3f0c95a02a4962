// What lowered PTX asks of those who execute it, where LLVM has no intrinsic: functions by name. See windows.h, too.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_DEVICE_OPERATION_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_DEVICE_OPERATION_H_

#include <cstdint>

#include "llvm/ADT/Twine.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/ptx_source/transaction.h"

namespace heddle::tracegen {

// A function with this name and one of those below behind it. Pointers are generic.
inline constexpr char kDeviceOperation[] = "heddle.device.";

inline constexpr char kArriveOperation[] = "arrive";    // void(i32 barrier, i32 threads)
inline constexpr char kBarrierOperation[] = "barrier";  // i32(i32 barrier, i32 threads, i32 reduction, i32 predicate)
inline constexpr char kClusterArriveOperation[] = "cluster.arrive";  // void()
inline constexpr char kClusterWaitOperation[] = "cluster.wait";      // void()
// Convergence barriers of machine code: i32() for a barrier that the thread sets, void(i32 barrier) to leave it.
inline constexpr char kJoinOperation[] = "convergence.join";
inline constexpr char kLeaveOperation[] = "convergence.leave";
// What the threads of a warp that are together do, in its code. The first waits for the members of a barrier.
inline constexpr char kTogetherOperation[] = "together.";
inline constexpr char kMeetOperation[] = "together.meet";          // void(i32 barrier)
inline constexpr char kDivergedOperation[] = "together.diverged";  // i32(i32 mask, i32 counts): a lane is missing
inline constexpr char kDiffersOperation[] = "together.differs";    // i32(i32 value): from that of the first lane
inline constexpr char kCopyOperation[] = "copy";      // void(ptr to, ptr from, i32 bytes, i32 bytes that are read)
inline constexpr char kCommitOperation[] = "commit";  // void()
inline constexpr char kWaitGroupOperation[] = "wait.group";     // void(i32 groups that may be pending, or kWaitForAll)
inline constexpr char kTransactionOperation[] = "transaction";  // i64(i32 Transaction, ptr barrier, i32 number)
// i64(ptr barrier, i64 phase, i32 is_parity): `phase` is the result of an arrival, or a parity. 1 + the phases of the
// barrier that are over, since it was made; 0 if that of `phase` is not.
inline constexpr char kTransactionWaitOperation[] = "transaction.wait";

inline llvm::CallInst* CallDeviceOperation(llvm::IRBuilder<>& b, const llvm::Twine& name, llvm::Type* result,
                                           llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 4> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  return b.CreateCall(module.getOrInsertFunction((kDeviceOperation + name).str(),
                                                 llvm::FunctionType::get(result, types, /*isVarArg=*/false)),
                      arguments);
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_DEVICE_OPERATION_H_
