// Every hostile file is refused, with its rule, quickly and within 64 MB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fuzz/hostile_files.h"
#include "traces/format/read/check.h"
#include "traces/format/read/reader.h"

namespace {

std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};

[[maybe_unused]] void* Allocate(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  const int64_t now = live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  int64_t before = peak_bytes;
  while (before < now && !peak_bytes.compare_exchange_weak(before, now)) {
  }
  return memory;
}

[[maybe_unused]] void Free(void* memory) {
  if (memory != nullptr) live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)  // which has its own, and would see memory of one freed by the other
void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }
#endif

namespace heddle::trace::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMostBytes = 64 << 20;
// The promise is 0.1 s, and the output says how much was taken; a busy machine must not fail the test.
constexpr double kMostSeconds = 1.0;

struct Reading {
  std::string refusal;  // empty if the file was taken for a trace
  int64_t bytes = 0;    // peak of the heap beside the file itself
  double seconds = 0;   // processor time
};

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string Refusal(std::string bytes) {
  auto reader = TraceReader::Open(FromMemory(std::move(bytes)), "hostile");
  if (!reader.ok()) return std::string(reader.status().message());
  DecodedChunk chunk;
  for (const LaunchView& launch : (*reader)->launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) {
      const absl::Status status = (*reader)->ReadChunk(reference, chunk);
      if (!status.ok()) return std::string(status.message());
    }
  }
  const auto report = CheckTrace(**reader);
  if (!report.ok()) return std::string(report.status().message());
  for (const Finding& finding : report->findings) {
    if (finding.severity == Finding::Severity::kError) return finding.message;
  }
  return "";
}

// On a thread of its own: buffers that a thread keeps end with it.
Reading Read(const std::string& file) {
  Reading reading;
  std::thread([&] {
    std::string bytes = file;
    const int64_t before = live_bytes;
    peak_bytes = before;
    const double start = ProcessorSeconds();
    reading.refusal = Refusal(std::move(bytes));
    reading.seconds = ProcessorSeconds() - start;
    reading.bytes = peak_bytes - before;
  }).join();
  return reading;
}

TEST(Hostile, EveryFileIsRefusedQuicklyAndInLittleMemory) {
  int64_t most_bytes = 0;
  double most_seconds = 0;
  std::vector<HostileFile> files = HostileContainers();
  for (std::vector<HostileFile> more : {HostilePrograms(), HostileChunks()}) {
    std::move(more.begin(), more.end(), std::back_inserter(files));
  }
  for (const HostileFile& hostile : files) {
    SCOPED_TRACE(hostile.name);
    const std::string file = hostile.make();
    const Reading reading = Read(file);
    EXPECT_NE(reading.refusal, "") << "the file was taken for a trace";
    EXPECT_THAT(reading.refusal, HasSubstr(hostile.rule));
    EXPECT_LE(reading.bytes, kMostBytes);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    EXPECT_LE(reading.seconds, kMostSeconds);
#endif
    most_bytes = std::max(most_bytes, reading.bytes);
    most_seconds = std::max(most_seconds, reading.seconds);
    printf("%-40s %9zu bytes: %5.1f MB, %5.1f ms: %s\n", hostile.name.c_str(), file.size(),
           static_cast<double>(reading.bytes) / (1 << 20), 1e3 * reading.seconds, reading.refusal.c_str());
  }
  printf("most: %.1f MB, %.1f ms\n", static_cast<double>(most_bytes) / (1 << 20), 1e3 * most_seconds);
}

}  // namespace
}  // namespace heddle::trace::testing
