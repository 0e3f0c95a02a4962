// What generated code and the runtime share: the context of the running thread, the address windows, and the functions
// that generated code calls.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_THREAD_CONTEXT_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_THREAD_CONTEXT_H_

#include <cstddef>
#include <cstdint>

#include "tracegen/program/ptx_source/transaction.h"  // Transaction, of kTransactionFunction

namespace heddle::tracegen {

// Address windows. All lie where neither Linux nor the address sanitizer puts anything, so addresses in a trace are the
// same in every run.
inline constexpr uint64_t kGlobalBase = 0x2000'0000'0000;
inline constexpr uint64_t kGlobalBytes = uint64_t{64} << 30;
inline constexpr uint64_t kSharedBase = 0x2100'0000'0000;
inline constexpr uint64_t kSharedBytes = 128 << 10;
// Shared memory of all blocks of a cluster, that of rank r at kClusterBase + r * kSharedBytes. It lies less than 2^32
// behind the block's own, so that numbers of 32 bits tell both apart.
inline constexpr uint64_t kClusterBase = kSharedBase + (16 << 20);
inline constexpr uint64_t kClusterBytes = 16 * kSharedBytes;
inline constexpr uint64_t kConstantBase = 0x2200'0000'0000;
inline constexpr uint64_t kConstantBytes = 4 << 20;
inline constexpr uint64_t kParamBase = 0x2300'0000'0000;
inline constexpr uint64_t kParamBytes = 64 << 10;
// Local memory of linear thread t of the block in slot s (of those that are live at once, with T threads each) starts
// at kLocalBase + (s * T + t) * kLocalStride; what is recorded is the address that thread 0 of slot 0 would have.
inline constexpr uint64_t kLocalBase = 0x2400'0000'0000;
inline constexpr uint64_t kLocalStride = 1 << 20;
inline constexpr uint64_t kLocalBytes = 512 << 10;  // usable; the rest of a stride is a guard
inline constexpr uint64_t kLocalThreads = 64 << 10;
inline constexpr uint64_t kLocalThreadMask = (kLocalThreads - 1) * kLocalStride;

// Function pointers: pointer number i (from 0) is kFunctionBase + (i + 1) * kFunctionStep. Nothing lies there.
inline constexpr uint64_t kFunctionBase = 0x2500'0000'0000;
inline constexpr uint64_t kFunctionStep = 16;

inline constexpr uint32_t kWarpWidth = 32;

// What belongs to the running thread alone and is put back, all at once, when it goes on. What it changes is not side
// by side: a compiler would read it at once, which has to wait for stores one by one.
struct alignas(16) ThreadOwn {
  uint32_t tid[3] = {};
  uint32_t linear_tid = 0;
  uint64_t* block_base = nullptr;  // record of the current IR block while the thread is suspended, or may fail
  char* local_limit = nullptr;
  char* local_pointer = nullptr;  // next free byte of the thread's local memory
  uint32_t location = 0;          // number of the IR block that may fail or wait, see InstrumentedKernel::blocks
};

// Context of the thread that runs now; one per worker, refilled when another thread takes over. The record cursors
// simply continue: whatever lies between two switches belongs to the thread that ran between them. Generated code that
// records keeps them, and `instructions`, in registers from one call with the context to the next.
struct ThreadContext {
  uint64_t* address_cursor = nullptr;
  uint8_t* decision_cursor = nullptr;
  uint64_t instructions = 0;       // thread-instructions since the launch began
  uint64_t instruction_limit = 0;  // reaching it at a loop back-edge or function entry calls HeddleYield
  const uint64_t* address_limit = nullptr;
  ThreadOwn own;
  uint32_t division_by_zero = 0;  // 1 + site of the last division by zero, 0 = none
  uint32_t ctaid[3] = {};
  uint32_t ntid[3] = {};
  uint32_t nctaid[3] = {};
  uint32_t dynamic_shared_bytes = 0;
  uint32_t total_shared_bytes = 0;
  uint32_t grid_id = 0;
  // What the driver tells a kernel, in the PTX special registers %envreg0 to %envreg7. OpenCL: [0] the number of
  // dimensions, [3] to [5] the global offset. CUDA: [1] and [2] the upper and the lower half of the address of the
  // workspace for barriers of the whole grid (InstrumentedKernel::asks_grid_workspace).
  uint32_t environment[8] = {};
  // The block's cluster, as the PTX special registers of these names tell it.
  uint32_t clusterid[3] = {};
  uint32_t nclusterid[3] = {};
  uint32_t cluster_ctaid[3] = {};
  uint32_t cluster_nctaid[3] = {1, 1, 1};
  uint32_t cluster_ctarank = 0;
  uint32_t cluster_nctarank = 1;
  uint32_t is_explicit_cluster = 0;  // the launch says how large clusters are
  uint64_t clock = 0;                // what clock() shows: advances by a fixed step per reading, as no time is known
  void* runner = nullptr;            // where functions of the runtime find what runs the thread
  // Of the last access to a texture or surface: operands in the order of the instruction (32-bit numbers or bits), then
  // its results; and the address of its texel.
  uint64_t image_values[16] = {};
  uint64_t texel_address = 0;
  // LaneRegisters of the block's threads, one behind the other.
  void* lane_registers = nullptr;
  // Kernels that wait in loops (InstrumentedKernel::waits) only:
  uint64_t progress = 0;  // sum that stands for what the running thread has changed in memory; as before = as before
  uint64_t watches = 0;   // not 0: threads wait for changes of memory, so changes are told to the runtime
  uint32_t waiting = 0;   // 1 + number of the loop whose last iteration has changed nothing; 0 outside
  // Kernels whose threads leave frames at barriers (InstrumentedKernel::frame_bytes) only:
  void* frame = nullptr;       // memory for the frame of the thread that begins
  uint32_t frame_barrier = 0;  // why the thread has returned: 1 + number of the barrier it is at; 0: it has ended
  uint32_t frame_barrier_predicate = 0;  // what it brings to a barrier that reduces
  uint32_t frame_barrier_result = 0;     // what it gets from it when it goes on
};

// Operations that meet the threads of a warp.
enum class WarpOperation : uint32_t {
  kSync,
  kShuffleUp,
  kShuffleDown,
  kShuffleButterfly,
  kShuffleIndex,
  kVoteAll,
  kVoteAny,
  kVoteUniform,
  kBallot,
  kMatchAny,
  kMatchAll,
  kActiveMask,
  kReduceAdd,
  kReduceMin,
  kReduceMax,
  kReduceUnsignedMin,
  kReduceUnsignedMax,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  kMatrix,    // a matrix instruction: what the lanes bring and get is in LaneRegisters
  kMeet,      // the members of a convergence barrier come together
  kDiverged,  // whether some lane of the mask b is not there, or brings 0; those that have exited are not missed
  kDiffers,   // whether the lane brings another value than the first one
};

enum class BarrierReduction : uint32_t { kNone, kCount, kAnd, kOr };

// Names of the functions that generated code calls; defined by the runtime with C linkage.
inline constexpr char kYieldFunction[] = "heddle_yield";           // void(ctx)
inline constexpr char kBarrierFunction[] = "heddle_barrier";       // u32(ctx, site, id, threads, reduction, predicate)
inline constexpr char kArriveFunction[] = "heddle_arrive";         // void(ctx, site, id, threads)
inline constexpr char kClusterFunction[] = "heddle_cluster";       // void(ctx, site, u32 waits)
inline constexpr char kCopyFunction[] = "heddle_copy";             // void(ctx, to, from, u32 bytes, u32 bytes read)
inline constexpr char kCommitFunction[] = "heddle_commit";         // void(ctx)
inline constexpr char kWaitGroupFunction[] = "heddle_wait_group";  // void(ctx, u32 groups that may be pending)
inline constexpr char kTransactionFunction[] = "heddle_transaction";  // u64(ctx, site, u32 operation, address, u32 n)
inline constexpr char kTransactionWaitFunction[] = "heddle_transaction_wait";  // u64(ctx, site, address, u64, u32)
inline constexpr char kWarpFunction[] = "heddle_warp";  // u64(ctx, site, operation, mask, value, b, c)
inline constexpr char kWarpConvergedFunction[] = "heddle_warp_converged";  // the same, without a mask of its own
inline constexpr char kJoinFunction[] = "heddle_join";    // u32(ctx, site): a convergence barrier, 0 if there is none
inline constexpr char kLeaveFunction[] = "heddle_leave";  // void(ctx, u32 barrier)
inline constexpr char kMatrixOperationFunction[] = "heddle_matrix";  // void(ctx, site, u64 operation)
inline constexpr char kTrapFunction[] = "heddle_trap";               // void(ctx, site)
inline constexpr char kAssertFunction[] = "heddle_assert";  // void(ctx, site, expression, file, line, function)
inline constexpr char kExitFunction[] = "heddle_exit";      // void(ctx)
inline constexpr char kLocalOverflowFunction[] = "heddle_local_overflow";  // void(ctx)
inline constexpr char kPrintFunction[] = "heddle_print";                   // u32(ctx, format, packed arguments)
inline constexpr char kAllocateFunction[] = "heddle_allocate";             // address(ctx, u64 bytes)
inline constexpr char kFreeFunction[] = "heddle_free";                     // void(ctx, site, address)
inline constexpr char kBadCallFunction[] = "heddle_bad_call";              // void(ctx, site, u64 pointer)
inline constexpr char kResidentGridFunction[] = "heddle_resident_grid";    // void(ctx, site)
inline constexpr char kImageFunction[] = "heddle_image";                   // void(ctx, site, u32 operation)
inline constexpr char kImageQueryFunction[] = "heddle_image_query";        // u32(ctx, site, u64 image, u32 query)
inline constexpr char kLockstepFunction[] = "heddle_lockstep";             // void(ctx, u32 PTX instruction)
inline constexpr char kMisalignedFunction[] = "heddle_misaligned";         // void(ctx, record of the current IR block)
inline constexpr char kSpinFunction[] = "heddle_spin";                     // void(ctx, u32 wait, u64 address or 0)
// Of a loop that polls several places: void(ctx, u32 wait, u64 state at the end of an iteration), void(ctx, u32 wait).
inline constexpr char kIterateFunction[] = "heddle_iterate";
inline constexpr char kLeaveLoopFunction[] = "heddle_leave_loop";
inline constexpr char kWroteFunction[] = "heddle_wrote";  // void(ctx, u64 address, u64 bytes)

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_THREAD_CONTEXT_H_
