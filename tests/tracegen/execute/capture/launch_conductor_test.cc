// One launch after the other, as recipes and programs have them made: native, recorded, certified.
#include "tracegen/execute/capture/launch_conductor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/recipe/prepare_launch.h"
#include "tracegen/recipe/recipe_code.h"
#include "tracegen/recipe/recipe_file.h"
#include "traces/format/read/check.h"
#include "traces/format/read/reader.h"

namespace heddle::tracegen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Each thread adds its number in the grid to its element.
constexpr char kAdd[] =
    "extern \"C\" __global__ void k(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] += "
    "blockIdx.x * blockDim.x + threadIdx.x; }";

constexpr char kLocal[] =
    "extern \"C\" __global__ void k(int* out) { volatile int a[8]; a[threadIdx.x & 7] = 3; out[threadIdx.x] = "
    "a[threadIdx.x & 7]; }";

constexpr uint32_t kElements = 8;

class Conductor : public CaptureTest {
 protected:
  // Makes kernel `k` of the source, on memory with `out`, for blocks of four threads.
  void Make(const std::string& source, uint32_t blocks, uint32_t certified_runs = 0, RunnerOptions options = {}) {
    Write("kernel.cu", source);
    Write("recipe.textproto", "source: \"kernel.cu\"\n" + IntRecipe(blocks, 4, std::vector<double>(kElements, 0)));
    auto recipe = ReadRecipeFile(Path("recipe.textproto"));
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    auto code = RecipeCode::Compile(*recipe);
    ASSERT_TRUE(code.ok()) << code.status();
    code_.emplace(*std::move(code));
    auto memory = DeviceMemory::Create(certified_runs != 0 ? DeviceMemory::Sharing::kApplication
                                                           : DeviceMemory::Sharing::kPrivate);
    ASSERT_TRUE(memory.ok()) << memory.status();
    memory_ = *std::move(memory);
    auto out = memory_->Allocate(kElements * sizeof(int), "out");
    ASSERT_TRUE(out.ok()) << out.status();
    out_ = reinterpret_cast<int*>(*out);
    ASSERT_TRUE(code_->PlaceVariables(*memory_).ok());
    bool is_new = false;
    auto kernel = code_->MakeKernel(*recipe, 0, KernelForm(), /*with_native=*/true, &is_new);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    kernel_ = *kernel;
    auto prepared = PrepareLaunch(*recipe, 0, kernel_->recorded.kernel, [&](const std::string&) { return *out; });
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    ready_.number = 7;
    ready_.parameters = prepared->parameters;
    ready_.geometry = prepared->geometry;
    options.memory = memory_.get();
    conductor_.emplace(*memory_, std::move(options), CertifySettings{certified_runs, folder_},
                       [this](const std::string& text) { told_.push_back(text); });
  }
  // Opens a trace in which the next launch is recorded.
  void OpenTrace() {
    trace::v1::FileHeader header;
    header.set_producer("test");
    for (const trace::v1::AddressWindow& window : DeviceMemory::Windows()) *header.add_window() = window;
    code_->Describe(header);
    auto writer = trace::TraceWriter::Create(Path("out.htrace"), std::move(header), trace::WriterOptions());
    ASSERT_TRUE(writer.ok()) << writer.status();
    writer_ = *std::move(writer);
    auto program = writer_->AddProgram(kernel_->unit.program);
    ASSERT_TRUE(program.ok()) << program.status();
    ready_.recorded = &kernel_->recorded;
    ready_.proto = &kernel_->unit.program;
    ready_.program = *program;
    trace::v1::Launch record = conductor_->Describe(kernel_->recorded.kernel, ready_.geometry);
    record.set_program((*program)->id());
    record.set_recorded(true);
    ASSERT_TRUE(writer_->BeginLaunch(std::move(record)).ok());
  }
  // Ends it, and looks at what it holds.
  void CloseTrace() {
    ASSERT_TRUE(writer_->EndLaunch().ok());
    ASSERT_TRUE(writer_->Finish().ok());
    auto reader = trace::TraceReader::Open(Path("out.htrace"));
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }
  std::vector<int> Out() const { return std::vector<int>(out_, out_ + kElements); }

  std::optional<RecipeCode> code_;
  std::unique_ptr<DeviceMemory> memory_;
  int* out_ = nullptr;
  RecipeKernel* kernel_ = nullptr;
  ReadyLaunch ready_;
  std::vector<std::string> told_;
  std::unique_ptr<trace::TraceWriter> writer_;
  std::optional<LaunchConductor> conductor_;
};

TEST_F(Conductor, RunsALaunchThatIsNotRecorded) {
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, /*blocks=*/2));
  ready_.native = &kernel_->native;
  ready_.ranges = {{0, 2, false}};
  for (int run = 1; run <= 2; ++run) {
    const auto outcome = conductor_->Run(ready_, nullptr);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_FALSE(outcome->certificate.has_value());
    EXPECT_THAT(outcome->warnings, IsEmpty());
    EXPECT_THAT(Out(), ElementsAre(0, run, 2 * run, 3 * run, 4 * run, 5 * run, 6 * run, 7 * run));
  }
}

