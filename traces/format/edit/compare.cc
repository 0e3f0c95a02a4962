#include "traces/format/edit/compare.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/edit/compare_levels.h"
#include "traces/format/limits.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

constexpr uint64_t kMostAhead = uint64_t{1} << 28;
// Longest walk over what one more slice has added. Only parts that do not continue one another, which a comparison does
// not check, could ask for more.
constexpr uint64_t kLongestWalk = 2 * kMaxChunkThreadInstructions;

// Where two lists differ first; the length of the shorter one if that is a prefix of the other.
template <typename T>
size_t FirstDifference(std::span<const T> a, std::span<const T> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first -
                             a.begin());
}

// Decisions and addresses of one thread that have been read and not yet been compared.
struct Ahead {
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
};

// A thread of a block that is cut in time in at least one of the traces.
struct CutThread {
  WalkState state;            // behind all that was compared
  uint64_t instructions = 0;  // that were compared
  Ahead ahead[2];
};

class LaunchComparison {
 public:
  LaunchComparison(const TraceReader& a, const TraceReader& b, uint32_t launch)
      : readers_{&a, &b},
        program_(*a.launches()[launch].program),
        launch_(launch),
        slices_{{a, a.launches()[launch], a.launches()[launch].chunks},
                {b, b.launches()[launch], b.launches()[launch].chunks}} {}

  // Compares the next block; false behind the last one, or if there was a difference.
  absl::StatusOr<bool> NextBlock() {
    absl::StatusOr<bool> more[2] = {slices_[0].Next(), slices_[1].Next()};
    for (const auto& one : more) {
      if (!one.ok()) return one.status();
    }
    if (!*more[0] && !*more[1]) return false;
    if (!*more[0] || !*more[1] || slices_[0].block() != slices_[1].block()) {
      const int has = !*more[0] ? 1 : !*more[1] ? 0 : slices_[0].block() < slices_[1].block() ? 0 : 1;
      difference_ = Here(slices_[has].block());
      difference_->what = absl::StrCat("the block was recorded in ", readers_[has]->name(), " only");
      return false;
    }
    if (slices_[0].cut() || slices_[1].cut()) {
      HEDDLE_RETURN_IF_ERROR(CompareCutBlock());
    } else {
      CompareWholeBlock();
    }
    return !difference_.has_value();
  }

  const std::optional<TraceDifference>& difference() const { return difference_; }

 private:
  TraceDifference Here(uint64_t block) const {
    TraceDifference difference;
    difference.launch = launch_;
    difference.block = block;
    return difference;
  }

  void CompareWholeBlock() {
    const auto a = slices_[0].threads();
    const auto b = slices_[1].threads();
    for (size_t t = 0; t < a.size(); ++t) {
      const size_t decision = FirstDifference(a[t].decisions, b[t].decisions);
      const size_t address = FirstDifference(a[t].addresses, b[t].addresses);
      if (decision == a[t].decisions.size() && decision == b[t].decisions.size() && address == a[t].addresses.size() &&
          address == b[t].addresses.size()) {
        continue;
      }
      WalkState start{program_.entry_block(), {}, false};
      Locate(t, start, 0, a[t].decisions, b[t].decisions, decision, a[t].addresses, b[t].addresses, address);
      return;
    }
  }

