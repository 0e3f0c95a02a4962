// `heddle trace dump`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/heddle/trace/selection.h"
#include "tools/inputs/trace_file.h"
#include "tools/show/instruction_text.h"
#include "tools/show/writers_report.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/columns/last_writers.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/operands.h"

namespace heddle::tools {
namespace {

constexpr char kDumpFooter[] =
    "\nOne line per instruction: its number in the thread, its PC, its place in the source, opcode and registers,\n"
    "then the address of an access, what a collective instruction recorded, or the PC that a branch, call or return\n"
    "goes on at. With --control, \"B01----:R-:W2:Y:S04:U1\" waits for barriers 0 and 1, sets none when its operands "
    "were\n"
    "read, sets 2 when its result is written, yields, stalls for 4 cycles, and keeps the register of operand 1. With\n"
    "--json one object per thread (per part of it if its block was cut in time), one line each. ";

std::string Counted(uint64_t number, absl::string_view one, absl::string_view many) {
  return absl::StrCat(WithThousands(number), " ", number == 1 ? one : many);
}

using Json = nlohmann::ordered_json;
using trace::Pc;
using trace::Program;
using trace::TraceReader;

constexpr uint64_t kPcBytes = 8;

struct Form {
  bool json = false;
  bool control = false;  // control bits besides
};

// Text on its way to a file or to standard output, in pieces of some size.
class Sink {
 public:
  explicit Sink(OutputFile file) : file_(std::move(file)) {}

  std::string& text() { return text_; }
  // Writes if enough has come together. False if nobody reads any more.
  absl::StatusOr<bool> Continue() {
    constexpr size_t kPiece = 1u << 16;
    if (text_.size() < kPiece) return true;
    absl::Status status = Flush();
    if (!status.ok()) return status;
    return !(file_.is_standard_output() && StandardOutputIsClosed());
  }
  absl::Status Finish() {
    HEDDLE_RETURN_IF_ERROR(Flush());
    return file_.Commit();
  }

 private:
  absl::Status Flush() {
    absl::Status status = file_.Write(text_);
    text_.clear();
    return status;
  }

  OutputFile file_;
  std::string text_;
};

// The lines of one launch's instructions, ready but for what differs from thread to thread.
class Listing {
 public:
  // `control`: with a column of control bits.
  Listing(const TraceReader& reader, const Program& program, bool control) : program_(program) {
    size_t places = 0;
    size_t texts = 0;
    size_t bits = 0;
    std::vector<std::string> controls;
    for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
      const trace::v1::Instruction& instruction = program.instruction(pc);
      places_.push_back(SourcePlace(reader.header(), instruction));
      texts_.push_back(InstructionText(program, pc));
      controls.push_back(control ? ControlBitsText(instruction) : "");
      bits = std::max(bits, controls.back().size());
      places = std::max(places, places_.back().size());
      texts = std::max(texts, texts_.back().size());
    }
    constexpr size_t kWidest = 44;  // longer ones stick out
    for (Pc pc = 0; pc < program.instruction_count(); ++pc) {
      lines_.push_back(
          absl::StrFormat("%6d  %-*s  ", pc * kPcBytes, static_cast<int>(std::min(places, kWidest)), places_[pc]));
      if (control) absl::StrAppendFormat(&lines_.back(), "%-*s  ", static_cast<int>(bits), controls[pc]);
      absl::StrAppendFormat(&lines_.back(), "%-*s", static_cast<int>(std::min(texts, kWidest)), texts_[pc]);
    }
  }

  const std::string& line(Pc pc) const { return lines_[pc]; }
  const std::string& place(Pc pc) const { return places_[pc]; }
  const Program& program() const { return program_; }

