// Signals: faults of a kernel become errors, Ctrl-C ends a capture cleanly.
#ifndef HEDDLE_TRACEGEN_EXECUTE_FAULT_HANDLER_H_
#define HEDDLE_TRACEGEN_EXECUTE_FAULT_HANDLER_H_

#include <csetjmp>
#include <csignal>
#include <memory>

namespace heddle::tracegen {

// While one lives, SIGSEGV, SIGBUS, SIGFPE and SIGILL jump to target() with signal() and address() set. They are
// handled on a stack of their own, because the kernel's may be the reason.
class FaultHandler {
 public:
  FaultHandler();
  ~FaultHandler();
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;

  // Faults outside generated code are faults of this program: they end it as usual.
  static void SetActive(bool active);

  sigjmp_buf* target();
  int signal() const;
  const void* address() const;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  static void Handle(int signal, siginfo_t* info, void* context);

  std::unique_ptr<char[]> stack_;
  stack_t old_stack_ = {};
  struct sigaction old_[std::size(kSignals)] = {};
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_FAULT_HANDLER_H_
