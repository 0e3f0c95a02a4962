#include "tracegen/recipe/output_check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tracegen/recipe/fill.h"
#include "traces/base/status_macros.h"
#include "traces/kernels/check.h"

namespace heddle::tracegen {
namespace {

// A folder of its own that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "heddle-check-XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr) return;
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs a program with its messages in `log`; its exit status, or -1 if it cannot be started.
int RunCommand(std::vector<std::string> words, const std::string& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string FirstErrorLine(const std::string& log) {
  absl::StatusOr<std::string> text = ReadWholeFile(log);
  if (!text.ok()) return "no message";
  size_t at = text->find("error");
  size_t begin = at == std::string::npos ? 0 : text->rfind('\n', at) + 1;
  return text->substr(begin, text->find('\n', begin) - begin);
}

absl::Status CompareContents(const RecipeFile& recipe, const recipe::v1::Check& check, const BufferContents& buffer) {
  HEDDLE_ASSIGN_OR_RETURN(std::string expected, MakeContents(check.expected(), buffer.type, buffer.count, recipe));
  uint64_t size = ScalarBytes(buffer.type);
  const int digits = buffer.type == recipe::v1::F32 ? 9 : 17;
  for (uint64_t i = 0; i < buffer.count; ++i) {
    if (std::memcmp(expected.data() + i * size, static_cast<const char*>(buffer.after) + i * size, size) == 0) continue;
    double wanted = ReadScalar(expected.data(), buffer.type, i);
    double found = ReadScalar(buffer.after, buffer.type, i);
    double difference = std::fabs(wanted - found);
    if (difference <= check.tolerance() || difference <= check.tolerance() * std::fabs(wanted)) continue;
    return absl::FailedPreconditionError(absl::StrFormat("the output is wrong: %s[%u] is %.*g, expected %.*g",
                                                         buffer.name, i, digits, found, digits, wanted));
  }
  return absl::OkStatus();
}

}  // namespace

void OutputChecks::Unload::operator()(void* library) const { dlclose(library); }

absl::StatusOr<OutputChecks::Library> OutputChecks::Compile(const std::string& source) {
  if (!std::filesystem::exists(source)) return absl::NotFoundError(absl::StrCat(source, ": no such check program"));
  TemporaryFolder folder;
  if (folder.path().empty()) return absl::InternalError("no temporary folder for the check program can be made");
  std::string library = folder.path() + "/check.so";
  std::string log = folder.path() + "/log";
  int status = -1;
  // The compiler that capture needs anyway; the system's where it has another name.
  for (const char* compiler : {"clang++-19", "c++", "g++"}) {
    status = RunCommand({compiler, "-std=c++20", "-O2", "-ffp-contract=off", "-fPIC", "-shared", source, "-o", library},
                        log);
    if (status != -1 && status != 127) break;
  }
  if (status != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("check program ", source,
                     " cannot be compiled: ", status == -1 ? "no C++ compiler was found" : FirstErrorLine(log)));
  }
  Library loaded(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (loaded == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("check program ", source, " cannot be loaded: ", dlerror()));
  }
  return loaded;
}

absl::Status OutputChecks::RunProgram(const std::string& program, const std::vector<BufferContents>& buffers) {
  const std::string source = recipe_.Resolve(program);
  Library& library = libraries_[program];
  if (library == nullptr) {
    HEDDLE_ASSIGN_OR_RETURN(library, Compile(source));
  }
  auto check = reinterpret_cast<decltype(&heddle_check)>(dlsym(library.get(), "heddle_check"));
  if (check == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("check program ", source, " does not define heddle_check"));
  }
  std::vector<heddle_buffer> list;
  for (const BufferContents& buffer : buffers) {
    list.push_back({buffer.name.c_str(), buffer.count, buffer.before.data(), buffer.after});
  }
  std::string message(1024, '\0');
  try {
    if (check(list.data(), static_cast<int>(list.size()), message.data(), static_cast<int>(message.size())) == 0)
      return absl::OkStatus();
    message.resize(std::strlen(message.c_str()));
  } catch (const std::exception& thrown) {
    message = thrown.what();
  } catch (...) {
    message = "the program threw an exception of a type that has no text";
  }
  return absl::FailedPreconditionError(absl::StrCat("the output is wrong (", program, "): ", message));
}

absl::Status OutputChecks::Run(const std::vector<BufferContents>& buffers) {
  std::set<std::string> programs;  // each looks at all buffers, so once is enough
  for (const recipe::v1::Check& check : recipe_.recipe.check()) {
    if (!check.program().empty() && programs.insert(check.program()).second) {
      HEDDLE_RETURN_IF_ERROR(RunProgram(check.program(), buffers));
    }
    if (!check.has_expected()) continue;
    for (const BufferContents& buffer : buffers) {
      if (buffer.name != check.buffer()) continue;
      HEDDLE_RETURN_IF_ERROR(CompareContents(recipe_, check, buffer));
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
