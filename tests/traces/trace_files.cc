#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/traces/program_builder.h"
#include "traces/format/program/code_level.h"

namespace heddle::trace::testing {

v1::Launch MakeLaunch(uint32_t program, uint32_t blocks, uint32_t threads) {
  v1::Launch launch;
  launch.set_program(program);
  launch.mutable_grid()->set_x(blocks);
  launch.mutable_grid()->set_y(1);
  launch.mutable_grid()->set_z(1);
  launch.mutable_block()->set_x(threads);
  launch.mutable_block()->set_y(1);
  launch.mutable_block()->set_z(1);
  launch.set_recorded(true);
  return launch;
}

v1::FileHeader MakeHeader() {
  v1::FileHeader header;
  header.set_producer("heddle tests");
  header.set_abstraction_level("ptx");
  header.set_target("sm_70");
  header.set_optimization("-O2");
  v1::AddressWindow& shared = *header.add_window();
  shared.set_space(v1::SPACE_SHARED);
  shared.set_base(0x1000000);
  shared.set_bytes(0x1000000);
  return header;
}

TemporaryFile::TemporaryFile(const std::string& name) {
  const char* directory = std::getenv("TMPDIR");
  path_ =
      std::string(directory != nullptr ? directory : "/tmp") + "/heddle-test-" + std::to_string(getpid()) + "-" + name;
  std::filesystem::remove(path_);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

absl::Status WriteRandomTrace(const std::string& path, v1::KernelProgram program, uint64_t seed, uint32_t blocks,
                              uint32_t threads, const RandomThreadOptions& thread_options,
                              const WriterOptions& writer_options) {
  v1::FileHeader header = MakeHeader();
  if (program.level() == v1::LEVEL_MACHINE) {
    header.set_abstraction_level("machine");
    header.set_minor(MinorVersionOf(program));
  }
  absl::StatusOr<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(path, header, writer_options);
  if (!writer.ok()) return writer.status();
  absl::StatusOr<const Program*> added = (*writer)->AddProgram(std::move(program));
  if (!added.ok()) return added.status();
  if (absl::Status status = (*writer)->BeginLaunch(MakeLaunch(0, blocks, threads)); !status.ok()) return status;
  for (uint64_t b = 0; b < blocks; ++b) {
    std::vector<ThreadTrace> traces;
    std::vector<ThreadRecord> records;
    uint64_t instructions = 0;
    for (uint32_t t = 0; t < threads; ++t) {
      traces.push_back(RandomThread(**added, seed, b * threads + t, thread_options));
      instructions += traces.back().thread_instructions;
    }
    for (const ThreadTrace& trace : traces) records.push_back(trace.record());
    if (absl::Status status = (*writer)->AddBlock(b, records, instructions); !status.ok()) return status;
  }
  if (absl::Status status = (*writer)->EndLaunch(); !status.ok()) return status;
  return (*writer)->Finish();
}

}  // namespace heddle::trace::testing
