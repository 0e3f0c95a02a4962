// Writes the seeds of the corpus: make_trace_corpus DIRECTORY.
#include <cstdio>
#include <fstream>

#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"

using namespace heddle::trace;           // NOLINT(build/namespaces)
using namespace heddle::trace::testing;  // NOLINT(build/namespaces)

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_trace_corpus DIRECTORY\n");
    return 2;
  }
  struct Seed {
    RandomProgramOptions program;
    uint32_t threads = 4;
    RandomThreadOptions behaviour = {.most_instructions = 60};
  };
  int number = 0;
  // The last two: threads that share paths, with addresses that count from bases, and with others.
  for (const Seed& seed :
       {Seed{{.depth = 1}}, Seed{{.depth = 2, .barriers = true}}, Seed{{.depth = 2, .calls = true, .wide = true}},
        Seed{{.depth = 1}, 16, {.most_instructions = 60, .alike = 8, .linear_addresses = true}},
        Seed{{.depth = 2}, 16, {.most_instructions = 60, .alike = 8}}}) {
    TemporaryFile file("seed");
    const absl::Status status =
        WriteRandomTrace(file.path(), RandomProgram(static_cast<uint64_t>(number) + 2, seed.program), 1, 3,
                         seed.threads, seed.behaviour, {.chunk_thread_instructions = 300});
    if (!status.ok()) {
      fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
    const std::string bytes = ReadFile(file.path());
    std::string records = "R";
    for (const v1::Record& record : RecordsOf(bytes)) records += SerializeRecord(record);
    std::ofstream(std::string(argv[1]) + "/seed-" + std::to_string(number) + "-file", std::ios::binary) << "F" << bytes;
    std::ofstream(std::string(argv[1]) + "/seed-" + std::to_string(number) + "-records", std::ios::binary) << records;
    ++number;
  }
  return 0;
}
