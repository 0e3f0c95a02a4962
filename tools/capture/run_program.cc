#include "tools/capture/run_program.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

extern char** environ;

namespace heddle::tracegen {
namespace {

volatile pid_t running_program = 0;

void ForwardSignal(int signal) {
  if (running_program > 0) kill(running_program, signal);
}

// Handles the signals for as long as it lives; what was ignored (nohup) stays ignored.
class SignalForwarding {
 public:
  SignalForwarding() {
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      struct sigaction action = {};
      // The terminal sends these to the program too: to pass them on would double them.
      action.sa_handler = kSignals[i] == SIGINT || kSignals[i] == SIGQUIT ? SIG_IGN : ForwardSignal;
      sigemptyset(&action.sa_mask);
      action.sa_flags = SA_RESTART;
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~SignalForwarding() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;

  // `signal` has ended the program: what is still to come of it is ignored for good, so that the trace gets finished.
  // (timeout(1) sends its signal to the command, and then to the whole group of processes.) Ctrl-C is not among these:
  // a second one ends this process.
  void HasEndedProgram(int signal) {
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      if (kSignals[i] == signal && signal != SIGINT && signal != SIGQUIT) before_[i].sa_handler = SIG_IGN;
    }
  }

  // Those that the program shall not inherit as ignored.
  sigset_t Defaults() const {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      if (before_[i].sa_handler != SIG_IGN) sigaddset(&set, kSignals[i]);
    }
    return set;
  }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  struct sigaction before_[std::size(kSignals)] = {};
};

}  // namespace

absl::StatusOr<ProgramEnd> RunProgram(const std::vector<std::string>& program,
                                      const std::map<std::string, std::string>& environment) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (environment.count(text.substr(0, text.find('='))) == 0) variables.push_back(text);
  }
  for (const auto& [name, value] : environment) variables.push_back(absl::StrCat(name, "=", value));
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  std::vector<std::string> words = program;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  SignalForwarding signals;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const sigset_t defaults = signals.Defaults();
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    const std::string message = absl::StrCat(program[0], " cannot be started: ", strerror(error));
    return error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
  }
  running_program = child;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_program = 0;
  ProgramEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    signals.HasEndedProgram(end.signal);
  }
  end.status = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}

}  // namespace heddle::tracegen
