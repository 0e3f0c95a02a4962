#include "tracegen/execute/fault_handler.h"

#include <atomic>
#include <cstddef>

#include "tracegen/execute/block_runner.h"

namespace heddle::tracegen {
namespace {

constexpr size_t kHandlerStackBytes = 64 << 10;

sigjmp_buf fault_target;
volatile sig_atomic_t fault_signal = 0;
volatile sig_atomic_t generated_code_runs = 0;
void* volatile fault_address = nullptr;
std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

void RequestInterrupt() { interrupt_requested.store(true, std::memory_order_relaxed); }
bool InterruptRequested() { return interrupt_requested.load(std::memory_order_relaxed); }

FaultHandler::FaultHandler() : stack_(new char[kHandlerStackBytes]) {
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

void FaultHandler::SetActive(bool active) { generated_code_runs = active; }

void FaultHandler::Handle(int signal, siginfo_t* info, void*) {
  if (!generated_code_runs) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    return;  // the instruction faults again
  }
  generated_code_runs = 0;
  fault_signal = signal;
  fault_address = info->si_addr;
  siglongjmp(fault_target, 1);
}

}  // namespace heddle::tracegen
