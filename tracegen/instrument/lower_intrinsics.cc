// NVPTX intrinsics as host code, or as calls of the runtime where threads meet.
#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/instrument/kernel_pass.h"
#include "tracegen/instrument/lower_float.h"
#include "tracegen/instrument/lower_image.h"
#include "tracegen/instrument/lower_matrix.h"
#include "tracegen/instrument/narrow_addresses.h"
#include "tracegen/program/ptx_source/device_operation.h"
#include "tracegen/program/ptx_source/windows.h"
#include "tracegen/ptx/meaning/rounding.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;
using llvm::Value;

class Lowering {
 public:
  Lowering(KernelPass& pass, llvm::CallInst* call) : pass_(pass), call_(call), builder_(call) {}

  // Null if the intrinsic is not known.
  Value* Run(StringRef name) {
    if (Value* value = SpecialRegister(name)) return value;
    if (Value* value = Synchronization(name)) return value;
    if (Value* value = Memory(name)) return value;
    if (Value* value = Integer(name)) return value;
    if (Value* value = LowerImage(pass_, builder_, *call_, name)) return value;
    return LowerFloat(pass_, builder_, *call_, name);
  }

 private:
  Value* Argument(unsigned i) { return call_->getArgOperand(i); }
  Value* Number(uint32_t value) { return builder_.getInt32(value); }
  Value* Field32(size_t offset) { return pass_.LoadField(builder_, offset, pass_.i32()); }
  Value* Site() { return Number(pass_.AddSite(*call_)); }
  Value* None() { return llvm::UndefValue::get(call_->getType()); }

  Value* SpecialRegister(StringRef name) {
    if (!name.consume_front("read.ptx.sreg.")) return nullptr;
    int axis = name.ends_with(".x") ? 0 : name.ends_with(".y") ? 1 : name.ends_with(".z") ? 2 : -1;
    if (axis >= 0) {
      StringRef stem = name.drop_back(2);
      size_t offset = stem == "tid"                                          ? offsetof(ThreadContext, own.tid)
                      : stem == "ntid"                                       ? offsetof(ThreadContext, ntid)
                      : stem == "ctaid"                                      ? offsetof(ThreadContext, ctaid)
                      : stem == "nctaid"                                     ? offsetof(ThreadContext, nctaid)
                      : stem == "clusterid"                                  ? offsetof(ThreadContext, clusterid)
                      : stem == "nclusterid"                                 ? offsetof(ThreadContext, nclusterid)
                      : stem == "cluster.ctaid" || stem == "cluster_ctaid"   ? offsetof(ThreadContext, cluster_ctaid)
                      : stem == "cluster.nctaid" || stem == "cluster_nctaid" ? offsetof(ThreadContext, cluster_nctaid)
                                                                             : 0;
      return offset == 0 ? nullptr : Field32(offset + 4 * static_cast<size_t>(axis));
    }
    if (name == "warpsize") return Number(kWarpWidth);
    Value* linear = Field32(offsetof(ThreadContext, own.linear_tid));
    Value* lane = builder_.CreateAnd(linear, kWarpWidth - 1);
    if (name == "laneid") return lane;
    if (name == "warpid") return builder_.CreateLShr(linear, 5);
    if (name == "nwarpid") {
      Value* threads = builder_.CreateMul(
          builder_.CreateMul(Field32(offsetof(ThreadContext, ntid)), Field32(offsetof(ThreadContext, ntid) + 4)),
          Field32(offsetof(ThreadContext, ntid) + 8));
      return builder_.CreateLShr(builder_.CreateAdd(threads, Number(31)), 5);
    }
    if (name.consume_front("lanemask.")) {
      Value* bit = builder_.CreateShl(Number(1), lane);
      Value* below = builder_.CreateSub(bit, Number(1));
      if (name == "eq") return bit;
      if (name == "lt") return below;
      if (name == "le") return builder_.CreateOr(below, bit);
      if (name == "ge") return builder_.CreateNot(below);
      if (name == "gt") return builder_.CreateNot(builder_.CreateOr(below, bit));
      return nullptr;
    }
    if (name == "clock" || name == "clock64" || name == "globaltimer") {
      Value* clock = builder_.CreateAdd(pass_.LoadField(builder_, offsetof(ThreadContext, clock), pass_.i64()),
                                        builder_.getInt64(64));
      pass_.StoreField(builder_, offsetof(ThreadContext, clock), clock);
      return builder_.CreateTrunc(clock, call_->getType());
    }
    if (name == "cluster.ctarank" || name == "cluster_ctarank") {
      return Field32(offsetof(ThreadContext, cluster_ctarank));
    }
    if (name == "cluster.nctarank" || name == "cluster_nctarank") {
      return Field32(offsetof(ThreadContext, cluster_nctarank));
    }
    if (name == "is_explicit_cluster") return Field32(offsetof(ThreadContext, is_explicit_cluster));
    if (name == "smid") return Number(0);
    if (name == "nsmid") return Number(1);
    if (name == "gridid") return Field32(offsetof(ThreadContext, grid_id));
    if (name == "dynamic_smem_size") return Field32(offsetof(ThreadContext, dynamic_shared_bytes));
    if (name == "total_smem_size") return Field32(offsetof(ThreadContext, total_shared_bytes));
    if (uint32_t number = 0; name.consume_front("envreg") && !name.getAsInteger(10, number)) {
      if (number == 1 || number == 2) pass_.result->asks_grid_workspace = true;
      return number < std::extent_v<decltype(ThreadContext::environment)>
                 ? Field32(offsetof(ThreadContext, environment) + 4 * size_t{number})
                 : Number(0);
    }
    return nullptr;
  }

