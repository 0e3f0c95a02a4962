// Signals: faults of a kernel become errors, Ctrl-C ends a capture cleanly.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_FAULT_HANDLER_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_FAULT_HANDLER_H_

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <memory>

namespace heddle::tracegen {

// While one lives, SIGSEGV, SIGBUS, SIGFPE and SIGILL jump to target() with signal() and address() set. They are
// handled on a stack of their own, because the kernel's may be the reason.
class FaultHandler {
 public:
  // `allow_reads`: where generated code reads what ReadsAllowedAt says and nothing is accessible, it gets zeros and
  // goes on: the page becomes readable, and stays so. 64 MiB in all; a read of more is a fault.
  explicit FaultHandler(bool allow_reads = false);
  ~FaultHandler();
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;

  // Faults outside generated code are faults of this program: they end it as usual.
  static void SetActive(bool active);

  // Global memory, and what lies up to 1 GiB in front of it or behind it: where an index that is a little wrong leads.
  static bool ReadsAllowedAt(uint64_t address);

  sigjmp_buf* target();
  int signal() const;
  const void* address() const;
  bool is_read() const;  // of SIGSEGV

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  static void Handle(int signal, siginfo_t* info, void* context);

  std::unique_ptr<char[]> stack_;
  stack_t old_stack_ = {};
  struct sigaction old_[std::size(kSignals)] = {};
};

// Asks the running capture to stop at the next opportunity; safe in a signal handler.
void RequestInterrupt();
bool InterruptRequested();

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_FAULT_HANDLER_H_
