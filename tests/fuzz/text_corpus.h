// Texts that readers are tried with, and damaged copies of them.
#ifndef HEDDLE_TESTS_FUZZ_TEXT_CORPUS_H_
#define HEDDLE_TESTS_FUZZ_TEXT_CORPUS_H_

#include <string>
#include <vector>

namespace heddle {

// The files of a folder.
std::vector<std::string> ReadCorpus(const std::string& folder);

// Calls `read`, which says whether a text is right, with `copies` damaged texts. Returns how many were right.
int ReadDamagedCopies(const std::vector<std::string>& corpus, int copies, bool (*read)(const std::string&));

}  // namespace heddle

#endif  // HEDDLE_TESTS_FUZZ_TEXT_CORPUS_H_
