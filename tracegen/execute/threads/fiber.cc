#include "tracegen/execute/threads/fiber.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>

// System V ABI for x86-64: rbx, rbp and r12 to r15 survive calls. The floating-point control words are the same in all
// fibers, so they are not switched.
asm(R"(
.text
.globl heddle_switch_stack
.type heddle_switch_stack,@function
heddle_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size heddle_switch_stack, .-heddle_switch_stack

.globl heddle_enter_kernel
.type heddle_enter_kernel,@function
heddle_enter_kernel:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rcx)
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  subq $8, %rsp
  callq *%rax
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size heddle_enter_kernel, .-heddle_enter_kernel

.globl heddle_leave_kernel
.type heddle_leave_kernel,@function
heddle_leave_kernel:
  movq %rdi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size heddle_leave_kernel, .-heddle_leave_kernel

// First activation of a fiber: the function is in r12, its argument in r13.
.globl heddle_fiber_start
.type heddle_fiber_start,@function
heddle_fiber_start:
  movq %r13, %rdi
  callq *%r12
  ud2
.size heddle_fiber_start, .-heddle_fiber_start
)");

extern "C" void heddle_fiber_start();

namespace heddle::tracegen {
namespace {

// Stacks lie here, with gaps between them. The system puts mappings of its own far above, so nothing else gets into a
// gap, and a stack takes one of the process's mappings (the system allows 65,530) where a page without rights would
// make it two.
constexpr uint64_t kStackRegion = 0x1800'0000'0000;
constexpr uint64_t kStackRegionEnd = 0x1f00'0000'0000;  // well below what FaultHandler makes readable
std::atomic<uint64_t> next_stack = 0;                   // of all pools; places are taken in turn

// A place for a gap and a stack above it; null if there is no memory.
char* MapStack() {
  constexpr uint64_t kPlace = FiberPool::kGuardBytes + FiberPool::kStackBytes;
  for (;;) {
    constexpr uint64_t kPlaces = (kStackRegionEnd - kStackRegion) / kPlace;  // many more than mappings
    const uint64_t place = kStackRegion + next_stack.fetch_add(1) % kPlaces * kPlace;
    void* stack = reinterpret_cast<void*>(place + FiberPool::kGuardBytes);
    void* got = mmap(stack, FiberPool::kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == stack) return reinterpret_cast<char*>(place);
    if (errno != EEXIST) return nullptr;
  }
}

}  // namespace

FiberPool::~FiberPool() {
  for (auto& fiber : fibers_) munmap(fiber->guard + kGuardBytes, kStackBytes);
}

Fiber* FiberPool::Get() {
  if (!free_.empty()) {
    Fiber* fiber = free_.back();
    free_.pop_back();
    return fiber;
  }
  char* place = MapStack();
  if (place == nullptr) return nullptr;
  auto fiber = std::make_unique<Fiber>();
  fiber->guard = place;
  fiber->top = fiber->guard + kGuardBytes + kStackBytes;
  Prepare(fiber.get(), fibers_.size());
  fibers_.push_back(std::move(fiber));
  return fibers_.back().get();
}

void FiberPool::Reset() {
  free_.clear();
  for (size_t i = fibers_.size(); i-- > 0;) {
    Prepare(fibers_[i].get(), i);
    free_.push_back(fibers_[i].get());
  }
}

bool FiberPool::InGuard(const void* address) const {
  auto* at = static_cast<const char*>(address);
  for (const auto& fiber : fibers_) {
    if (at >= fiber->guard && at < fiber->guard + kGuardBytes) return true;
  }
  return false;
}

void FiberPool::Prepare(Fiber* fiber, size_t index) {
  // Stacks are equally far apart; starting them at different offsets keeps their tops out of the same cache sets.
  auto** top = reinterpret_cast<void**>(fiber->top - 64 - (index % 61) * 128);
  *--top = nullptr;
  *--top = nullptr;  // the start function calls with an aligned stack
  *--top = reinterpret_cast<void*>(heddle_fiber_start);
  *--top = nullptr;                         // rbp
  *--top = nullptr;                         // rbx
  *--top = reinterpret_cast<void*>(main_);  // r12
  *--top = argument_;                       // r13
  *--top = nullptr;                         // r14
  *--top = nullptr;                         // r15
  fiber->stack_pointer = static_cast<void*>(top);
}

}  // namespace heddle::tracegen
