// Runs a program and waits for its end.
#ifndef HEDDLE_TESTS_TRACEGEN_RUN_TO_END_H_
#define HEDDLE_TESTS_TRACEGEN_RUN_TO_END_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace heddle::tracegen {

// The status that waitpid gives; -1 if the program does not start. `words`: its path, then its arguments. What it
// prints goes to the two files.
inline int RunToEnd(std::vector<std::string> words, const std::string& out = "/dev/null",
                    const std::string& errors = "/dev/null") {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int error = posix_spawn(&child, words[0].c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  EXPECT_EQ(error, 0) << words[0];
  if (error != 0) return -1;
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_RUN_TO_END_H_