 private:
  const Program& program_;
  std::vector<std::string> places_;
  std::vector<std::string> texts_;
  std::vector<std::string> lines_;
};

// Where a thread goes on behind a block: a PC, the exit, or not told because the block just falls through.
std::string GoesOn(const Program& program, uint32_t block, std::optional<uint32_t> next) {
  const trace::v1::Terminator terminator = program.block(block).terminator;
  if (terminator == trace::v1::EXIT) return "exit";
  if (terminator == trace::v1::FALL_THROUGH || !next.has_value()) return "";
  return absl::StrCat("-> ", program.block(*next).first * kPcBytes);
}

// What a thread recorded when it ran an instruction.
struct RecordedOperand {
  const trace::Column* column = nullptr;
  uint64_t value = 0;
};

// An access's address; of a collective instruction each operand with its kind.
std::string OperandsText(std::span<const RecordedOperand> operands) {
  std::string text;
  for (const RecordedOperand& operand : operands) {
    const trace::Column& column = *operand.column;
    if (column.kind == trace::v1::Operand::ADDRESS) {
      const bool is_destination = column.operand == 1 && column.access == trace::v1::OP_STORE;
      absl::StrAppend(&text, is_destination ? " to" : " ", " 0x", absl::Hex(operand.value));
    } else {
      absl::StrAppend(&text, "  ", absl::AsciiStrToLower(trace::v1::Operand::Kind_Name(column.kind)), " ",
                      operand.value);
    }
  }
  return text;
}

// Null if the trace does not tell; so are barriers that are none.
Json ControlJson(const trace::v1::Instruction& instruction) {
  const std::optional<trace::ControlBits> bits = trace::UnpackControl(instruction.control());
  if (!bits.has_value()) return nullptr;
  const auto barrier = [](uint8_t number) {
    return number == trace::ControlBits::kNoBarrier ? Json(nullptr) : Json(number);
  };
  return {{"stall", bits->stall},
          {"yield", bits->yield},
          {"write_barrier", barrier(bits->write_barrier)},
          {"read_barrier", barrier(bits->read_barrier)},
          {"wait_mask", bits->wait_mask},
          {"reuse", bits->reuse}};
}

Json OperandsJson(std::span<const RecordedOperand> operands) {
  Json list = Json::array();
  for (const RecordedOperand& operand : operands) {
    list.push_back({{"operand", operand.column->operand},
                    {"kind", absl::AsciiStrToLower(trace::v1::Operand::Kind_Name(operand.column->kind))},
                    {"value", operand.value}});
  }
  return list;
}

// Prints threads of one launch.
class ThreadPrinter {
 public:
  ThreadPrinter(const TraceReader& reader, const trace::LaunchView& launch, const SelectedParts& parts, Form form,
                Sink& sink)
      : launch_(launch),
        listing_(reader, *launch.program, form.control),
        columns_(trace::ColumnsOf(*launch.program)),
        parts_(parts),
        form_(form),
        sink_(sink) {}

  // Prints the selected threads of a chunk. False if nobody reads any more.
  // `reads`: what the chunk lists of last writers.
  absl::StatusOr<bool> Print(const trace::DecodedChunk& chunk, std::span<const trace::WrittenRead> reads) {
    reads_ = reads;
    const bool cut = chunk.part > 0 || !chunk.last_part;
    if (chunk.part == 0) done_.assign(chunk.threads_per_block, 0);
    for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
      const uint64_t block = chunk.blocks[t / chunk.threads_per_block];
      const uint32_t thread = static_cast<uint32_t>(t % chunk.threads_per_block);
      const trace::PathView& path = chunk.paths[chunk.path_of_thread[t]];
      const uint64_t first = cut ? done_[thread] : 0;
      if (cut) done_[thread] += path.thread_instructions;
      if (!parts_.blocks.Holds(block) || !parts_.threads.Holds(thread)) continue;
      any_ = true;
      Walk(path);
      absl::StatusOr<bool> more = form_.json ? PrintJson(chunk, t, block, thread, path, first)
                                             : PrintText(chunk, t, block, thread, path, first);
      if (!more.ok() || !*more) return more;
    }
    return true;
  }

  bool any() const { return any_; }

 private:
  // Notes the basic blocks that a path enters, and where it goes behind the last one.
  void Walk(const trace::PathView& path) {
    entered_.clear();
    trace::WalkState state{
        path.start_block, {path.call_stack.begin(), path.call_stack.end()}, path.extent == trace::Extent::kEnded};
    trace::PackedDecisions decisions(path);
    uint64_t instructions = 0;
    (void)trace::Walk(listing_.program(), path.extent, decisions, state, ~uint64_t{0}, instructions,
                      [this](uint32_t b, const trace::Block&) { entered_.push_back(b); });
    entered_.push_back(state.block);
  }