  // Follows the thread up to decision number `decision` or access number `address`, whichever it comes to first, and
  // notes that as the difference.
  void Locate(size_t thread, WalkState state, uint64_t instructions, std::span<const uint8_t> decisions_a,
              std::span<const uint8_t> decisions_b, size_t decision, std::span<const uint64_t> addresses_a,
              std::span<const uint64_t> addresses_b, size_t address) {
    TraceDifference found = Here(slices_[0].block());
    found.thread = static_cast<uint32_t>(thread);
    // Behind the decisions that both share stands the block that asks for the first different one.
    const bool decides = decision < decisions_a.size() && decision < decisions_b.size();
    ByteDecisions shared(decisions_a.data(), decision);
    uint64_t accesses = 0;
    uint64_t before = instructions;
    uint32_t last = program_.entry_block();
    uint32_t operand = 0;
    (void)Walk(program_, Extent::kRunsToExit, shared, state, instructions + kLongestWalk, instructions,
               [&](uint32_t b, const Block& block) {
                 last = b;
                 const std::span<const Pc> pcs = program_.accesses_of(block);
                 if (!found.pc.has_value() && address - accesses < pcs.size()) {
                   const auto column = static_cast<uint32_t>(block.first_access + address - accesses);
                   found.pc = pcs[address - accesses];
                   operand = OperandOf(program_, column);
                   found.instruction = before + (*found.pc - block.first);
                 }
                 accesses += pcs.size();
                 before += block.count;
               });  // ends for want of a decision, or at the exit
    if (found.pc.has_value() && address < addresses_a.size() && address < addresses_b.size()) {
      const bool is_one = program_.instruction(*found.pc).operand_size() == 0;
      found.what = absl::StrCat(is_one ? "address 0x" : absl::StrCat("operand ", operand, " 0x"),
                                absl::Hex(addresses_a[address]), " in ", readers_[0]->name(), ", 0x",
                                absl::Hex(addresses_b[address]), " in ", readers_[1]->name());
    } else if (decides) {
      found.instruction = before - 1;
      found.pc = program_.block(last).first + program_.block(last).count - 1;
      found.what = absl::StrCat("takes successor or callee ", decisions_a[decision], " in ", readers_[0]->name(), ", ",
                                decisions_b[decision], " in ", readers_[1]->name());
    } else {
      found.instruction = before;
      found.what = absl::StrCat("goes on in one of ", readers_[0]->name(), " and ", readers_[1]->name(),
                                " and not in the other");
    }
    difference_ = std::move(found);
  }

  // Adds the thread records of a slice to what is ahead.
  void Append(int side, std::vector<CutThread>& threads) {
    const auto records = slices_[side].threads();
    for (size_t t = 0; t < most_; ++t) {
      Ahead& ahead = threads[t].ahead[side];
      ahead.decisions.insert(ahead.decisions.end(), records[t].decisions.begin(), records[t].decisions.end());
      ahead.addresses.insert(ahead.addresses.end(), records[t].addresses.begin(), records[t].addresses.end());
    }
  }

  // Compares what both traces have of a thread: up to the last decision that both know, or up to the exit if `ends`.
  void Consume(size_t t, CutThread& thread, bool ends) {
    Ahead& a = thread.ahead[0];
    Ahead& b = thread.ahead[1];
    const size_t shared = std::min(a.decisions.size(), b.decisions.size());
    const size_t decision = FirstDifference<uint8_t>(a.decisions, b.decisions);
    WalkState state = thread.state;
    uint64_t instructions = thread.instructions;
    size_t accesses = 0;
    ByteDecisions decisions(a.decisions.data(), decision);
    (void)Walk(program_, ends && decision == shared ? Extent::kRunsToExit : Extent::kCut, decisions, state,
               instructions + kLongestWalk, instructions,
               [&](uint32_t, const Block& block) { accesses += block.access_count; });
    const size_t address = FirstDifference<uint64_t>(a.addresses, b.addresses);
    const bool left = ends && (a.decisions.size() != b.decisions.size() || a.addresses.size() != b.addresses.size());
    if (decision < shared || address < accesses || left) {
      Locate(t, thread.state, thread.instructions, a.decisions, b.decisions, decision, a.addresses, b.addresses,
             address);
      most_ = t;  // threads above are of no interest any more
      return;
    }
    thread.state = std::move(state);
    thread.instructions = instructions;
    for (Ahead* one : {&a, &b}) {
      one->decisions.erase(one->decisions.begin(), one->decisions.begin() + static_cast<ptrdiff_t>(shared));
      const size_t done = std::min(accesses, one->addresses.size());
      one->addresses.erase(one->addresses.begin(), one->addresses.begin() + static_cast<ptrdiff_t>(done));
    }
  }