TEST_F(Conductor, RecordsAllBlocksOfALaunchOnce) {
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, 2));
  ASSERT_NO_FATAL_FAILURE(OpenTrace());
  ready_.ranges = {{0, 2, true}};
  const auto outcome = conductor_->Run(ready_, writer_.get());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Out()[7], 7);
  ASSERT_NO_FATAL_FAILURE(CloseTrace());
  EXPECT_EQ(writer_->totals().blocks, 2u);
  EXPECT_EQ(writer_->totals().thread_instructions, conductor_->instructions());
  const auto report = trace::CheckTrace(*reader_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->thread_instructions, conductor_->instructions());
  EXPECT_TRUE(report->findings.empty());
}

TEST_F(Conductor, RecordsSomeBlocksAndRunsTheOthers) {
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, 2));
  ASSERT_NO_FATAL_FAILURE(OpenTrace());
  ready_.native = &kernel_->native;
  ready_.ranges = {{0, 1, false}, {1, 2, true}};
  const auto outcome = conductor_->Run(ready_, writer_.get());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(Out(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(writer_->totals().blocks, 1u);
}

TEST_F(Conductor, DescribesGeometryAndMemory) {
  RunnerOptions options;
  options.resident_blocks = 16;
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, 2, 0, options));
  const trace::v1::Launch launch = conductor_->Describe(kernel_->recorded.kernel, ready_.geometry);
  EXPECT_EQ(launch.resident_blocks(), 2u);  // as many as there are
  ASSERT_GE(launch.allocation_size(), 1);
  EXPECT_EQ(launch.allocation(0).name(), "out");
}

TEST_F(Conductor, OneBlockAfterTheOtherNeedsNoWord) {
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, 2));
  EXPECT_EQ(conductor_->Describe(kernel_->recorded.kernel, ready_.geometry).resident_blocks(), 0u);
}

TEST_F(Conductor, GivesLaunchesOneHeap) {
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, 1));
  EXPECT_EQ(conductor_->heap(), nullptr);
  ASSERT_TRUE(conductor_->EnsureHeap().ok());
  const DeviceHeap* const heap = conductor_->heap();
  EXPECT_NE(heap, nullptr);
  const size_t allocations = memory_->allocations().size();
  ASSERT_TRUE(conductor_->EnsureHeap().ok());
  EXPECT_EQ(conductor_->heap(), heap);
  EXPECT_EQ(memory_->allocations().size(), allocations);
}

TEST_F(Conductor, MapsLocalMemoryForKernelsThatHaveSome) {
  ASSERT_NO_FATAL_FAILURE(Make(kLocal, 1));
  ASSERT_TRUE(kernel_->native.kernel.uses_local);
  ASSERT_TRUE(conductor_->MapLocal(kernel_->native.kernel, ready_.geometry).ok());
  ready_.native = &kernel_->native;
  ready_.ranges = {{0, 1, false}};
  const auto outcome = conductor_->Run(ready_, nullptr);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(Out(), ElementsAre(3, 3, 3, 3, 0, 0, 0, 0));
}

TEST_F(Conductor, CertifiesBeforeItRecordsAndLeavesNoTrace) {
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, 2, /*certified_runs=*/2));
  ASSERT_NO_FATAL_FAILURE(OpenTrace());
  ready_.ranges = {{0, 2, true}};
  const auto outcome = conductor_->Run(ready_, writer_.get());
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(Out(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));  // added once, although it has run three times
  ASSERT_TRUE(outcome->certificate.has_value());
  EXPECT_EQ(outcome->certificate->runs(), 2u);
  EXPECT_EQ(outcome->certificate->failure(), "");
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(writer_->totals().blocks, 2u);
}

TEST_F(Conductor, TellsTheNumberOfALaunchThatCannotBeCertified) {
  RunnerOptions options;
  options.max_instructions = 12;  // no run ends within them
  ASSERT_NO_FATAL_FAILURE(Make(kAdd, 2, 1, options));
  ASSERT_NO_FATAL_FAILURE(OpenTrace());
  ready_.ranges = {{0, 2, true}};
  const auto outcome = conductor_->Run(ready_, writer_.get());
  EXPECT_FALSE(outcome.ok());
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_THAT(told_[0], HasSubstr("launch 7: not certified: "));
}

TEST_F(Conductor, AFailedLaunchIsTheRunnersError) {
  ASSERT_NO_FATAL_FAILURE(Make("extern \"C\" __global__ void k(int* out) { out[1 << 28] = 1; }", 1));
  ASSERT_NO_FATAL_FAILURE(OpenTrace());
  ready_.ranges = {{0, 1, true}};
  const auto outcome = conductor_->Run(ready_, writer_.get());
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(std::string(outcome.status().message()), HasSubstr("kernel 'k', block (0,0,0), thread (0,0,0)"));
}

}  // namespace
}  // namespace heddle::tracegen
