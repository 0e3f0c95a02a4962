#include "replay/seams/policy_origin.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/policy_error.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"
#include "traces/base/sha256.h"

namespace heddle::replay {
namespace {

constexpr char kThisProgram[] = "/proc/self/exe";  // the file that runs, even if another has its name by now

template <typename Interface, typename Context>
SeamStamp StampOf(const char* seam) {
  struct OneFunctionMore : Interface {
    virtual void TheOneMore() {}
  };
  return {seam,
          HEDDLE_SEAM_DIGEST,
          VirtualFunctionsBefore(&OneFunctionMore::TheOneMore),
          sizeof(Interface),
          sizeof(Context),
          sizeof(PolicyInfo)};
}

// Whether a policy of that compilation can be used here.
bool IsOurs(const SeamStamp& stamp) {
  for (const SeamStamp& ours :
       {StampOf<DivergencePolicy, DivergenceContext>("divergence"),
        StampOf<WarpScheduler, SchedulerContext>("scheduler"), StampOf<FetchPolicy, FetchContext>("fetch"),
        StampOf<BlockDispatcher, DispatchContext>("dispatch"), StampOf<MemoryPolicy, MemoryContext>("memory")}) {
    if (std::strcmp(ours.seam, stamp.seam) != 0) continue;
    return std::strcmp(ours.digest, stamp.digest) == 0 && ours.virtual_functions == stamp.virtual_functions &&
           ours.interface_bytes == stamp.interface_bytes && ours.context_bytes == stamp.context_bytes &&
           ours.info_bytes == stamp.info_bytes;
  }
  return false;
}

// A library while it is being loaded.
struct Loading {
  const PolicyCode* code = nullptr;
  size_t registered = 0;  // policies that came by way of RegisterPolicy
  std::string problem;    // the first
};
Loading* loading = nullptr;
PolicyOrigin present = {};

const PolicyCode& ThisProgram() {
  static const PolicyCode& program = *new PolicyCode(kThisProgram, "");
  return program;
}

// Names of all policies, with their seams.
std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : DivergenceRegistry::Get().entries()) names.push_back(name);
  for (const auto& [name, entry] : SchedulerRegistry::Get().entries()) names.push_back(name);
  for (const auto& [name, entry] : FetchRegistry::Get().entries()) names.push_back(name);
  for (const auto& [name, entry] : DispatchRegistry::Get().entries()) names.push_back(name);
  for (const auto& [name, entry] : MemoryRegistry::Get().entries()) names.push_back(name);
  return names;
}

template <typename Registry>
void AddNamesFrom(const PolicyCode& code, std::vector<std::string>& names) {
  for (const auto& [name, entry] : Registry::Get().entries()) {
    if (entry.origin.code == &code) names.push_back(name);
  }
}

std::string DigestOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 digest;
  std::vector<char> buffer(1 << 16);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    digest.Update(buffer.data(), static_cast<size_t>(file.gcount()));
  }
  return absl::BytesToHexString(digest.Finish());
}

// Returns what is wrong; empty if nothing is.
std::string TryToRegister(const SeamStamp& stamp, void (*add)()) {
  if (!IsOurs(stamp)) {
    return absl::StrCat("its ", stamp.seam,
                        " policies were compiled with other headers than this program: bring the build folder up to "
                        "date, then compile the library again from the same sources");
  }
  try {
    add();
  } catch (const PolicyError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return absl::StrCat("an exception when a policy was registered: ", error.what());
  }
  return "";
}

std::vector<PolicyLibrary>& Libraries() {
  static std::vector<PolicyLibrary>& libraries = *new std::vector<PolicyLibrary>();
  return libraries;
}

}  // namespace

std::string PolicyCode::name() const {
  std::error_code error;
  std::filesystem::path file = path_;
  if (path_ == kThisProgram) file = std::filesystem::read_symlink(path_, error);
  return file.filename().string();
}

const std::string& PolicyCode::digest() const {
  if (path_ != kThisProgram) return digest_;
  static const std::string& of_program = *new std::string(DigestOfFile(kThisProgram));  // large, and seldom asked for
  return of_program;
}

PolicyOrigin PresentOrigin() { return present; }

bool RegisterPolicy(const SeamStamp& stamp, PolicySource source, void (*add)()) {
  if (loading != nullptr) {
    ++loading->registered;
    present = {PolicySource::kElsewhere, loading->code};
    const std::string problem = TryToRegister(stamp, add);
    if (loading->problem.empty()) loading->problem = problem;
    present = {};
    return problem.empty();
  }
  present = {source, source == PolicySource::kElsewhere ? &ThisProgram() : nullptr};
  if (const std::string problem = TryToRegister(stamp, add); !problem.empty()) {
    // Before main, or in a library that nobody asked to load here.
    std::fprintf(stderr, "heddle: %s\n", problem.c_str());
    std::_Exit(EXIT_FAILURE);
  }
  present = {};
  return true;
}

absl::StatusOr<PolicyLibrary> LoadPolicyLibrary(const std::string& path) {
  const auto refuse = [&path](const auto&... why) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", why...));
  };
  // Without a slash the loader would search the system's folders.
  const std::string file = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(file, error);
  auto code = std::make_unique<PolicyCode>(file, is_file ? DigestOfFile(file) : "");
  const size_t before = Names().size();
  Loading present_library{code.get(), 0, ""};
  loading = &present_library;
  const void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  loading = nullptr;
  if (handle == nullptr) return refuse(dlerror());
  if (!present_library.problem.empty()) {
    std::ignore = code.release();  // registered policies refer to it
    return refuse(present_library.problem);
  }
  const size_t came = Names().size() - before;
  if (came == 0) return refuse("registers no policy (was it given twice?)");
  if (came != present_library.registered) {
    return refuse("its policies were compiled with headers from before there was a check of them: compile it again");
  }
  PolicyLibrary& library = Libraries().emplace_back();
  library.code = code.release();
  AddNamesFrom<DivergenceRegistry>(*library.code, library.policies);
  AddNamesFrom<SchedulerRegistry>(*library.code, library.policies);
  AddNamesFrom<FetchRegistry>(*library.code, library.policies);
  AddNamesFrom<DispatchRegistry>(*library.code, library.policies);
  AddNamesFrom<MemoryRegistry>(*library.code, library.policies);
  return library;
}

const std::vector<PolicyLibrary>& LoadedPolicyLibraries() { return Libraries(); }

}  // namespace heddle::replay
