// What the steps of the pass share while they work on one kernel.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_KERNEL_PASS_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_KERNEL_PASS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/instrument/thread_context.h"
#include "tracegen/program/device_calls.h"

namespace heddle::tracegen {

// A loop that polls memory; see WaitSite.
struct PollingLoop {
  llvm::BasicBlock* head = nullptr;
  std::vector<llvm::Instruction*> latches;  // terminators of the blocks that lead back to the head
  std::vector<std::pair<llvm::Instruction*, llvm::BasicBlock*>> exits;  // terminator and where it leads
  std::vector<llvm::PHINode*> state;                                    // what an iteration must leave as it was
  llvm::Instruction* poll = nullptr;                                    // the access
  bool poll_every_time = false;  // it dominates every latch, so that its address is known there
  bool several_places = false;   // it polls at addresses that differ from one iteration to the next
  bool meets_block = false;      // a barrier of the whole block is passed in every iteration
  uint32_t first_access = 0;     // range of the PTX instructions that access memory in the loop
  uint32_t last_access = 0;
};

// State of the pass over one kernel.
struct KernelPass {
  KernelPass(const CanonicalModule& canonical, const KernelUnit& unit, const GlobalLayout& globals, bool record)
      : canonical(canonical), unit(unit), globals(globals), record(record) {}

  const CanonicalModule& canonical;
  const KernelUnit& unit;
  const GlobalLayout& globals;
  bool record;
  bool lockstep = false;

  llvm::Module* module = nullptr;          // the clone
  llvm::Function* kernel = nullptr;        // in the clone
  std::vector<llvm::Function*> functions;  // reachable from the kernel, the kernel first
  llvm::DenseSet<llvm::Function*> is_reachable;
  KernelLinks links;  // with the clone's blocks and instructions
  InstrumentedKernel* result = nullptr;
  // Filled by FindWaits if the kernel has polling loops: them, and everything that may change memory or a clock.
  std::vector<PollingLoop> polling_loops;
  std::vector<llvm::Instruction*> changes;
  // By size and bits of constants that are stored: their numbers in RecordedBlock.
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> constants;

  // Source place of an instruction of the clone (or of its function, when it has none).
  Site SiteOf(const llvm::Instruction& instruction) const;
  // Number of the instruction's place, as passed to the runtime.
  uint32_t AddSite(const llvm::Instruction& instruction);
  // "KERNEL: what (file:line)".
  absl::Status Unsupported(const llvm::Instruction& instruction, const std::string& what) const;

  llvm::LLVMContext& context() const { return module->getContext(); }
  llvm::Type* i32() const { return llvm::Type::getInt32Ty(context()); }
  llvm::Type* i64() const { return llvm::Type::getInt64Ty(context()); }
  // Weights of a branch that is hardly ever taken.
  llvm::MDNode* unlikely() const { return llvm::MDBuilder(context()).createBranchWeights(1, 1 << 20); }
  llvm::PointerType* pointer() const { return llvm::PointerType::get(context(), 0); }

  // The context argument of the function that holds `builder`'s insertion point.
  static llvm::Value* Context(llvm::IRBuilder<>& builder);
  // Address of a field of ThreadContext.
  static llvm::Value* Field(llvm::IRBuilder<>& builder, size_t offset);
  llvm::LoadInst* LoadField(llvm::IRBuilder<>& builder, size_t offset, llvm::Type* type) const;
  void StoreField(llvm::IRBuilder<>& builder, size_t offset, llvm::Value* value) const;
  // Functions that a call through a pointer can lead to, in the module of the call, by the decision that a thread
  // records; empty for other instructions.
  std::vector<llvm::Function*> CalleesOf(const llvm::Instruction& call) const;
  // What a pointer to a function of the module is worth.
  uint64_t PointerTo(llvm::StringRef function) const;
  // Calls a function of the runtime.
  llvm::CallInst* CallRuntime(llvm::IRBuilder<>& builder, const char* name, llvm::Type* result_type,
                              llvm::ArrayRef<llvm::Value*> arguments) const;
};

// Whether it is a call of what lowered PTX asks of the runtime (ptx_source/device_operation.h): one whose name begins
// so.
bool IsDeviceOperation(const llvm::CallBase& call, llvm::StringRef operation);
// Code that does what such a call asks for, in front of it; the value of its result, null if it has none or is not
// known.
struct DeviceOperation {
  bool is_known = false;
  llvm::Value* result = nullptr;
};
DeviceOperation LowerDeviceOperation(KernelPass& pass, llvm::CallInst& call);

// True for calls that may hand the processor to another thread of the block.
bool Suspends(const llvm::Instruction& instruction);

// True for functions that flush single-precision denormals to zero, after AddContextArguments.
inline constexpr char kFlushAttribute[] = "heddle-flush";

// The steps, in their order.
absl::Status LowerInlinePtx(KernelPass& pass);    // statements to what they mean, their accesses with their links
absl::Status CheckSupported(KernelPass& pass);    // refuses what cannot be executed
void PlaceFunctions(KernelPass& pass);            // addresses of functions become numbers
void FindWaits(KernelPass& pass);                 // loops that poll memory
absl::Status InsertRecording(KernelPass& pass);   // stores of addresses, decisions, counts; yield points
void InsertWaits(KernelPass& pass);               // calls where an iteration of a polling loop has changed nothing
absl::Status LowerLocalMemory(KernelPass& pass);  // allocas and by-value copies
void LowerCalls(KernelPass& pass);                // through pointers, and of the device's system
void LowerDenormals(KernelPass& pass);            // single-precision results and operands that are flushed to zero
absl::Status LowerIntrinsics(KernelPass& pass);   // nvvm intrinsics to host code or runtime calls
void LowerArithmetic(KernelPass& pass);           // shifts, conversions, divisions as PTX defines them
void KeepContextInRegisters(KernelPass& pass);    // what a recording reads and writes all the time
// Last: the host function `entry`, which calls the kernel, becomes a coroutine that is left at barriers, where that is
// possible (InstrumentedKernel::frame_bytes).
absl::Status LeaveFramesAtBarriers(KernelPass& pass, llvm::Function& entry);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_KERNEL_PASS_H_