  Value* Barrier(Value* id, Value* threads, BarrierReduction reduction, Value* predicate) {
    return pass_.CallRuntime(
        builder_, kBarrierFunction, pass_.i32(),
        {KernelPass::Context(builder_), Site(), id, threads, Number(static_cast<uint32_t>(reduction)), predicate});
  }

  // value and b, c as 64-bit integers; the runtime returns the result, and a predicate in bit 32.
  Value* Warp(WarpOperation operation, Value* mask, Value* value, Value* b = nullptr, Value* c = nullptr) {
    Value* context = KernelPass::Context(builder_);
    const char* name = mask == nullptr ? kWarpConvergedFunction : kWarpFunction;
    if (mask == nullptr) mask = Number(0);
    if (value == nullptr) value = builder_.getInt64(0);
    return pass_.CallRuntime(
        builder_, name, pass_.i64(),
        {context, Site(), Number(static_cast<uint32_t>(operation)), mask, builder_.CreateZExt(value, pass_.i64()),
         b != nullptr ? b : Number(0), c != nullptr ? c : Number(0)});
  }

  Value* Shuffle(StringRef name) {
    bool sync = name.consume_front("sync.");
    auto [mode, type] = name.split('.');
    auto operation = llvm::StringSwitch<std::optional<WarpOperation>>(mode)
                         .Case("up", WarpOperation::kShuffleUp)
                         .Case("down", WarpOperation::kShuffleDown)
                         .Case("bfly", WarpOperation::kShuffleButterfly)
                         .Case("idx", WarpOperation::kShuffleIndex)
                         .Default(std::nullopt);
    if (!operation) return nullptr;
    unsigned next = sync ? 1 : 0;
    Value* value = Argument(next);
    llvm::Type* value_type = value->getType();
    if (value_type->isFloatTy()) value = builder_.CreateBitCast(value, pass_.i32());
    Value* both = Warp(*operation, sync ? Argument(0) : nullptr, value, Argument(next + 1), Argument(next + 2));
    Value* result = builder_.CreateTrunc(both, pass_.i32());
    if (value_type->isFloatTy()) result = builder_.CreateBitCast(result, value_type);
    return type.ends_with('p') ? WithPredicate(result, both) : result;
  }

  Value* WithPredicate(Value* result, Value* both) {
    Value* predicate = builder_.CreateTrunc(builder_.CreateLShr(both, 32), builder_.getInt1Ty());
    Value* pair = llvm::UndefValue::get(call_->getType());
    pair = builder_.CreateInsertValue(pair, result, 0);
    return builder_.CreateInsertValue(pair, predicate, 1);
  }