  // Calls `print(number, pc, goes_on)` for each selected instruction, whose operands are in recorded_. Writes in
  // between: a thread may have millions of instructions. False if nobody reads any more.
  template <typename Print>
  absl::StatusOr<bool> ForEachInstruction(const trace::DecodedChunk& chunk, size_t t, uint64_t first, Print&& print) {
    const Program& program = listing_.program();
    uint64_t number = first;
    uint64_t position = chunk.first_address[t];
    for (size_t i = 0; i + 1 < entered_.size(); ++i) {
      const trace::Block& block = program.block(entered_[i]);
      const uint64_t end = number + block.count;
      if (parts_.instructions.CountWithin(number, end - 1) == 0) {
        number = end;
        position += block.access_count;
        continue;
      }
      const bool exits = block.terminator == trace::v1::EXIT;
      const trace::Column* column = columns_.data() + block.first_access;
      const trace::Column* const end_of_columns = column + block.access_count;
      for (Pc pc = block.first; pc < block.first + block.count; ++pc, ++number) {
        recorded_.clear();
        write_ = nullptr;
        for (; column != end_of_columns && column->instruction == pc; ++column) {
          if (recorded_.empty()) write_ = WriteReadAt(position);
          recorded_.push_back({column, chunk.address(position++, column->slot)});
        }
        if (!parts_.instructions.Holds(number)) continue;
        const bool last = pc + 1 == block.first + block.count;
        print(number, pc,
              last ? GoesOn(program, entered_[i], exits ? std::nullopt : std::optional(entered_[i + 1])) : "");
        absl::StatusOr<bool> more = sink_.Continue();
        if (!more.ok() || !*more) return more;
      }
    }
    return sink_.Continue();
  }

  // Whose write the chunk's access at `position` saw; null if that is not listed.
  const trace::WriteOf* WriteReadAt(uint64_t position) const {
    const auto read = std::lower_bound(reads_.begin(), reads_.end(), position,
                                       [](const trace::WrittenRead& one, uint64_t at) { return one.position < at; });
    return read != reads_.end() && read->position == position ? &read->write : nullptr;
  }

  absl::StatusOr<bool> PrintText(const trace::DecodedChunk& chunk, size_t t, uint64_t block, uint32_t thread,
                                 const trace::PathView& path, uint64_t first) {
    std::string& text = sink_.text();
    const bool cut = chunk.part > 0 || !chunk.last_part;
    absl::StrAppend(&text, "launch ", launch_.launch.id(), " ", trace::ShortKernelName(launch_.program->name()),
                    ", block ", block, ", thread ", thread, cut ? absl::StrCat(", part ", chunk.part) : "", ": ",
                    Counted(path.thread_instructions, "instruction", "instructions"), ", ",
                    Counted(path.accesses, "access", "accesses"),
                    path.extent == trace::Extent::kEnded ? " (it had exited before)" : "", "\n");
    return ForEachInstruction(chunk, t, first, [&](uint64_t number, Pc pc, const std::string& goes_on) {
      std::string line = absl::StrFormat("%8d  %s", number, listing_.line(pc));
      absl::StrAppend(&line, OperandsText(recorded_));
      if (write_ != nullptr) {
        absl::StrAppend(&line, "  written by block ", write_->block, ", thread ", write_->thread, ", PC ",
                        write_->instruction * kPcBytes);
      }
      if (!goes_on.empty()) absl::StrAppend(&line, "  ", goes_on);
      line.erase(line.find_last_not_of(' ') + 1);
      absl::StrAppend(&text, line, "\n");
    });
  }

