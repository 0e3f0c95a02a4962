#include "tests/random/random_trace.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/random/random.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

// A test that cannot be prepared means nothing: stop.
void Require(const absl::Status& status, const char* what) {
  if (status.ok()) return;
  std::cerr << "cannot prepare the test, " << what << ": " << status << std::endl;
  std::abort();
}

std::vector<trace::ThreadRecord> Records(const RandomKernel& kernel, uint32_t block) {
  std::vector<trace::ThreadRecord> records;
  for (uint32_t t = 0; t < kernel.shape.threads_per_block; ++t) {
    const ThreadScript& script = kernel.threads[block * kernel.shape.threads_per_block + t];
    records.push_back({script.decisions, script.addresses});
  }
  return records;
}

// Lays a block down in several parts, each thread cut behind a random number of decisions. A thread that is cut has run
// on to its next decision, so that it gives some addresses again in its next part.
void AddInParts(trace::TraceWriter& writer, const RandomKernel& kernel, uint32_t block, Random& random) {
  const uint32_t threads = kernel.shape.threads_per_block;
  std::vector<size_t> decisions_done(threads, 0);
  std::vector<size_t> addresses_done(threads, 0);
  std::vector<bool> exited(threads, false);
  for (int part = 0;; ++part) {
    const bool last = part == 4;
    std::vector<trace::ThreadRecord> now;
    std::vector<size_t> decisions(threads);
    for (uint32_t t = 0; t < threads; ++t) {
      const ThreadScript& script = kernel.threads[block * threads + t];
      const size_t left = script.decisions.size() - decisions_done[t];
      decisions[t] = last ? left : random.Below(left / 2 + 1);
      const size_t next = decisions_done[t] + decisions[t];
      const size_t end = next < script.decisions.size() ? script.addresses_before[next] : script.addresses.size();
      trace::ThreadRecord& record = now.emplace_back();
      record.decisions = std::span(script.decisions).subspan(decisions_done[t], decisions[t]);
      record.addresses = std::span(script.addresses).subspan(addresses_done[t], end - addresses_done[t]);
      // Some threads are through before the last part.
      record.exited = !exited[t] && next == script.decisions.size() && (last || random.Chance(50));
      exited[t] = exited[t] || record.exited;
    }
    std::vector<uint64_t> consumed(threads);
    Require(writer.AddBlockPart(block, now, last, consumed), "AddBlockPart");
    if (last) return;
    for (uint32_t t = 0; t < threads; ++t) {
      decisions_done[t] += decisions[t];
      addresses_done[t] += consumed[t];
    }
  }
}

}  // namespace

std::unique_ptr<trace::TraceReader> WriteAndOpen(const std::vector<const RandomKernel*>& kernels,
                                                 const LayDown& lay_down) {
  static std::atomic<int> files = 0;
  const std::string path =
      testing::TempDir() + "heddle_random_" + std::to_string(getpid()) + "_" + std::to_string(files++) + ".htrace";
  v1::FileHeader header;
  header.set_producer("random kernels");
  header.set_abstraction_level("ptx");
  for (v1::AddressWindow& window : RandomKernelWindows()) *header.add_window() = std::move(window);
  trace::WriterOptions options;
  options.zstd_level = 1;
  options.chunk_thread_instructions = lay_down.chunk_thread_instructions;
  auto writer = trace::TraceWriter::Create(path, header, options);
  Require(writer.status(), "TraceWriter::Create");
  Random random(lay_down.seed);
  for (const RandomKernel* kernel : kernels) {
    auto program = (*writer)->AddProgram(kernel->program);
    Require(program.status(), "AddProgram");
    v1::Launch launch;
    launch.set_program((*program)->id());
    launch.set_recorded(true);
    launch.mutable_grid()->set_x(kernel->shape.blocks);
    launch.mutable_grid()->set_y(1);
    launch.mutable_grid()->set_z(1);
    launch.mutable_block()->set_x(kernel->shape.threads_per_block);
    launch.mutable_block()->set_y(1);
    launch.mutable_block()->set_z(1);
    if (lay_down.edit) lay_down.edit(launch);
    Require((*writer)->BeginLaunch(launch), "BeginLaunch");
    for (uint32_t block = 0; block < kernel->shape.blocks; ++block) {
      if (lay_down.cut_in_time) {
        AddInParts(**writer, *kernel, block, random);
        continue;
      }
      uint64_t expected = 0;
      for (uint32_t t = 0; t < kernel->shape.threads_per_block; ++t) {
        expected += kernel->threads[block * kernel->shape.threads_per_block + t].steps.size();
      }
      Require((*writer)->AddBlock(block, Records(*kernel, block), expected), "AddBlock");
    }
    Require((*writer)->EndLaunch(), "EndLaunch");
  }
  Require((*writer)->Finish(), "Finish");
  auto reader = trace::TraceReader::Open(path);
  Require(reader.status(), "TraceReader::Open");
  unlink(path.c_str());  // the open file stays readable
  return *std::move(reader);
}

}  // namespace heddle::replay
