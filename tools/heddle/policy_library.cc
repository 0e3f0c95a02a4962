#include "tools/heddle/policy_library.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/engine/policy_origin.h"
#include "tools/heddle/digest.h"

namespace heddle::tools {

void AddPolicyLibraryOption(CLI::App& command, std::vector<std::string>& paths) {
  command
      .add_option("--policy-library", paths, "Shared library with policies of your own (docs/new-policy.md); repeat")
      ->expected(1)
      ->take_all();
}

absl::Status LoadPolicyLibraries(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const auto loaded = replay::LoadPolicyLibrary(path);
    if (loaded.ok()) continue;
    return absl::Status(loaded.status().code(), absl::StrCat("--policy-library ", loaded.status().message()));
  }
  return absl::OkStatus();
}

absl::Status LoadMissingLibraries(const std::string& who, const std::vector<NamedLibrary>& libraries) {
  for (const replay::PolicyLibrary& loaded : replay::LoadedPolicyLibraries()) {
    const auto is_it = [&](const NamedLibrary& library) { return loaded.code->digest() == library.digest; };
    if (std::ranges::any_of(libraries, is_it)) continue;
    return absl::InvalidArgumentError(absl::StrCat(who, ": was not planned with --policy-library ", loaded.code->path(),
                                                   " as it is now; plan again"));
  }
  for (const NamedLibrary& library : libraries) {
    const auto is_it = [&](const replay::PolicyLibrary& loaded) { return loaded.code->digest() == library.digest; };
    if (std::ranges::any_of(replay::LoadedPolicyLibraries(), is_it)) continue;
    const auto refuse = [&](const absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat(who, ": was planned with the policies of ", library.path, ", which ", what,
                       "; plan again, or name the library that it was planned ", "with as --policy-library"));
    };
    const absl::StatusOr<std::string> digest = Sha256OfFile(library.path);
    if (!digest.ok()) return refuse("is not there");
    if (*digest != library.digest) return refuse("is another file by now");
    const auto loaded = replay::LoadPolicyLibrary(library.path);
    if (!loaded.ok()) return absl::Status(loaded.status().code(), absl::StrCat(who, ": ", loaded.status().message()));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools
