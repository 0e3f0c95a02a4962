#include "tools/nvcc/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

extern char** environ;

namespace heddle::nvcc {

namespace {

int Run(const Command& command, const posix_spawn_file_actions_t* actions) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawnp(&child, arguments[0], actions, nullptr, arguments.data(), environ); error != 0) {
    std::fprintf(stderr, "heddle-nvcc: cannot run %s: %s\n", arguments[0], std::strerror(error));
    return 127;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int Run(const Command& command) { return Run(command, nullptr); }

int RunQuietly(const Command& command, std::string* output) {
  output->clear();
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return 127;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(file), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int status = Run(command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  std::rewind(file);
  char buffer[4096];
  while (!std::feof(file) && !std::ferror(file)) output->append(buffer, std::fread(buffer, 1, sizeof(buffer), file));
  std::fclose(file);
  return status;
}

std::string ShellText(const Command& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                "-_=+./:,@%") == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::string NvccText(const Command& command) {
  if (command.empty()) return "";
  std::string text = ShellText({command.front()});
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    const bool is_file = word.empty() || word[0] != '-' || word.starts_with("-L") || word.starts_with("-I");
    text += ' ';
    if (!is_file) {
      text += ShellText({word});
      continue;
    }
    text += '"';
    for (char c : word) {
      if (c == '"' || c == '\\' || c == '$' || c == '`') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text;
}

WorkFolder::WorkFolder(const std::string& keep) : temporary_(keep.empty()) {
  std::error_code error;
  if (temporary_) {
    std::string name = (std::filesystem::temp_directory_path(error) / "heddle-nvcc-XXXXXX").string();
    if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
  } else {
    std::filesystem::create_directories(keep, error);
    if (!error) path_ = keep;
  }
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (temporary_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace heddle::nvcc