  absl::StatusOr<bool> PrintJson(const trace::DecodedChunk& chunk, size_t t, uint64_t block, uint32_t thread,
                                 const trace::PathView& path, uint64_t first) {
    Json json = {{"launch", launch_.launch.id()},
                 {"kernel", launch_.program->name()},
                 {"block", block},
                 {"thread", thread},
                 {"part", chunk.part},
                 {"last_part", chunk.last_part},
                 {"first_instruction", first},
                 {"thread_instructions", path.thread_instructions},
                 {"accesses", path.accesses}};
    std::string head = JsonLine(json);
    head.back() = ',';
    absl::StrAppend(&sink_.text(), head, "\"instructions\":[");
    bool any = false;
    absl::StatusOr<bool> more =
        ForEachInstruction(chunk, t, first, [&](uint64_t number, Pc pc, const std::string& goes_on) {
          Json one = {{"number", number},
                      {"pc", pc * kPcBytes},
                      {"mnemonic", listing_.program().instruction(pc).mnemonic()},
                      {"source", listing_.place(pc)}};
          if (form_.control) one["control"] = ControlJson(listing_.program().instruction(pc));
          const bool is_access = trace::Program::HasAddress(listing_.program().instruction(pc));
          if (is_access) one["address"] = recorded_.front().value;
          if (recorded_.size() > (is_access ? 1u : 0u)) one["operands"] = OperandsJson(recorded_);
          if (write_ != nullptr) {
            one["written_by"] = {{"block", write_->block},
                                 {"thread", write_->thread},
                                 {"access", write_->access},
                                 {"pc", write_->instruction * kPcBytes}};
          }
          if (goes_on == "exit") {
            one["exits"] = true;
          } else if (!goes_on.empty()) {
            one["next_pc"] = std::stoull(goes_on.substr(3));
          }
          absl::StrAppend(&sink_.text(), any ? "," : "", JsonLine(one));
          any = true;
        });
    absl::StrAppend(&sink_.text(), "]}\n");
    return more;
  }

  const trace::LaunchView& launch_;
  const Listing listing_;
  const std::vector<trace::Column> columns_;  // by position in Program::accesses()
  const SelectedParts& parts_;
  const Form form_;
  Sink& sink_;
  std::vector<uint32_t> entered_;  // basic blocks of the path at hand, and the one behind its end
  std::vector<uint64_t> done_;     // instructions of each thread of the block that is cut, in its parts so far
  bool any_ = false;
  std::span<const trace::WrittenRead> reads_;  // of the chunk
  std::vector<RecordedOperand> recorded_;      // of the instruction at hand
  const trace::WriteOf* write_ = nullptr;      // that the access at hand saw
};

absl::Status DumpLaunch(const TraceReader& reader, const trace::LaunchView& launch, const SelectedParts& parts,
                        Form form, Sink& sink, bool& open) {
  if (!launch.launch.recorded()) {
    if (!form.json) {
      absl::StrAppend(&sink.text(), "launch ", launch.launch.id(), " ", trace::ShortKernelName(launch.program->name()),
                      ": not recorded\n");
    }
    return absl::OkStatus();
  }
  ThreadPrinter printer(reader, launch, parts, form, sink);
  trace::DecodedChunk chunk;
  std::vector<trace::WrittenRead> reads;
  for (const trace::v1::ChunkReference& reference : launch.chunks) {
    if (parts.blocks.CountWithin(reference.first_block(), reference.last_block()) == 0) continue;
    HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, chunk));
    HEDDLE_RETURN_IF_ERROR(ReadLastWriters(reader, launch, reference, reads));
    HEDDLE_ASSIGN_OR_RETURN(bool more, printer.Print(chunk, reads));
    open = more;
    if (!open) return absl::OkStatus();
  }
  if (printer.any() || launch.chunks.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("launch ", launch.launch.id(), ": nothing was recorded that --blocks and --threads name; it has ",
                   launch.totals.blocks(), " blocks, from ", launch.chunks.front().first_block(), " to ",
                   launch.chunks.back().last_block(), ", of ", launch.threads_per_block, " threads"));
}

