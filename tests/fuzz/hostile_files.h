// Files that somebody might write to crash, hang or fill the memory of whoever reads them.
#ifndef HEDDLE_TESTS_FUZZ_HOSTILE_FILES_H_
#define HEDDLE_TESTS_FUZZ_HOSTILE_FILES_H_

#include <functional>
#include <string>
#include <vector>

namespace heddle::trace::testing {

struct HostileFile {
  std::string name;
  std::function<std::string()> make;  // the bytes of the file
  std::string rule;                   // words of the refusal
};

// Every derived total too large, sums that overflow, references in circles, walks that never end, wrong checksums and
// digests, millions of empty records. Each but for its one lie is a right trace with right checksums, so that the lie
// is what is found.
std::vector<HostileFile> HostileContainers();
std::vector<HostileFile> HostilePrograms();
std::vector<HostileFile> HostileChunks();

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_FUZZ_HOSTILE_FILES_H_