  absl::Status CompareCutBlock() {
    const uint64_t block = slices_[0].block();
    most_ = slices_[0].threads().size();
    std::vector<CutThread> threads(most_);
    for (CutThread& thread : threads) thread.state = WalkState{program_.entry_block(), {}, false};
    uint64_t read[2] = {0, 0};  // decisions and addresses so far: the trace that is behind reads on
    bool ends[2] = {false, false};
    const auto take = [&](int side) {
      Append(side, threads);
      for (const ThreadRecord& record : slices_[side].threads()) {
        read[side] += record.decisions.size() + record.addresses.size();
      }
      ends[side] = slices_[side].last_part();
    };
    take(0);
    take(1);
    for (;;) {
      const bool both = ends[0] && ends[1];
      uint64_t held = 0;
      for (size_t t = 0; t < most_; ++t) {
        Consume(t, threads[t], both);
        for (const Ahead& ahead : threads[t].ahead) held += ahead.decisions.size() + ahead.addresses.size();
      }
      if (both || most_ == 0) break;
      if (held > kMostAhead) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "launch ", launch_, ", block ", block,
            ": the traces cut the block in places so different that comparing them takes too much memory"));
      }
      const int side = ends[0] ? 1 : ends[1] ? 0 : read[0] <= read[1] ? 0 : 1;
      HEDDLE_ASSIGN_OR_RETURN(bool more, slices_[side].Next());
      if (!more || slices_[side].block() != block) {
        return absl::InternalError(absl::StrCat(readers_[side]->name(), ": block ", block, " misses its last part"));
      }
      take(side);
    }
    return absl::OkStatus();
  }

  const TraceReader* readers_[2];
  const Program& program_;
  const uint32_t launch_;
  BlockSlices slices_[2];
  size_t most_ = 0;  // threads below this are still compared
  std::optional<TraceDifference> difference_;
};

std::string Number(absl::string_view what, const TraceReader& a, const TraceReader& b, absl::string_view in_a,
                   absl::string_view in_b) {
  return absl::StrCat(what, " is ", in_a, " in ", a.name(), ", ", in_b, " in ", b.name());
}

// What differs in the headers, or empty.
std::string CompareHeaders(const TraceReader& a, const TraceReader& b) {
  const v1::FileHeader& one = a.header();
  const v1::FileHeader& other = b.header();
  if (one.warp_width() != other.warp_width()) {
    return Number("the warp width", a, b, absl::StrCat(one.warp_width()), absl::StrCat(other.warp_width()));
  }
  bool same = one.window_size() == other.window_size();
  for (int i = 0; same && i < one.window_size(); ++i) {
    same = one.window(i).SerializeAsString() == other.window(i).SerializeAsString();
  }
  if (!same) return "the address windows differ";
  if (a.launches().size() != b.launches().size()) {
    return Number("the number of launches", a, b, absl::StrCat(a.launches().size()), absl::StrCat(b.launches().size()));
  }
  return "";
}

std::string SourcePlace(const TraceReader& reader, const v1::Instruction& instruction) {
  const int file = static_cast<int>(instruction.source_file()) - 1;
  return absl::StrCat(file < 0 ? "" : reader.header().source_file(file), ":", instruction.source_line());
}

// Whose code two programs are, if that differs; or empty.
std::string CompareCode(const TraceReader& a, const Program& in_a, const TraceReader& b, const Program& in_b) {
  const auto words = [](const Program& program) {
    const std::string code = CodeInWords(program.proto());
    return code.empty() ? "that of the recording's own compiler" : code;
  };
  return words(in_a) == words(in_b) ? "" : Number("the kernel's code", a, b, words(in_a), words(in_b));
}

// What differs in two programs, whose code they are aside, or empty; `pc` is set if it is an instruction.
std::string ComparePrograms(const TraceReader& a, const Program& in_a, const TraceReader& b, const Program& in_b,
                            std::optional<Pc>& pc) {
  if (in_a.name() != in_b.name()) return Number("the kernel", a, b, in_a.name(), in_b.name());
  const std::string code = CompareCode(a, in_a, b, in_b);
  v1::KernelProgram one = in_a.proto();
  v1::KernelProgram other = in_b.proto();
  const int instructions = std::min(one.instruction_size(), other.instruction_size());
  for (int i = 0; i < instructions; ++i) {
    v1::Instruction* left = one.mutable_instruction(i);
    v1::Instruction* right = other.mutable_instruction(i);
    const std::string places[2] = {SourcePlace(a, *left), SourcePlace(b, *right)};
    left->clear_source_file();
    right->clear_source_file();
    if (places[0] == places[1] && left->SerializeAsString() == right->SerializeAsString()) continue;
    if (!code.empty()) return code;  // which explains it
    pc = static_cast<Pc>(i);
    const bool scheduled = left->control() != right->control();
    const auto text = [scheduled](const v1::Instruction& instruction) {
      const std::optional<ControlBits> bits = UnpackControl(instruction.control());
      return absl::StrCat((instruction.flags() & v1::FLAG_GUARDED) != 0 ? "@" : "", instruction.mnemonic(),
                          scheduled && bits.has_value() ? absl::StrCat(" with control bits ", ControlText(*bits)) : "");
    };
    return Number("the instruction", a, b, absl::StrCat(text(*left), " of ", places[0]),
                  absl::StrCat(text(*right), " of ", places[1]));
  }
  for (v1::KernelProgram* program : {&one, &other}) {
    program->clear_id();
    program->clear_ptx_sha256();
    program->clear_level();
    program->clear_producer();
    program->clear_isa_version();
    program->clear_target();
  }
  for (int f = 0; f < std::min(one.function_size(), other.function_size()); ++f) {
    v1::Function* functions[] = {one.mutable_function(f), other.mutable_function(f)};
    if (!functions[0]->register_bits().empty() && !functions[1]->register_bits().empty()) continue;
    for (v1::Function* function : functions) function->clear_register_bits();  // one of them does not tell
  }
  return one.SerializeAsString() == other.SerializeAsString()
             ? ""
             : "the programs differ in their blocks, functions or resources";
}

std::string CompareShapes(const TraceReader& a, const LaunchView& in_a, const TraceReader& b, const LaunchView& in_b) {
  const auto shape = [](const LaunchView& view) {
    const v1::Dim3& grid = view.launch.grid();
    const v1::Dim3& block = view.launch.block();
    return absl::StrCat("grid ", grid.x(), "x", grid.y(), "x", grid.z(), ", block ", block.x(), "x", block.y(), "x",
                        block.z(), ", ", view.launch.dynamic_shared_bytes(), " bytes of dynamic shared memory, ",
                        view.launch.recorded() ? "recorded" : "not recorded",
                        view.launch.has_cluster()
                            ? absl::StrCat(", clusters of ", view.launch.cluster().x(), "x", view.launch.cluster().y(),
                                           "x", view.launch.cluster().z())
                            : "");
  };
  const std::string one = shape(in_a);
  const std::string other = shape(in_b);
  return one == other ? "" : Number("the launch", a, b, one, other);
}

}  // namespace

std::string TraceDifference::Place() const {
  if (!launch.has_value()) return "the whole trace";
  std::string text = absl::StrCat("launch ", *launch);
  if (block.has_value()) absl::StrAppend(&text, ", block ", *block);
  if (thread.has_value()) absl::StrAppend(&text, ", thread ", *thread);
  if (instruction.has_value()) absl::StrAppend(&text, ", instruction ", *instruction);
  if (pc.has_value())
    absl::StrAppend(&text, instruction.has_value() ? " (pc " : ", pc ", uint64_t{*pc} * 8,
                    instruction.has_value() ? ")" : "");
  return text;
}

absl::StatusOr<std::optional<TraceDifference>> CompareTraces(const TraceReader& a, const TraceReader& b,
                                                             const ProgressCallback& progress) {
  TraceDifference difference;
  difference.what = DescribeOtherLevel(a, b);
  difference.levels_differ = !difference.what.empty();
  if (difference.what.empty()) difference.what = CompareHeaders(a, b);
  if (!difference.what.empty()) return difference;
  uint64_t done = 0;
  for (uint32_t launch = 0; launch < a.launches().size(); ++launch) {
    const LaunchView& one = a.launches()[launch];
    const LaunchView& other = b.launches()[launch];
    difference.launch = launch;
    difference.what = ComparePrograms(a, *one.program, b, *other.program, difference.pc);
    if (difference.what.empty()) difference.what = CompareShapes(a, one, b, other);
    if (!difference.what.empty()) return difference;
    LaunchComparison comparison(a, b, launch);
    for (uint64_t blocks = 1;; ++blocks) {
      HEDDLE_ASSIGN_OR_RETURN(bool more, comparison.NextBlock());
      if (!more) break;
      if (progress) {
        progress(done + one.totals.thread_instructions() / std::max<uint64_t>(1, one.totals.blocks()) * blocks,
                 a.index().thread_instructions());
      }
    }
    if (comparison.difference().has_value()) return comparison.difference();
    done += one.totals.thread_instructions();
  }
  for (uint32_t launch = 0; launch < a.launches().size(); ++launch) {
    difference.launch = launch;
    difference.what = CompareCode(a, *a.launches()[launch].program, b, *b.launches()[launch].program);
    if (difference.what.empty()) continue;
    absl::StrAppend(&difference.what, "; instructions and threads are the same");
    return difference;
  }
  return std::optional<TraceDifference>();
}

}  // namespace heddle::trace