absl::Status DumpPrograms(const TraceReader& reader, const SelectedParts& parts, Form form, Sink& sink) {
  std::vector<bool> selected(reader.programs().size(), false);
  for (size_t i = 0; i < parts.launches.size(); ++i) {
    if (parts.launches[i]) selected[reader.launches()[i].program->id()] = true;
  }
  for (const Program& program : reader.programs()) {
    if (!selected[program.id()]) continue;
    if (form.json) {
      Json one = {{"program", ToJson(program.proto())}};
      for (Pc pc = 0; form.control && pc < program.instruction_count(); ++pc) {
        one["control"].push_back(ControlJson(program.instruction(pc)));
      }
      absl::StrAppend(&sink.text(), JsonLine(one), "\n");
      continue;
    }
    const Listing listing(reader, program, form.control);
    absl::StrAppend(&sink.text(), "program ", program.id(), " ", program.name(), ": ", program.instruction_count(),
                    " instructions, ", program.blocks().size(), " basic blocks, ", program.proto().register_count(),
                    " registers\n");
    if (const std::string code = trace::CodeInWords(program.proto()); !code.empty()) {
      absl::StrAppend(&sink.text(), " ", code, "\n");
    }
    for (uint32_t b = 0; b < program.blocks().size(); ++b) {
      const trace::Block& block = program.block(b);
      const trace::v1::Function& function = program.proto().function(static_cast<int>(block.function));
      if (function.first_block() == b) absl::StrAppend(&sink.text(), " function ", function.name(), "\n");
      absl::StrAppend(&sink.text(), "  block ", b, ": ", BlockEndText(program, b), "\n");
      for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
        std::string line = listing.line(pc);
        line.erase(line.find_last_not_of(' ') + 1);
        absl::StrAppend(&sink.text(), "  ", line, "\n");
      }
    }
  }
  return absl::OkStatus();
}

struct DumpArguments {
  std::string trace;
  TraceSelection selection;
  bool program = false;  // the programs instead of the threads
  Form form;
  std::string output;  // -o: empty or "-" = standard output
};

// What threads did, one line per instruction.
int Dump(const DumpArguments& arguments) {
  const auto reader = OpenTrace(arguments.trace);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  const absl::StatusOr<SelectedParts> parts = ReadSelection(arguments.selection, **reader);
  if (!parts.ok()) return ReportError(kWrongUsage, parts.status());
  const std::string output = arguments.output.empty() ? "-" : arguments.output;
  if (const absl::Status status = CheckNotAnInput("-o", output, {arguments.trace}, "the trace itself"); !status.ok()) {
    return ReportError(kWrongUsage, status);
  }
  absl::StatusOr<OutputFile> file = OutputFile::Create(output);
  if (!file.ok()) return ReportError(absl::IsInvalidArgument(file.status()) ? kWrongUsage : kFailed, file.status());
  Sink sink(*std::move(file));
  absl::Status status;
  bool open = true;
  if (arguments.program) {
    status = DumpPrograms(**reader, *parts, arguments.form, sink);
  } else {
    for (const trace::LaunchView& launch : (*reader)->launches()) {
      if (!parts->launches[launch.launch.id()]) continue;
      status = DumpLaunch(**reader, launch, *parts, arguments.form, sink, open);
      if (!status.ok() || !open) break;
    }
  }
  if (status.ok()) status = sink.Finish();
  if (status.ok()) return kSuccess;
  return ReportError(absl::IsInvalidArgument(status) ? kWrongUsage : kFailed, status);
}

class TraceDump final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", arguments_.trace, "Trace file")->required();
    AddLaunchOptions(command, arguments_.selection);
    command.add_option("--threads", arguments_.selection.threads, "Only these threads of each block")
        ->check(NotEmpty());
    command
        .add_option("--instructions", arguments_.selection.instructions,
                    "Only these instructions of each thread, counted as it ran them")
        ->check(NotEmpty());
    command.add_flag("--program", arguments_.program, "The static programs instead: blocks, branches, instructions");
    command.add_flag("--control", arguments_.form.control,
                     "Control bits of machine code besides: how the assembler schedules each instruction");
    command.add_flag("--json", arguments_.form.json, "Print JSON, one line per thread or program");
    command.add_option("-o,--output", arguments_.output, "File to write to")->check(NotEmpty());
  }

  int Run() override { return Dump(arguments_); }

 private:
  DumpArguments arguments_;
};

HEDDLE_COMMAND(TraceDump, .name = "trace dump", .place = 4,
               .summary = "Print what threads did, instruction by instruction",
               .footer = std::string(kDumpFooter) + kRanges);

}  // namespace
}  // namespace heddle::tools