  Value* Synchronization(StringRef name) {
    if (name == "barrier0") return Barrier(Number(0), Number(0), BarrierReduction::kNone, Number(0));
    if (name == "barrier.n" || name == "bar.sync" || name == "barrier.sync") {
      return Barrier(Argument(0), Number(0), BarrierReduction::kNone, Number(0));
    }
    if (name == "barrier" || name == "barrier.sync.cnt") {
      return Barrier(Argument(0), Argument(1), BarrierReduction::kNone, Number(0));
    }
    if (name == "barrier0.popc") return Barrier(Number(0), Number(0), BarrierReduction::kCount, Argument(0));
    if (name == "barrier0.and") return Barrier(Number(0), Number(0), BarrierReduction::kAnd, Argument(0));
    if (name == "barrier0.or") return Barrier(Number(0), Number(0), BarrierReduction::kOr, Argument(0));
    if (name == "bar.warp.sync") return Warp(WarpOperation::kSync, Argument(0), nullptr);
    if (name.consume_front("shfl.")) return Shuffle(name);
    if (name == "activemask") {
      return builder_.CreateTrunc(Warp(WarpOperation::kActiveMask, nullptr, nullptr), pass_.i32());
    }
    if (name.consume_front("vote.")) {
      bool sync = name.consume_back(".sync");
      auto operation = llvm::StringSwitch<std::optional<WarpOperation>>(name)
                           .Case("all", WarpOperation::kVoteAll)
                           .Case("any", WarpOperation::kVoteAny)
                           .Case("uni", WarpOperation::kVoteUniform)
                           .Case("ballot", WarpOperation::kBallot)
                           .Default(std::nullopt);
      if (!operation) return nullptr;
      Value* result = Warp(*operation, sync ? Argument(0) : nullptr, Argument(sync ? 1 : 0));
      return builder_.CreateTrunc(result, call_->getType());
    }
    if (name.starts_with("match.any.sync")) {
      return builder_.CreateTrunc(Warp(WarpOperation::kMatchAny, Argument(0), Argument(1)), pass_.i32());
    }
    if (name.starts_with("match.all.sync")) {
      Value* both = Warp(WarpOperation::kMatchAll, Argument(0), Argument(1));
      return WithPredicate(builder_.CreateTrunc(both, pass_.i32()), both);
    }
    if (name.consume_front("redux.sync.")) {
      auto operation = llvm::StringSwitch<std::optional<WarpOperation>>(name)
                           .Case("add", WarpOperation::kReduceAdd)
                           .Case("min", WarpOperation::kReduceMin)
                           .Case("max", WarpOperation::kReduceMax)
                           .Case("umin", WarpOperation::kReduceUnsignedMin)
                           .Case("umax", WarpOperation::kReduceUnsignedMax)
                           .Case("and", WarpOperation::kReduceAnd)
                           .Case("or", WarpOperation::kReduceOr)
                           .Case("xor", WarpOperation::kReduceXor)
                           .Default(std::nullopt);
      if (!operation) return nullptr;
      // The value comes first here, the mask second.
      return builder_.CreateTrunc(Warp(*operation, Argument(1), Argument(0)), pass_.i32());
    }
    return nullptr;
  }

  Value* Atomic(llvm::AtomicRMWInst::BinOp operation) {
    Value* value = Argument(1);
    return builder_.CreateAtomicRMW(operation, Argument(0), value, llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic);
  }

