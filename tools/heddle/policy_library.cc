#include "tools/heddle/policy_library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "replay/dispatch/block_dispatcher.h"
#include "replay/divergence/divergence_policy.h"
#include "replay/fetch/fetch_policy.h"
#include "replay/schedule/warp_scheduler.h"

namespace heddle::tools {
namespace {

size_t Policies() {
  return replay::DivergenceRegistry::Get().entries().size() + replay::SchedulerRegistry::Get().entries().size() +
         replay::DispatchRegistry::Get().entries().size() + replay::FetchRegistry::Get().entries().size();
}

}  // namespace

absl::Status LoadPolicyLibraries(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const size_t before = Policies();
    // Without a slash the loader would search the system's folders.
    const std::string file = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("--policy-library ", path, ": ", dlerror()));
    }
    if (Policies() == before) {
      return absl::InvalidArgumentError(
          absl::StrCat("--policy-library ", path, ": registers no policy (was it given twice?)"));
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools
