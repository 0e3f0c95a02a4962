// How small traces are beside two simple formats, both written here from the same chunks:
//
//   warp text   one line of text per warp and instruction, as trace-driven simulators of GPUs read it: PC, mask of the
//               active lanes, registers, opcode, width and addresses (base and stride, or base and differences), under
//               `xz -9`
//   varints     per thread its packed decisions, and each address as a base-128 varint of the difference to the one
//               before it of the same instruction, under Zstandard's level 19
//
//   heddle-benchmark-size [--millions=N] [--no-text] [--markdown] TRACE...
//
// Of each file, chunks spread evenly over it are taken that hold about N million thread-instructions (default 4), since
// xz takes minutes for more; --no-text leaves the first of the two out. The static program, which every format needs
// once, is not counted. The last column is the size over that of the smaller one of the two. The last line counts the
// files as they are. Exits with 1 if one of the two is smaller. With --markdown, rows as
// docs/lab/2026-11-23-trace-size.md has them.
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/base/varint.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/operands.h"
#include "traces/format/read/reader.h"

namespace heddle {
namespace {

using trace::DecodedChunk;
using trace::Program;

constexpr size_t kWarp = 32;

// Counts what `xz -9` leaves of the bytes written to it.
class XzCounter {
 public:
  XzCounter() : path_(absl::StrCat(std::filesystem::temp_directory_path().string(), "/heddle-size-", getpid(), ".xz")) {
    // NOLINTNEXTLINE(bugprone-command-processor): the path is this program's own
    pipe_ = popen(absl::StrCat("xz -9 -c > ", path_).c_str(), "w");
  }
  ~XzCounter() { std::filesystem::remove(path_); }
  void Write(const std::string& bytes) {
    if (pipe_ != nullptr) fwrite(bytes.data(), 1, bytes.size(), pipe_);
  }
  // Size in bytes; 0 if there is no xz.
  uint64_t Finish() {
    if (pipe_ == nullptr || pclose(pipe_) != 0) return 0;
    return std::filesystem::file_size(path_);
  }

 private:
  std::string path_;
  FILE* pipe_;
};

// A thread's basic blocks in order, with the number of pending calls.
struct Visit {
  uint32_t block;
  uint32_t depth;
};

std::vector<Visit> VisitsOf(const Program& program, const trace::PathView& path) {
  std::vector<Visit> visits;
  trace::WalkState state{
      path.start_block, {path.call_stack.begin(), path.call_stack.end()}, path.extent == trace::Extent::kEnded};
  trace::PackedDecisions decisions(path);
  uint64_t instructions = 0;
  (void)trace::Walk(program, path.extent, decisions, state, ~uint64_t{0}, instructions,
                    [&](uint32_t block, const trace::Block&) {
                      visits.push_back({block, static_cast<uint32_t>(state.stack.size())});
                    });
  return visits;
}

class WarpText {
 public:
  WarpText(const Program& program, const DecodedChunk& chunk, std::span<const std::vector<Visit>> visits)
      : program_(program), chunk_(chunk), visits_(visits) {}

  // The warp of the threads [first, end) of the chunk. Of the blocks that lanes stand in front of, the one of the
  // deepest call goes first, then the first of the program, so that lanes meet again.
  std::string Warp(size_t first, size_t end) {
    std::string text = absl::StrCat("warp = ", first / kWarp, "\n");
    std::vector<size_t> next(end - first, 0);
    std::vector<uint64_t> position;
    for (size_t t = first; t < end; ++t) position.push_back(chunk_.first_address[t]);
    for (;;) {
      const Visit* chosen = nullptr;
      for (size_t lane = 0; lane < next.size(); ++lane) {
        const Visit* visit = At(first + lane, next[lane]);
        if (visit != nullptr && (chosen == nullptr || visit->depth > chosen->depth ||
                                 (visit->depth == chosen->depth && visit->block < chosen->block))) {
          chosen = visit;
        }
      }
      if (chosen == nullptr) return text;
      std::vector<size_t> lanes;
      for (size_t lane = 0; lane < next.size(); ++lane) {
        const Visit* visit = At(first + lane, next[lane]);
        if (visit != nullptr && visit->block == chosen->block && visit->depth == chosen->depth) {
          lanes.push_back(lane);
          ++next[lane];
        }
      }
      const trace::Block& block = program_.block(chosen->block);
      for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) AppendLine(pc, lanes, position, text);
    }
  }

 private:
  const Visit* At(size_t thread, size_t index) const {
    const std::vector<Visit>& visits = visits_[chunk_.path_of_thread[thread]];
    return index < visits.size() ? &visits[index] : nullptr;
  }

  void AppendLine(trace::Pc pc, std::span<const size_t> lanes, std::vector<uint64_t>& position, std::string& text) {
    const trace::v1::Instruction& instruction = program_.instruction(pc);
    uint32_t mask = 0;
    for (size_t lane : lanes) mask |= uint32_t{1} << lane;
    absl::StrAppend(&text, absl::Hex(pc * 8, absl::kZeroPad4), " ", absl::Hex(mask, absl::kZeroPad8), " ",
                    instruction.dst_size());
    for (uint32_t reg : instruction.dst()) absl::StrAppend(&text, " R", reg);
    absl::StrAppend(&text, " ", instruction.mnemonic(), " ", instruction.src_size());
    for (uint32_t reg : instruction.src()) absl::StrAppend(&text, " R", reg);
    const uint32_t columns = trace::CountColumns(instruction);
    if (!Program::HasAddress(instruction)) {
      for (size_t lane : lanes) position[lane] += columns;
      absl::StrAppend(&text, " 0\n");
      return;
    }
    std::vector<uint64_t> addresses;
    for (size_t lane : lanes) {
      addresses.push_back(chunk_.address(position[lane], pc));
      position[lane] += columns;
    }
    bool strided = lanes.back() - lanes.front() + 1 == lanes.size();
    const uint64_t stride = addresses.size() > 1 ? addresses[1] - addresses[0] : 0;
    for (size_t i = 1; i < addresses.size(); ++i) strided &= addresses[i] - addresses[i - 1] == stride;
    absl::StrAppend(&text, " ", instruction.access_bytes(), strided ? " 1 0x" : " 2 0x", absl::Hex(addresses[0]));
    if (strided) {
      absl::StrAppend(&text, " ", static_cast<int64_t>(stride));
    } else {
      for (size_t i = 1; i < addresses.size(); ++i) {
        absl::StrAppend(&text, " ", static_cast<int64_t>(addresses[i] - addresses[i - 1]));
      }
    }
    text += '\n';
  }

  const Program& program_;
  const DecodedChunk& chunk_;
  std::span<const std::vector<Visit>> visits_;
};

void AppendThread(const Program& program, const DecodedChunk& chunk, std::span<const Visit> visits, size_t thread,
                  std::vector<uint64_t>& latest, std::string& out) {
  const trace::PathView& path = chunk.paths[chunk.path_of_thread[thread]];
  AppendVarint(out, path.decision_count);
  out.append(reinterpret_cast<const char*>(path.decisions), (path.decision_count + 7) / 8);
  for (uint32_t i = 0; i < path.wide_count; ++i) AppendVarint(out, path.wide[i]);
  uint64_t position = chunk.first_address[thread];
  latest.assign(trace::SlotCount(program), 0);
  for (const Visit& visit : visits) {
    const trace::Block& block = program.block(visit.block);
    for (uint32_t column = block.first_access; column < block.first_access + block.access_count; ++column) {
      const trace::Pc slot = trace::SlotOf(program, column);
      const uint64_t address = chunk.address(position++, slot);
      AppendVarint(out, ZigZag(static_cast<int64_t>(address - latest[slot])));
      latest[slot] = address;
    }
  }
}

struct Sizes {
  uint64_t file_thread_instructions = 0;  // of the whole file
  uint64_t file_bytes = 0;
  uint64_t thread_instructions = 0;  // of the chunks that were taken
  uint64_t heddle = 0;
  uint64_t text = 0;
  uint64_t varints = 0;
};

absl::StatusOr<Sizes> Measure(const std::string& file, uint64_t instructions, bool with_text) {
  HEDDLE_ASSIGN_OR_RETURN(auto reader, trace::TraceReader::Open(file));
  Sizes sizes;
  sizes.file_thread_instructions = reader->index().thread_instructions();
  sizes.file_bytes = reader->file_bytes();
  XzCounter xz;
  std::string varints;
  DecodedChunk chunk;
  std::vector<uint64_t> latest;
  const uint64_t stride = reader->index().thread_instructions() / std::max<uint64_t>(instructions, 1) + 1;
  uint64_t number = 0;
  for (const trace::LaunchView& launch : reader->launches()) {
    for (const trace::v1::ChunkReference& reference : launch.chunks) {
      if (number++ % stride != stride / 2) continue;
      HEDDLE_RETURN_IF_ERROR(reader->ReadChunk(reference, chunk));
      sizes.thread_instructions += chunk.thread_instructions;
      sizes.heddle += reader->record_bytes(reference.frame());
      std::vector<std::vector<Visit>> visits;
      for (const trace::PathView& path : chunk.paths) visits.push_back(VisitsOf(*launch.program, path));
      WarpText text(*launch.program, chunk, visits);
      for (size_t first = 0; with_text && first < chunk.path_of_thread.size();) {
        const size_t block_end = (first / chunk.threads_per_block + 1) * chunk.threads_per_block;
        const size_t end = std::min(first + kWarp, block_end);
        xz.Write(text.Warp(first, end));
        first = end;
      }
      for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
        AppendThread(*launch.program, chunk, visits[chunk.path_of_thread[t]], t, latest, varints);
      }
    }
  }
  std::string compressed(ZSTD_compressBound(varints.size()), '\0');
  sizes.varints = ZSTD_compress(compressed.data(), compressed.size(), varints.data(), varints.size(), 19);
  sizes.text = xz.Finish();
  if (sizes.text == 0) return absl::NotFoundError("xz cannot be run; install xz-utils");
  return sizes;
}

int Main(int argc, char** argv) {
  uint64_t millions = 4;
  bool with_text = true;
  bool markdown = false;
  std::vector<const char*> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--millions=")) {
      millions = std::strtoull(argv[i] + 11, nullptr, 10);
    } else if (argument == "--no-text") {
      with_text = false;
    } else if (argument == "--markdown") {
      markdown = true;
    } else {
      files.push_back(argv[i]);
    }
  }
  bool smallest = true;
  Sizes all;
  double most = 0;
  std::string largest;
  if (markdown) {
    std::printf("| trace | bytes per thread-instr. | text, `xz -9` | varints, level 19 | of the smaller one |\n");
    std::printf("|---|--:|--:|--:|--:|\n");
  } else {
    std::printf("%-28s   %s\n", "", "bytes per thread-instruction");
    std::printf("%-28s %10s %14s %18s %9s\n", "trace", "heddle", "text, xz -9", "varints, zstd -19", "of those");
  }
  for (const char* file : files) {
    absl::StatusOr<Sizes> sizes = Measure(file, millions * 1'000'000, with_text);
    if (!sizes.ok()) {
      std::fprintf(stderr, "%s\n", std::string(sizes.status().message()).c_str());
      return 2;
    }
    const double count = static_cast<double>(std::max<uint64_t>(sizes->thread_instructions, 1));
    const uint64_t other = with_text ? std::min(sizes->text, sizes->varints) : sizes->varints;
    const bool smaller = sizes->heddle < other;
    const double share = static_cast<double>(sizes->heddle) / static_cast<double>(std::max<uint64_t>(other, 1));
    std::printf(markdown ? "| `%s` | %.5f | %.5f | %.5f | %.2f%s |\n" : "%-28s %10.5f %14.5f %18.5f %9.2f%s\n",
                std::filesystem::path(file).stem().c_str(), static_cast<double>(sizes->heddle) / count,
                static_cast<double>(sizes->text) / count, static_cast<double>(sizes->varints) / count, share,
                smaller ? "" : "  NOT THE SMALLEST");
    std::fflush(stdout);
    smallest &= smaller;
    all.file_bytes += sizes->file_bytes;
    all.file_thread_instructions += sizes->file_thread_instructions;
    const double each = static_cast<double>(sizes->file_bytes) /
                        static_cast<double>(std::max<uint64_t>(sizes->file_thread_instructions, 1));
    if (each > most) {
      most = each;
      largest = std::filesystem::path(file).stem().string();
    }
  }
  std::printf(
      "All files whole: %.2f MB for %.0f M thread-instructions, %.4f bytes each; the most: %s, %.4f\n",
      static_cast<double>(all.file_bytes) * 1e-6, static_cast<double>(all.file_thread_instructions) * 1e-6,
      static_cast<double>(all.file_bytes) / static_cast<double>(std::max<uint64_t>(all.file_thread_instructions, 1)),
      largest.c_str(), most);
  return smallest ? 0 : 1;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) { return heddle::Main(argc, argv); }
