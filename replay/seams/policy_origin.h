// Where a policy's code comes from, and whether it was compiled with the headers of this program.
#ifndef HEDDLE_REPLAY_SEAMS_POLICY_ORIGIN_H_
#define HEDDLE_REPLAY_SEAMS_POLICY_ORIGIN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/seams/seam_digest.h"  // made by the build

// Of the policies that are built from the tree and from HEDDLE_POLICY_DIRS, by the build; all others are elsewhere.
#ifndef HEDDLE_POLICY_SOURCE
#define HEDDLE_POLICY_SOURCE ::heddle::replay::PolicySource::kElsewhere
#endif

namespace heddle::replay {

// What the source of a policy is part of.
enum class PolicySource : uint8_t {
  kTree,       // replay/SEAM/policies; in the digest of ModelVersion
  kFolder,     // a folder of HEDDLE_POLICY_DIRS; in that digest, too
  kElsewhere,  // a shared library, or a program that was linked with more: only the code itself can be told apart
};

// A file with compiled policies: a shared library, or this program.
class PolicyCode {
 public:
  // `path` as it was given.
  PolicyCode(std::string path, std::string digest) : path_(std::move(path)), digest_(std::move(digest)) {}

  const std::string& path() const { return path_; }
  // The file's name without folders.
  std::string name() const;
  // SHA-256 of the file in hexadecimal, as it was when it was loaded.
  const std::string& digest() const;

 private:
  std::string path_;
  std::string digest_;
};

// `code` is null where the model's version covers the source.
struct PolicyOrigin {
  PolicySource source = PolicySource::kElsewhere;
  const PolicyCode* code = nullptr;
};

// What two compilations have to agree in for objects of one to be used by the other. Only compared, never interpreted.
struct SeamStamp {
  const char* seam;          // "divergence", "scheduler", "fetch", "dispatch", "memory"
  const char* digest;        // of the headers, when the build folder was made or brought up to date
  size_t virtual_functions;  // of the interface, as it was compiled
  size_t interface_bytes;
  size_t context_bytes;  // what the factory gets
  size_t info_bytes;     // PolicyInfo: also tells standard libraries with and without checks apart
};

// Number of entries before `function`, a virtual function, in its class's table (Itanium C++ ABI, 2.3: the offset is in
// the first word, with the lowest bit set on some processors).
template <typename Class>
size_t VirtualFunctionsBefore(void (Class::*function)()) {
  std::ptrdiff_t offset = 0;
  std::memcpy(&offset, &function, sizeof(offset));
  return static_cast<size_t>(offset & ~std::ptrdiff_t{1}) / sizeof(void*);
}

// Calls `add`, which registers a policy, if the stamp is this program's. What is wrong ends the program with a line, or
// while a library is being loaded is that library's error. Returns whether the policy is registered.
bool RegisterPolicy(const SeamStamp& stamp, PolicySource source, void (*add)());

// Of the policy that is being registered.
PolicyOrigin PresentOrigin();

// A library that has been loaded, and the names of its policies.
struct PolicyLibrary {
  const PolicyCode* code = nullptr;
  std::vector<std::string> policies;
};

// Loads a shared library for the rest of the program; its policies register themselves. InvalidArgument, with the path:
// a file that cannot be loaded, that brings no policy or one whose name is taken or declaration is wrong, and one that
// was compiled with other headers than this program. After an error the program has to end: parts of the library may
// be in use.
absl::StatusOr<PolicyLibrary> LoadPolicyLibrary(const std::string& path);

// All libraries that have been loaded, in their order.
const std::vector<PolicyLibrary>& LoadedPolicyLibraries();

}  // namespace heddle::replay

#define HEDDLE_CONCAT_INNER(a, b) a##b
#define HEDDLE_CONCAT(a, b) HEDDLE_CONCAT_INNER(a, b)
// HEDDLE_REGISTER_AT_SEAM("scheduler", Interface, Context, Registry, PolicyInfo{...}, factory). Everything that the
// stamp is made of is of this file of code: a function or constant with linkage would be the program's own in a
// library.
#define HEDDLE_REGISTER_AT_SEAM(seam, Interface, Context, Registry, ...)                                   \
  [[maybe_unused]] static const bool HEDDLE_CONCAT(policy_registered_, __COUNTER__) = [] {                 \
    struct OneFunctionMore : Interface {                                                                   \
      virtual void TheOneMore() {}                                                                         \
    };                                                                                                     \
    return ::heddle::replay::RegisterPolicy(                                                               \
        {seam, HEDDLE_SEAM_DIGEST, ::heddle::replay::VirtualFunctionsBefore(&OneFunctionMore::TheOneMore), \
         sizeof(Interface), sizeof(Context), sizeof(::heddle::replay::PolicyInfo)},                        \
        HEDDLE_POLICY_SOURCE, [] { Registry::Get().Register(__VA_ARGS__); });                              \
  }()

#endif  // HEDDLE_REPLAY_SEAMS_POLICY_ORIGIN_H_
