// Writes inputs to start fuzzing from: make_trace_corpus DIRECTORY [TRACE...]
//
// Without traces, the seeds that are kept in the tree. With traces, instead: these, and all hostile files, as files and
// as records, as far as they are small; so that no time goes into finding what they reach.
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/hostile_files.h"
#include "tests/traces/collective_programs.h"
#include "tests/traces/forge.h"
#include "tests/traces/format/columns/repeating_blocks.h"
#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"

namespace {

using namespace heddle::trace;           // NOLINT(build/namespaces)
using namespace heddle::trace::testing;  // NOLINT(build/namespaces)

constexpr size_t kSmall = 16 << 10;

void Store(const std::string& path, char kind, const std::string& bytes) {
  if (bytes.size() > kSmall) return;
  std::ofstream(path, std::ios::binary) << kind << bytes;
}

std::string Records(const std::string& file) {
  std::string records;
  for (const v1::Record& record : RecordsOf(file)) records += SerializeRecord(record);
  return records;
}

void StoreBoth(const std::string& path, const std::string& file) {
  Store(path + "-file", 'F', file);
  Store(path + "-records", 'R', Records(file));
}

absl::Status StoreSeeds(const std::string& directory) {
  struct Seed {
    RandomProgramOptions program;
    uint32_t threads = 4;
    RandomThreadOptions behaviour = {.most_instructions = 60};
  };
  uint64_t number = 0;
  // The last two: threads that share paths, with addresses that count from bases, and with others.
  for (const Seed& seed :
       {Seed{{.depth = 1}}, Seed{{.depth = 2, .barriers = true}}, Seed{{.depth = 2, .calls = true, .wide = true}},
        Seed{{.depth = 1}, 16, {.most_instructions = 60, .alike = 8, .linear_addresses = true}},
        Seed{{.depth = 2}, 16, {.most_instructions = 60, .alike = 8}}}) {
    TemporaryFile file("seed");
    const absl::Status status = WriteRandomTrace(file.path(), RandomProgram(number + 2, seed.program), 1, 3,
                                                 seed.threads, seed.behaviour, {.chunk_thread_instructions = 300});
    if (!status.ok()) return status;
    StoreBoth(directory + "/seed-" + std::to_string(number), ReadFile(file.path()));
    ++number;
  }
  TemporaryFile collective("seed");
  absl::Status written = WriteRandomTrace(collective.path(), WithCollectives(RandomProgram(2, {.depth = 2})), 1, 3, 16,
                                          {.most_instructions = 60, .alike = 8}, {.chunk_thread_instructions = 300});
  if (!written.ok()) return written;
  StoreBoth(directory + "/seed-collective", ReadFile(collective.path()));
  for (const auto& [name, program] : {std::pair{"sample", MachineSample()},
                                      {"code", WithMachineCode(RandomProgram(3, {.depth = 2, .calls = true}))}}) {
    TemporaryFile machine("seed");
    written = WriteRandomTrace(machine.path(), program, 1, 3, 16, {.most_instructions = 60, .alike = 8},
                               {.chunk_thread_instructions = 300});
    if (!written.ok()) return written;
    StoreBoth(directory + "/seed-machine-" + name, ReadFile(machine.path()));
  }
  TemporaryFile shared("seed");
  const absl::Status status = WriteRepeatingBlocks(shared.path(), {.blocks = 12, .threads = 8, .loads = 48});
  if (!status.ok()) return status;
  Store(directory + "/seed-shared-frames-file", 'F', ReadFile(shared.path()));
  return absl::OkStatus();
}

void StoreHostile(const std::string& directory) {
  for (const std::vector<HostileFile>& files : {HostileContainers(), HostilePrograms(), HostileChunks()}) {
    for (const HostileFile& hostile : files) {
      const std::string file = hostile.make();
      if (file.size() <= kSmall) Store(directory + "/hostile-" + hostile.name, 'F', file);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: make_trace_corpus DIRECTORY [TRACE...]\n");
    return 2;
  }
  const std::string directory = argv[1];
  if (argc == 2) {
    const absl::Status status = StoreSeeds(directory);
    if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
    return status.ok() ? 0 : 1;
  }
  StoreHostile(directory);
  for (int i = 2; i < argc; ++i) StoreBoth(directory + "/trace-" + std::to_string(i - 2), ReadFile(argv[i]));
  return 0;
}