  Value* Memory(StringRef name) {
    using Op = llvm::AtomicRMWInst;
    if (name.starts_with("membar") || name.starts_with("fence") || name.starts_with("nanosleep") ||
        name.starts_with("prefetch")) {
      return None();  // one thread runs at a time, and what it writes is seen at once
    }
    if (name.starts_with("ldg.global") || name.starts_with("ldu.global")) {
      uint64_t alignment = 1;
      if (auto* given = dyn_cast<llvm::ConstantInt>(Argument(1))) alignment = given->getZExtValue();
      return builder_.CreateAlignedLoad(call_->getType(), Argument(0), llvm::MaybeAlign(alignment));
    }
    if (name.starts_with("ptr.")) return builder_.CreateAddrSpaceCast(Argument(0), call_->getType());
    if (name.consume_front("isspacep.")) {
      Value* address = builder_.CreatePtrToInt(Argument(0), pass_.i64());
      auto within = [&](uint64_t base, uint64_t bytes) {
        return builder_.CreateICmpULT(builder_.CreateSub(address, builder_.getInt64(base)), builder_.getInt64(bytes));
      };
      // The block's own shared memory is a part of its cluster's.
      Value* shared = within(kSharedBase, kSharedBytes);
      Value* of_cluster = builder_.CreateOr(shared, within(kClusterBase, kClusterBytes));
      Value* local = within(kLocalBase, kLocalThreads * kLocalStride);
      Value* constant = within(kConstantBase, kConstantBytes);
      if (name == "shared" || name == "shared.cta") return shared;
      if (name == "shared.cluster") return of_cluster;
      if (name == "local") return local;
      if (name == "const") return constant;
      if (name == "global") return builder_.CreateNot(builder_.CreateOr({of_cluster, local, constant}));
      return nullptr;
    }
    if (name == "is_explicit_cluster") {
      return builder_.CreateIsNotNull(Field32(offsetof(ThreadContext, is_explicit_cluster)));
    }
    if (name == "mapa" || name == "mapa.shared.cluster") return MapShared(Argument(0), Argument(1));
    if (name == "getctarank" || name == "getctarank.shared.cluster") return RankOf(Argument(0));
    if (name.consume_front("atomic.")) {
      if (name.starts_with("load.inc") || name.starts_with("inc.gen")) return Atomic(Op::UIncWrap);
      if (name.starts_with("load.dec") || name.starts_with("dec.gen")) return Atomic(Op::UDecWrap);
      if (name.starts_with("add.gen.f")) return Atomic(Op::FAdd);
      if (name.starts_with("add.gen.i")) return Atomic(Op::Add);
      if (name.starts_with("and.gen")) return Atomic(Op::And);
      if (name.starts_with("or.gen")) return Atomic(Op::Or);
      if (name.starts_with("xor.gen")) return Atomic(Op::Xor);
      if (name.starts_with("exch.gen")) return Atomic(Op::Xchg);
      if (name.starts_with("max.gen.i")) return Atomic(Op::Max);
      if (name.starts_with("min.gen.i")) return Atomic(Op::Min);
      if (name.starts_with("cas.gen")) {
        Value* pair = builder_.CreateAtomicCmpXchg(Argument(0), Argument(1), Argument(2), llvm::MaybeAlign(),
                                                   llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
        return builder_.CreateExtractValue(pair, 0);
      }
    }
    return nullptr;
  }

  // PTX mapa: the same place in the shared memory of the block with that rank. The low half of an address tells whether
  // it is the block's own or one in the window of the cluster. A block that is a cluster of its own has no such window.
  Value* MapShared(Value* pointer, Value* rank) {
    Value* low = builder_.CreateAnd(builder_.CreatePtrToInt(pointer, pass_.i64()), kNarrowAddressMask);
    Value* offset = builder_.CreateAnd(low, kSharedBytes - 1);
    // No block has a rank beyond the largest cluster's: there nothing can be accessed.
    rank = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rank, Number(kClusterBytes / kSharedBytes));
    Value* share = builder_.CreateMul(builder_.CreateZExt(rank, pass_.i64()), builder_.getInt64(kSharedBytes));
    Value* address = builder_.CreateAdd(builder_.CreateAdd(share, offset), builder_.getInt64(kClusterBase));
    Value* blocks = Field32(offsetof(ThreadContext, cluster_nctarank));
    Value* is_alone = builder_.CreateICmpULT(builder_.CreateOr(builder_.CreateSub(blocks, Number(1)), rank), Number(1));
    Value* own = builder_.CreateAdd(offset, builder_.getInt64(kSharedBase));
    return builder_.CreateIntToPtr(builder_.CreateSelect(is_alone, own, address), call_->getType());
  }

  // PTX getctarank: the rank of the block whose shared memory holds the address.
  Value* RankOf(Value* pointer) {
    Value* low = builder_.CreateAnd(builder_.CreatePtrToInt(pointer, pass_.i64()), kNarrowAddressMask);
    Value* place = builder_.CreateSub(low, builder_.getInt64(kClusterBase & kNarrowAddressMask));
    Value* rank = builder_.CreateTrunc(builder_.CreateUDiv(place, builder_.getInt64(kSharedBytes)), pass_.i32());
    return builder_.CreateSelect(builder_.CreateICmpULT(place, builder_.getInt64(kClusterBytes)), rank,
                                 Field32(offsetof(ThreadContext, cluster_ctarank)));
  }

