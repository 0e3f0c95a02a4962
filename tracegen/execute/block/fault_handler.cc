#include "tracegen/execute/block/fault_handler.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>

#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {
namespace {

constexpr size_t kHandlerStackBytes = 64 << 10;
constexpr uint64_t kAround = uint64_t{1} << 30;  // global memory, ReadsAllowedAt
constexpr uint64_t kPage = 4096;
constexpr int kMostPages = 16 << 10;  // each may take two of the 65,530 mappings of a process

sigjmp_buf fault_target;
volatile sig_atomic_t fault_signal = 0;
volatile sig_atomic_t generated_code_runs = 0;
void* volatile fault_address = nullptr;
volatile sig_atomic_t fault_is_read = 0;
volatile sig_atomic_t reads_allowed = 0;
volatile sig_atomic_t pages_opened = 0;  // of all handlers: pages stay open
std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// Whether the processor was reading (page fault error code, Intel SDM volume 3A, 4.7).
bool IsRead(const void* context) {
  constexpr greg_t kWrite = 2;
  constexpr greg_t kFetch = 16;
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & (kWrite | kFetch)) == 0;
}

// Nothing but system calls, as in any signal handler.
bool OpenForReading(uint64_t address) {
  if (pages_opened >= kMostPages || !FaultHandler::ReadsAllowedAt(address)) return false;
  void* page = reinterpret_cast<void*>(address / kPage * kPage);
  pages_opened = pages_opened + 1;
  if (address - kGlobalBase < kGlobalBytes) return mprotect(page, kPage, PROT_READ) == 0;
  return mmap(page, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == page;
}

}  // namespace

void RequestInterrupt() { interrupt_requested.store(true, std::memory_order_relaxed); }
bool InterruptRequested() { return interrupt_requested.load(std::memory_order_relaxed); }

FaultHandler::FaultHandler(bool allow_reads) : stack_(new char[kHandlerStackBytes]) {
  reads_allowed = allow_reads;
  stack_t stack = {};
  stack.ss_sp = stack_.get();
  stack.ss_size = kHandlerStackBytes;
  sigaltstack(&stack, &old_stack_);
  struct sigaction action = {};
  action.sa_sigaction = &FaultHandler::Handle;
  // The jump leaves the handler without returning, so the signal must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &old_[i]);
}

FaultHandler::~FaultHandler() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  sigaltstack(&old_stack_, nullptr);
}

sigjmp_buf* FaultHandler::target() { return &fault_target; }
int FaultHandler::signal() const { return fault_signal; }
const void* FaultHandler::address() const { return fault_address; }
bool FaultHandler::is_read() const { return fault_signal == SIGSEGV && fault_is_read != 0; }

bool FaultHandler::ReadsAllowedAt(uint64_t address) {
  return address - (kGlobalBase - kAround) < kGlobalBytes + 2 * kAround;
}

void FaultHandler::SetActive(bool active) { generated_code_runs = active; }

void FaultHandler::Handle(int signal, siginfo_t* info, void* context) {
  if (!generated_code_runs) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    return;  // the instruction faults again
  }
  const bool is_read = signal == SIGSEGV && IsRead(context);
  if (is_read && reads_allowed != 0 && OpenForReading(reinterpret_cast<uint64_t>(info->si_addr))) return;
  generated_code_runs = 0;
  fault_is_read = is_read;
  fault_signal = signal;
  fault_address = info->si_addr;
  siglongjmp(fault_target, 1);
}

}  // namespace heddle::tracegen
