#include "tracegen/runtime/client/device_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tracegen/runtime/protocol/messages.h"

extern char** environ;

namespace heddle::device {
namespace {

constexpr char kProgramVariable[] = "HEDDLE_DEVICE_PROGRAM";
constexpr char kProgramName[] = "heddle-capture";

bool IsProgram(const std::string& path) { return !path.empty() && access(path.c_str(), X_OK) == 0; }

std::string FolderOfRunningProgram() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0) return "";
  const std::string_view text(path, static_cast<size_t>(size));
  return std::string(text.substr(0, text.rfind('/') + 1));
}

Result FindProgram(const std::vector<std::string>& candidates, std::string* program) {
  if (const char* path = std::getenv(kProgramVariable); path != nullptr && *path != '\0') {
    *program = path;
    if (IsProgram(*program)) return {};
    return {Error::kNoDevice, std::string(kProgramVariable) + " is " + *program + ", which is no program"};
  }
  for (const std::string& path : candidates) {
    *program = path;
    if (IsProgram(path)) return {};
  }
  *program = FolderOfRunningProgram() + kProgramName;
  if (IsProgram(*program)) return {};
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::string_view rest(path);
    while (!rest.empty()) {
      const size_t end = rest.find(':');
      *program = std::string(rest.substr(0, end)) + "/" + kProgramName;
      if (IsProgram(*program)) return {};
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  return {Error::kNoDevice, std::string("the device program heddle-capture was not found: put it into PATH, or set ") +
                                kProgramVariable + " to its path"};
}

}  // namespace

Result StartDeviceProcess(const std::vector<std::string>& candidates, int* socket) {
  std::string program;
  if (Result found = FindProgram(candidates, &program); !found.ok()) return found;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return {Error::kNoDevice, std::string("no socket for the device process: ") + std::strerror(errno)};
  }
  // The application's other files stay closed in the child: a pipe that it holds would never end.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kDeviceDescriptor);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, kDeviceDescriptor + 1);
  // What the application blocks or ignores is its own business.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t usual;
  sigfillset(&usual);
  sigdelset(&usual, SIGHUP);  // nohup
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char option[] = "--device";
  char* arguments[] = {program.data(), option, nullptr};
  pid_t process = -1;
  const int error = posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return {Error::kNoDevice, program + " cannot be started: " + std::strerror(error)};
  }
  // What was started goes on in a child of its own and ends.
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  *socket = ends[0];
  return {};
}

}  // namespace heddle::device