  Value* HighHalf(bool is_signed) {
    llvm::Type* type = call_->getType();
    unsigned bits = type->getIntegerBitWidth();
    llvm::Type* wide = builder_.getIntNTy(2 * bits);
    auto extend = [&](Value* v) { return is_signed ? builder_.CreateSExt(v, wide) : builder_.CreateZExt(v, wide); };
    Value* product = builder_.CreateMul(extend(Argument(0)), extend(Argument(1)));
    return builder_.CreateTrunc(builder_.CreateLShr(product, bits), type);
  }

  Value* Integer(StringRef name) {
    llvm::Type* type = call_->getType();
    if (name.consume_front("mulhi.")) return HighHalf(!name.starts_with('u'));
    if (name.consume_front("mul24.")) {
      auto low = [&](Value* v) {
        Value* high = builder_.CreateShl(v, 8);
        return name == "i" ? builder_.CreateAShr(high, 8) : builder_.CreateLShr(high, 8);
      };
      return builder_.CreateMul(low(Argument(0)), low(Argument(1)));
    }
    if (name.consume_front("sad.")) {
      bool is_unsigned = name.starts_with('u');
      Value* less = is_unsigned ? builder_.CreateICmpULT(Argument(0), Argument(1))
                                : builder_.CreateICmpSLT(Argument(0), Argument(1));
      Value* difference = builder_.CreateSelect(less, builder_.CreateSub(Argument(1), Argument(0)),
                                                builder_.CreateSub(Argument(0), Argument(1)));
      return builder_.CreateAdd(difference, Argument(2));
    }
    if (name == "prmt") {
      Value* both = builder_.CreateOr(builder_.CreateZExt(Argument(0), pass_.i64()),
                                      builder_.CreateShl(builder_.CreateZExt(Argument(1), pass_.i64()), 32));
      Value* result = Number(0);
      for (uint32_t i = 0; i < 4; ++i) {
        Value* selector = builder_.CreateAnd(builder_.CreateLShr(Argument(2), 4 * i), 15);
        Value* shift = builder_.CreateZExt(builder_.CreateShl(builder_.CreateAnd(selector, 7), 3), pass_.i64());
        Value* byte = builder_.CreateAnd(builder_.CreateTrunc(builder_.CreateLShr(both, shift), pass_.i32()), 255);
        Value* sign = builder_.CreateSelect(builder_.CreateICmpNE(builder_.CreateAnd(byte, 128), Number(0)),
                                            Number(255), Number(0));
        Value* replicate = builder_.CreateICmpNE(builder_.CreateAnd(selector, 8), Number(0));
        result = builder_.CreateOr(result, builder_.CreateShl(builder_.CreateSelect(replicate, sign, byte), 8 * i));
      }
      return result;
    }
    if (name == "rotate.b32" || name == "rotate.b64") {
      Value* amount = builder_.CreateZExtOrTrunc(Argument(1), type);
      return builder_.CreateIntrinsic(llvm::Intrinsic::fshl, {type}, {Argument(0), Argument(0), amount});
    }
    if (name == "rotate.right.b64") {
      Value* amount = builder_.CreateZExtOrTrunc(Argument(1), type);
      return builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {type}, {Argument(0), Argument(0), amount});
    }
    if (name == "swap.lo.hi.b64") {
      return builder_.CreateIntrinsic(llvm::Intrinsic::fshl, {type}, {Argument(0), Argument(0), builder_.getInt64(32)});
    }
    if (name == "lohi.i2d") {
      Value* bits = builder_.CreateOr(builder_.CreateZExt(Argument(0), pass_.i64()),
                                      builder_.CreateShl(builder_.CreateZExt(Argument(1), pass_.i64()), 32));
      return builder_.CreateBitCast(bits, type);
    }
    if (name == "d2i.lo" || name == "d2i.hi") {
      Value* bits = builder_.CreateBitCast(Argument(0), pass_.i64());
      return builder_.CreateTrunc(name == "d2i.hi" ? builder_.CreateLShr(bits, 32) : bits, type);
    }
    if (name.starts_with("bitcast.")) return builder_.CreateBitCast(Argument(0), type);
    if (name.starts_with("move.")) return Argument(0);
    if (name.starts_with("popc.")) {
      return builder_.CreateZExtOrTrunc(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, Argument(0)), type);
    }
    if (name.starts_with("clz.")) {
      Value* count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, Argument(0), builder_.getFalse());
      return builder_.CreateZExtOrTrunc(count, type);
    }
    if (name.starts_with("brev")) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, Argument(0));
    return nullptr;
  }

  KernelPass& pass_;
  llvm::CallInst* call_;
  llvm::IRBuilder<> builder_;
};

