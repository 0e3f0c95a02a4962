#include "traces/format/edit/compare_levels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/code_level.h"
#include "traces/format/read/block_runs.h"

namespace heddle::trace {
namespace {

// A file's name and a line; both empty where the trace does not tell.
using Place = std::pair<std::string, uint32_t>;

Place PlaceOf(const TraceReader& reader, const v1::Instruction& instruction) {
  const int file = static_cast<int>(instruction.source_file()) - 1;
  if (file < 0 || file >= reader.header().source_file_size() || instruction.source_line() == 0) return {};
  return {reader.header().source_file(file), instruction.source_line()};
}

std::string CodeOf(const TraceReader& reader, const v1::KernelProgram& program) {
  const std::string words = CodeInWords(program);
  const std::string level = LevelOf(reader, program);
  return words.empty() ? level : words;
}

// A kernel while it is being counted.
struct Kernel {
  KernelCounts counts;
  std::map<Place, LineCounts> lines;
};

class LineComparison {
 public:
  LineComparison(const TraceReader& a, const TraceReader& b, const ProgressCallback& progress)
      : readers_{&a, &b},
        progress_(progress),
        total_(a.index().thread_instructions() + b.index().thread_instructions()) {}

  absl::StatusOr<std::vector<KernelCounts>> Run() {
    for (int side = 0; side < 2; ++side) {
      for (const LaunchView& launch : readers_[side]->launches()) HEDDLE_RETURN_IF_ERROR(Add(side, launch));
    }
    std::vector<KernelCounts> all;
    for (Kernel& kernel : kernels_) {
      for (auto& [place, counts] : kernel.lines) {
        counts.place = place.first.empty() ? "-" : absl::StrCat(place.first, ":", place.second);
        kernel.counts.lines.push_back(std::move(counts));
      }
      all.push_back(std::move(kernel.counts));
    }
    return all;
  }

 private:
  Kernel& KernelOf(const std::string& name) {
    const auto [place, is_new] = place_of_.try_emplace(name, kernels_.size());
    if (is_new) kernels_.emplace_back().counts.kernel = name;
    return kernels_[place->second];
  }

  absl::Status Add(int side, const LaunchView& launch) {
    const TraceReader& reader = *readers_[side];
    const Program& program = *launch.program;
    Kernel& kernel = KernelOf(program.name());
    KernelCounts& counts = kernel.counts;
    ++counts.launches[side];
    if (counts.code[side].empty()) counts.code[side] = CodeOf(reader, program.proto());
    counts.blocks[side] += launch.totals.blocks();
    counts.threads[side] += launch.totals.threads();
    counts.thread_instructions[side] += launch.totals.thread_instructions();
    counts.accesses[side] += launch.totals.accesses();
    counts.registers[side] = std::max<uint64_t>(counts.registers[side], program.proto().register_count());
    const bool is_new = seen_.insert(&program).second;
    if (is_new) counts.instructions[side] += program.instruction_count();
    std::vector<uint64_t> runs(program.blocks().size(), 0);
    DecodedChunk chunk;
    for (const v1::ChunkReference& reference : launch.chunks) {
      HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, chunk));
      AddBlockRuns(program, chunk, runs);
      done_ += reference.thread_instructions();
      if (progress_) progress_(done_, total_);
    }
    for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
      LineCounts& line = kernel.lines[PlaceOf(reader, program.instruction(pc))];
      line.instructions[side] += is_new;
      line.thread_instructions[side] += runs[program.block_of(pc)];
    }
    return absl::OkStatus();
  }

  const TraceReader* readers_[2];
  const ProgressCallback& progress_;
  const uint64_t total_;
  uint64_t done_ = 0;
  std::vector<Kernel> kernels_;
  std::map<std::string, size_t> place_of_;  // by name
  std::set<const Program*> seen_;
};

}  // namespace

std::string LevelOf(const TraceReader& reader, const v1::KernelProgram& program) {
  return program.level() == v1::LEVEL_MACHINE ? "machine" : reader.header().abstraction_level();
}

std::string DescribeOtherLevel(const TraceReader& a, const TraceReader& b) {
  const auto words = [&](absl::string_view what, const std::string& in_a, const std::string& in_b) {
    return in_a == in_b ? "" : absl::StrCat(what, " is ", in_a, " in ", a.name(), ", ", in_b, " in ", b.name());
  };
  std::string text = words("the abstraction level", a.header().abstraction_level(), b.header().abstraction_level());
  const size_t launches = std::min(a.launches().size(), b.launches().size());
  for (size_t i = 0; i < launches && text.empty(); ++i) {
    text = words(absl::StrCat("the level of launch ", i), LevelOf(a, a.launches()[i].program->proto()),
                 LevelOf(b, b.launches()[i].program->proto()));
  }
  return text;
}

absl::StatusOr<std::vector<KernelCounts>> CompareByLine(const TraceReader& a, const TraceReader& b,
                                                        const ProgressCallback& progress) {
  return LineComparison(a, b, progress).Run();
}

}  // namespace heddle::trace
