#include "tools/inputs/policy_library.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "replay/seams/policy_origin.h"
#include "tools/console/digest.h"

namespace heddle::tools {

void AddPolicyLibraryOption(CLI::App& command, std::vector<std::string>& paths) {
  command
      .add_option("--policy-library", paths,
                  "Shared library with policies of your own (docs/how-to/new-policy.md); repeat")
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

absl::StatusOr<std::vector<FoundLibrary>> FindLibraries(const std::string& who,
                                                        const std::vector<NamedLibrary>& libraries) {
  const std::vector<replay::PolicyLibrary>& loaded = replay::LoadedPolicyLibraries();
  for (const replay::PolicyLibrary& one : loaded) {
    const auto is_it = [&](const NamedLibrary& library) { return one.code->digest() == library.digest; };
    if (std::ranges::any_of(libraries, is_it)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": was not planned with --policy-library ", one.code->path(), " as it is now; plan again"));
  }
  std::vector<FoundLibrary> found;
  for (const NamedLibrary& library : libraries) {
    const auto is_it = [&](const replay::PolicyLibrary& one) { return one.code->digest() == library.digest; };
    if (const auto one = std::ranges::find_if(loaded, is_it); one != loaded.end()) {
      found.push_back({one->code->path(), /*loaded=*/true});
      continue;
    }
    const auto refuse = [&](const absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat(who, ": was planned with the policies of ", library.path, ", which ", what,
                       "; plan again, or name the library that it was planned with as --policy-library"));
    };
    std::error_code error;
    // Reading a pipe or a device might never end.
    if (!std::filesystem::is_regular_file(library.path, error)) return refuse("is not there");
    const absl::StatusOr<std::string> digest = Sha256OfFile(library.path);
    if (!digest.ok()) return refuse("cannot be read");
    if (*digest != library.digest) return refuse("is another file by now");
    found.push_back({library.path, /*loaded=*/false});
  }
  return found;
}

}  // namespace heddle::tools