// assert() of device code: (expression, file, line, function, size of a character).
bool LowerAssert(KernelPass& pass, llvm::CallInst* call) {
  StringRef name = call->getCalledFunction()->getName();
  if (name != "__assertfail" && name != "__assert_fail") return false;
  llvm::IRBuilder<> builder(call);
  pass.CallRuntime(
      builder, kAssertFunction, builder.getVoidTy(),
      {KernelPass::Context(builder), builder.getInt32(pass.AddSite(*call)), call->getArgOperand(0),
       call->getArgOperand(1), builder.CreateZExtOrTrunc(call->getArgOperand(2), pass.i32()), call->getArgOperand(3)});
  call->eraseFromParent();
  return true;
}

static_assert(kPtxSharedWindow == kSharedBase && kPtxConstantWindow == kConstantBase);

}  // namespace

absl::Status LowerIntrinsics(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(*function))) {
      if (isa<llvm::FenceInst>(instruction)) {
        instruction.eraseFromParent();
        continue;
      }
      auto* call = dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr) continue;
      llvm::Function* callee = call->getCalledFunction();
      if (callee == nullptr || LowerAssert(pass, call)) continue;
      StringRef name = callee->getName();
      if (name.starts_with(kDeviceOperation)) {
        const DeviceOperation done = LowerDeviceOperation(pass, *call);
        if (!done.is_known) return pass.Unsupported(*call, absl::StrCat("the operation '", name.str(), "'"));
        if (done.result != nullptr) call->replaceAllUsesWith(done.result);
        call->eraseFromParent();
        continue;
      }
      if (callee->getIntrinsicID() == llvm::Intrinsic::trap || callee->getIntrinsicID() == llvm::Intrinsic::debugtrap) {
        llvm::IRBuilder<> builder(call);
        pass.CallRuntime(builder, kTrapFunction, builder.getVoidTy(),
                         {KernelPass::Context(builder), builder.getInt32(pass.AddSite(*call))});
        call->eraseFromParent();
        continue;
      }
      if (name == "llvm.nvvm.exit") {
        llvm::IRBuilder<> builder(call);
        pass.CallRuntime(builder, kExitFunction, builder.getVoidTy(), {KernelPass::Context(builder)});
        call->eraseFromParent();
        continue;
      }
      if (callee->getIntrinsicID() == llvm::Intrinsic::minnum || callee->getIntrinsicID() == llvm::Intrinsic::maxnum) {
        llvm::IRBuilder<> builder(call);
        bool minimum = callee->getIntrinsicID() == llvm::Intrinsic::minnum;
        call->replaceAllUsesWith(
            ptx::LeastOrMost(builder, minimum, false, call->getArgOperand(0), call->getArgOperand(1)));
        call->eraseFromParent();
        continue;
      }
      if (name.starts_with(kMatrixFunction)) {
        LowerMatrixOperation(pass, *call);
        continue;
      }
      std::string meant;
      if (name.consume_front(kSpecialRegisterFunction)) {
        meant = absl::StrCat("read.ptx.sreg.", name.str());
      } else if (name.consume_front("llvm.nvvm.")) {
        meant = name.str();
      } else {
        continue;
      }
      Value* value = Lowering(pass, call).Run(meant);
      if (value == nullptr) {
        return pass.Unsupported(*call, absl::StrCat("the operation '", callee->getName().str(), "'"));
      }
      if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
