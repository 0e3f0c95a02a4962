// `heddle trace info`.
#include "traces/format/read/info.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"
#include "tools/show/instruction_text.h"
#include "tools/show/machine_report.h"
#include "tools/show/trace_certificates.h"
#include "tools/show/trace_findings.h"
#include "tools/show/waits_report.h"
#include "tools/show/writers_report.h"
#include "traces/base/printable.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using trace::ColumnInfo;
using trace::LaunchInfo;
using trace::TraceInfo;
using trace::TraceReader;

using enum Table::Align;
constexpr size_t kMostInLine = 200;  // characters of a name
constexpr const char* kModels[] = {"separable", "time", "relative", "chain", "induction", "counted"};

std::string Extent(const trace::v1::Dim3& dim) {
  std::string text = absl::StrCat(std::max(dim.x(), 1u));
  if (dim.y() > 1 || dim.z() > 1) absl::StrAppend(&text, "x", std::max(dim.y(), 1u));
  if (dim.z() > 1) absl::StrAppend(&text, "x", dim.z());
  return text;
}

std::string Share(double part, double whole) {
  return whole <= 0 ? "-" : absl::StrCat(Decimal(100 * part / whole, 1), " %");
}

std::string PerInstruction(uint64_t bytes, uint64_t instructions) {
  return instructions == 0 ? "-" : Decimal(static_cast<double>(bytes) / static_cast<double>(instructions), 4);
}

// ------------------------------------------------------------------------------------------------------------- text

// A line for each kind of code that did not come from the trace's own compiler, with the kernels that have it.
std::string GivenCode(const TraceReader& reader) {
  constexpr size_t kMostNamed = 5;
  std::map<std::string, std::vector<std::string>> kernels;  // by what their code is
  for (const trace::Program& program : reader.programs()) {
    std::string code = trace::CodeInWords(program.proto());
    if (!code.empty()) kernels[std::move(code)].push_back(trace::ShortKernelName(program.name()));
  }
  std::string text;
  for (auto& [code, names] : kernels) {
    const size_t more = names.size() - std::min(names.size(), kMostNamed);
    names.resize(names.size() - more);
    absl::StrAppend(&text, "Code         ", CutText(code, kMostInLine), ": ", absl::StrJoin(names, ", "),
                    more == 0 ? "" : absl::StrCat(" and ", more, " more"), "\n");
  }
  return text;
}

std::string Header(const std::string& path, const TraceReader& reader, const TraceInfo& info) {
  const trace::v1::FileHeader& header = reader.header();
  std::string text = absl::StrCat(
      path, ": ", WithUnit(info.file_bytes), ", ", WithThousands(info.thread_instructions), " thread-instructions",
      info.thread_instructions == 0
          ? ""
          : absl::StrCat(" (", Decimal(info.bytes_per_thread_instruction(), 4), " bytes each)"),
      ", ", WithThousands(info.accesses), " memory accesses\n");
  absl::StrAppend(&text, "Digest       ", info.digest, "\n");
  absl::StrAppend(&text, "Format       ", header.major(), ".", header.minor());
  // What shows only when chunks have been encoded.
  for (const std::string& feature : reader.index().required_feature()) absl::StrAppend(&text, " with ", feature);
  absl::StrAppend(&text, ", level ", CutText(header.abstraction_level(), kMostInLine), ", written by ",
                  CutText(header.producer(), kMostInLine), "\n");
  absl::StrAppend(
      &text, "Compiled     ",
      CutText(absl::StrCat(header.target(), ", ", header.compiler(), " ", header.optimization()), kMostInLine), "\n");
  absl::StrAppend(&text, GivenCode(reader));
  absl::StrAppend(&text, "Warp width   ",
                  header.warp_width() == 0 ? "no kernel depends on it"
                                           : absl::StrCat(header.warp_width(), " is what shuffles and votes saw"),
                  "\n");
  return text;
}

// What whoever wrote the trace has noted, such as why it ends where it does.
std::string Annotations(const TraceReader& reader) {
  if (reader.annotations().empty()) return "";
  constexpr size_t kMostShown = 4000;  // of a note
  std::string text = "\nNotes\n";
  for (const trace::v1::Annotation& annotation : reader.annotations()) {
    const std::string value = absl::StrReplaceAll(CutText(annotation.value(), kMostShown), {{"\n", "\n    "}});
    absl::StrAppend(&text, "  ", CutText(annotation.key(), kMostInLine), ": ", value, "\n");
  }
  return text;
}

// The launches of one kernel together.
struct KernelSum {
  std::string name;
  uint64_t launches = 0;
  uint64_t recorded = 0;  // of them
  uint64_t blocks = 0;    // recorded, as all below
  uint64_t thread_instructions = 0;
  uint64_t accesses = 0;
  uint64_t frame_bytes = 0;
  double lanes = 0;  // that warps offer where their threads diverge as little as any policy can make them
  trace::DivergenceSummary divergence;
};

// In the order of their first launches.
std::vector<KernelSum> SumKernels(const TraceReader& reader, const TraceInfo& info) {
  std::vector<KernelSum> sums;
  std::map<uint32_t, size_t> place_of;  // by program
  for (size_t i = 0; i < info.launches.size(); ++i) {
    const LaunchInfo& launch = info.launches[i];
    const auto [place, is_new] = place_of.emplace(reader.launches()[i].program->id(), sums.size());
    if (is_new) sums.emplace_back().name = trace::ShortKernelName(launch.kernel);
    KernelSum& sum = sums[place->second];
    ++sum.launches;
    if (!launch.recorded) continue;
    ++sum.recorded;
    sum.blocks += launch.blocks;
    sum.thread_instructions += launch.thread_instructions;
    sum.accesses += launch.accesses;
    sum.frame_bytes += launch.frame_bytes;
    const trace::DivergenceSummary& divergence = launch.divergence;
    if (divergence.lane_activity_bound > 0) {
      sum.lanes += static_cast<double>(launch.thread_instructions) / divergence.lane_activity_bound;
    }
    sum.divergence.warps += divergence.warps;
    sum.divergence.uniform_warps += divergence.uniform_warps;
    sum.divergence.warp_branches += divergence.warp_branches;
    sum.divergence.divergent_warp_branches += divergence.divergent_warp_branches;
    sum.divergence.warp_guards += divergence.warp_guards;
    sum.divergence.divergent_warp_guards += divergence.divergent_warp_guards;
    sum.divergence.distinct_paths += divergence.distinct_paths;
  }
  for (KernelSum& sum : sums) {
    if (sum.lanes > 0) sum.divergence.lane_activity_bound = static_cast<double>(sum.thread_instructions) / sum.lanes;
  }
  return sums;
}

std::string Kernels(const std::vector<KernelSum>& kernels) {
  Table table({{"kernel", kLeft},
               {"launches"},
               {"recorded"},
               {"blocks recorded"},
               {"thread-instructions"},
               {"accesses"},
               {"bytes"},
               {"per instruction"}});
  for (const KernelSum& kernel : kernels) {
    table.AddRow({kernel.name, WithThousands(kernel.launches),
                  kernel.recorded == kernel.launches ? "all" : WithThousands(kernel.recorded),
                  WithThousands(kernel.blocks), WithThousands(kernel.thread_instructions),
                  WithThousands(kernel.accesses), WithThousands(kernel.frame_bytes),
                  PerInstruction(kernel.frame_bytes, kernel.thread_instructions)});
  }
  return absl::StrCat("\nKernels\n", table.Text(2));
}

// The grid of a launch, and its clusters.
std::string GridText(const trace::v1::Launch& shape) {
  std::string text = Extent(shape.grid());
  if (shape.has_cluster()) absl::StrAppend(&text, " in clusters of ", Extent(shape.cluster()));
  return text;
}

std::string Launches(const TraceReader& reader, const TraceInfo& info) {
  Table table({{"launch"},
               {"kernel", kLeft},
               {"grid", kLeft},
               {"block", kLeft},
               {"blocks recorded"},
               {"thread-instructions"},
               {"accesses"},
               {"bytes"},
               {"per instruction"}});
  for (size_t i = 0; i < info.launches.size(); ++i) {
    const LaunchInfo& launch = info.launches[i];
    const trace::v1::Launch& shape = reader.launches()[i].launch;
    if (launch.recorded) {
      table.AddRow({absl::StrCat(launch.id), trace::ShortKernelName(launch.kernel), GridText(shape),
                    Extent(shape.block()), launch.blocks == launch.grid_blocks ? "all" : WithThousands(launch.blocks),
                    WithThousands(launch.thread_instructions), WithThousands(launch.accesses),
                    WithThousands(launch.frame_bytes), PerInstruction(launch.frame_bytes, launch.thread_instructions)});
    } else {
      table.AddRow({absl::StrCat(launch.id), trace::ShortKernelName(launch.kernel), GridText(shape),
                    Extent(shape.block()), "not recorded", "-", "-", "-", "-"});
    }
  }
  return absl::StrCat("\nLaunches\n", table.Text(2));
}

// By kernel, with the number of launches in front, or by launch, with its number.
std::string Divergence(const TraceInfo& info, const std::vector<KernelSum>& kernels, bool per_launch) {
  const bool guards =
      std::ranges::any_of(info.launches, [](const LaunchInfo& launch) { return launch.divergence.warp_guards != 0; });
  std::vector<Table::Column> columns = {{per_launch ? "launch" : "launches"},
                                        {"kernel", kLeft},
                                        {"lane activity"},
                                        {"warps"},
                                        {"of one path"},
                                        {"branches"},
                                        {"divergent"},
                                        {"distinct paths"}};
  if (guards) columns.insert(columns.end(), {{"guards"}, {"that divide"}});
  Table table(columns);
  const auto add = [&table, guards](uint64_t number, const std::string& kernel, uint64_t thread_instructions,
                                    const trace::DivergenceSummary& divergence) {
    std::vector<std::string> cells = {
        absl::StrCat(number),
        kernel,
        thread_instructions == 0 ? "-" : absl::StrCat(Decimal(100 * divergence.lane_activity_bound, 1), " %"),
        WithThousands(divergence.warps),
        WithThousands(divergence.uniform_warps),
        WithThousands(divergence.warp_branches),
        WithThousands(divergence.divergent_warp_branches),
        WithThousands(divergence.distinct_paths)};
    if (guards) {
      cells.push_back(WithThousands(divergence.warp_guards));
      cells.push_back(WithThousands(divergence.divergent_warp_guards));
    }
    table.AddRow(std::move(cells));
  };
  if (per_launch) {
    for (const LaunchInfo& launch : info.launches) {
      if (!launch.recorded) continue;
      add(launch.id, trace::ShortKernelName(launch.kernel), launch.thread_instructions, launch.divergence);
    }
  } else {
    for (const KernelSum& kernel : kernels) {
      if (kernel.recorded != 0) add(kernel.recorded, kernel.name, kernel.thread_instructions, kernel.divergence);
    }
  }
  return absl::StrCat(
      "\nDivergence in static warps of 32 threads (lane activity: the most that any reconvergence of these warps can "
      "reach;\n"
      "branches: pairs of a warp and a branch that it runs; divergent: its threads do not always decide alike)\n",
      guards ? "(guards: the same of predicates before accesses, barriers and calls)\n" : "", table.Text(2));
}

// What the bytes are spent on, over all launches of a kernel.
struct KernelSize {
  const trace::Program* program = nullptr;
  double paths = 0;
  double other = 0;
  std::map<trace::Pc, ColumnInfo> columns;
};

std::string Sizes(const TraceReader& reader, const TraceInfo& info) {
  std::map<uint32_t, KernelSize> kernels;  // by program
  double whole = 0;
  for (size_t i = 0; i < info.launches.size(); ++i) {
    const LaunchInfo& launch = info.launches[i];
    if (!launch.recorded) continue;
    KernelSize& kernel = kernels[reader.launches()[i].program->id()];
    kernel.program = reader.launches()[i].program;
    kernel.paths += launch.paths.compressed;
    kernel.other += launch.other.compressed;
    whole += launch.paths.compressed + launch.other.compressed;
    for (const ColumnInfo& column : launch.columns) {
      ColumnInfo& sum = kernel.columns[column.instruction];
      sum.bytes.compressed += column.bytes.compressed;
      sum.accesses += column.accesses;
      whole += column.bytes.compressed;
      for (int m = 0; m < ColumnInfo::kModels; ++m) sum.chunks_by_model[m] += column.chunks_by_model[m];
    }
  }
  const auto bytes = [](double number) { return WithThousands(static_cast<uint64_t>(std::llround(number))); };
  Table table({{"kernel", kLeft},
               {"what", kLeft},
               {"source", kLeft},
               {"model", kLeft},
               {"accesses"},
               {"bytes"},
               {"bits each"},
               {"share"}});
  for (const auto& [id, kernel] : kernels) {
    const std::string name = trace::ShortKernelName(kernel.program->name());
    table.AddRow({name, "paths", "-", "-", "-", bytes(kernel.paths), "-", Share(kernel.paths, whole)});
    for (const auto& [pc, column] : kernel.columns) {
      const trace::v1::Instruction& instruction = kernel.program->instruction(pc);
      std::vector<std::string> models;
      for (int m = 0; m < ColumnInfo::kModels; ++m) {
        if (column.chunks_by_model[m] != 0) models.push_back(kModels[m]);
      }
      table.AddRow(
          {name,
           absl::StrCat(trace::Program::HasAddress(instruction) ? "addresses of " : "values of ",
                        instruction.mnemonic(), " at ", pc * 8),
           SourcePlace(reader.header(), instruction), absl::StrJoin(models, ", "), WithThousands(column.accesses),
           bytes(column.bytes.compressed),
           column.accesses == 0 ? "-" : Decimal(8 * column.bytes.compressed / static_cast<double>(column.accesses), 2),
           Share(column.bytes.compressed, whole)});
    }
    table.AddRow({name, "other", "-", "-", "-", bytes(kernel.other), "-", Share(kernel.other, whole)});
  }
  return absl::StrCat("\nSize of the chunks, compressed\n", table.Text(2));
}

// Copies, barriers with roles and matrices, by kernel and instruction; nothing if there are none.
std::string Collectives(const TraceReader& reader, const TraceInfo& info) {
  std::map<uint32_t, std::map<trace::Pc, uint64_t>> runs;  // by program
  for (size_t i = 0; i < info.launches.size(); ++i) {
    for (const auto& [pc, times] : info.launches[i].collectives) {
      runs[reader.launches()[i].program->id()][pc] += times;
    }
  }
  if (runs.empty()) return "";
  Table table({{"kernel", kLeft}, {"instruction", kLeft}, {"source", kLeft}, {"run by threads"}, {"bytes written"}});
  for (const auto& [id, instructions] : runs) {
    const trace::Program& program = reader.programs()[id];
    for (const auto& [pc, times] : instructions) {
      const trace::v1::Instruction& instruction = program.instruction(pc);
      const bool copies = instruction.async().role() == trace::v1::Async::COPY;
      table.AddRow({trace::ShortKernelName(program.name()), instruction.mnemonic(),
                    SourcePlace(reader.header(), instruction), WithThousands(times),
                    copies ? WithThousands(times * instruction.operand(1).bytes()) : "-"});
    }
  }
  return absl::StrCat("\nCollective and asynchronous instructions\n", table.Text(2));
}

// Kernels that are machine code: their registers and what they execute. Nothing if there are none.
std::string MachineCode(const TraceReader& reader, const TraceInfo& info) {
  const std::vector<MachineRow> rows = MachineRows(reader, info);
  return rows.empty() ? ""
                      : absl::StrCat("\nMachine code (", kMachineColumns, ")\n", MachineTable("kernel", rows).Text(2));
}

// Everything but JSON. Few launches are listed; of many, kernels are summed up unless each launch is asked for.
std::string InfoText(const std::string& path, const TraceReader& reader, const TraceInfo& info,
                     const std::vector<WriterPair>& writers, bool all_launches) {
  constexpr size_t kFewLaunches = 20;
  const std::vector<KernelSum> kernels = SumKernels(reader, info);
  const bool per_launch = all_launches || info.launches.size() <= kFewLaunches;
  std::string text = absl::StrCat(Header(path, reader, info), Annotations(reader));
  if (kernels.size() < info.launches.size()) text += Kernels(kernels);
  if (per_launch) {
    text += Launches(reader, info);
  } else {
    absl::StrAppend(&text, "\n", WithThousands(info.launches.size()),
                    " launches, summed up by kernel here and below; --per-launch lists them\n");
  }
  absl::StrAppend(&text, Divergence(info, kernels, per_launch), Collectives(reader, info), MachineCode(reader, info),
                  Sizes(reader, info), WaitsReport(reader, per_launch), WritersText(writers, per_launch),
                  CertificateText(reader, info, per_launch), FindingsText(reader, per_launch));
  return text;
}

// ------------------------------------------------------------------------------------------------------------- JSON

Json BytesJson(const trace::ByteCount& bytes) { return {{"encoded", bytes.encoded}, {"compressed", bytes.compressed}}; }

Json LaunchJson(const TraceReader& reader, size_t index, const LaunchInfo& launch,
                const std::vector<WriterPair>& writers) {
  const trace::LaunchView& view = reader.launches()[index];
  Json json = {{"launch", launch.id},
               {"kernel", launch.kernel},
               {"recorded", launch.recorded},
               {"grid", {view.launch.grid().x(), view.launch.grid().y(), view.launch.grid().z()}},
               {"block", {view.launch.block().x(), view.launch.block().y(), view.launch.block().z()}},
               {"grid_blocks", launch.grid_blocks},
               {"blocks", launch.blocks},
               {"threads_per_block", launch.threads_per_block},
               {"threads", launch.threads},
               {"thread_instructions", launch.thread_instructions},
               {"accesses", launch.accesses},
               {"chunks", launch.chunks},
               {"bytes", launch.frame_bytes},
               {"registers", view.program->proto().register_count()},
               {"static_shared_bytes", view.program->proto().static_shared_bytes()},
               {"dynamic_shared_bytes", view.launch.dynamic_shared_bytes()},
               {"paths", BytesJson(launch.paths)},
               {"other", BytesJson(launch.other)},
               {"columns", Json::array()}};
  for (const ColumnInfo& column : launch.columns) {
    Json chunks = Json::object();
    for (int m = 0; m < ColumnInfo::kModels; ++m) chunks[kModels[m]] = column.chunks_by_model[m];
    const trace::v1::Instruction& instruction = view.program->instruction(column.instruction);
    json["columns"].push_back({{"instruction", column.instruction},
                               {"pc", uint64_t{column.instruction} * 8},
                               {"mnemonic", instruction.mnemonic()},
                               {"source", SourcePlace(reader.header(), instruction)},
                               {"accesses", column.accesses},
                               {"chunks", chunks},
                               {"bytes", BytesJson(column.bytes)}});
  }
  const trace::DivergenceSummary& divergence = launch.divergence;
  json["divergence"] = {{"warps", divergence.warps},
                        {"uniform_warps", divergence.uniform_warps},
                        {"warp_branches", divergence.warp_branches},
                        {"divergent_warp_branches", divergence.divergent_warp_branches},
                        {"distinct_paths", divergence.distinct_paths}};
  if (view.program->uses_guards()) {
    json["divergence"]["warp_guards"] = divergence.warp_guards;
    json["divergence"]["divergent_warp_guards"] = divergence.divergent_warp_guards;
  }
  if (const trace::v1::KernelProgram& program = view.program->proto();
      program.level() != trace::v1::LEVEL_PTX_COMPILED || !program.stand_in_for().empty()) {
    json["code"] = {{"level", trace::v1::CodeLevel_Name(program.level())},
                    {"producer", program.producer()},
                    {"isa_version", program.isa_version()},
                    {"target", program.target()}};
    if (!program.stand_in_for().empty()) json["code"]["stand_in_for"] = program.stand_in_for();
  }
  if (launch.thread_instructions != 0) json["divergence"]["lane_activity_bound"] = 100 * divergence.lane_activity_bound;
  if (view.launch.resident_blocks() != 0) json["resident_blocks"] = view.launch.resident_blocks();
  for (const auto& [pc, times] : launch.collectives) {
    json["collectives"].push_back(
        {{"instruction", pc}, {"mnemonic", view.program->instruction(pc).mnemonic()}, {"run_by_threads", times}});
  }
  if (!launch.block_runs.empty()) json["machine_code"] = MachineJson(MachineRowOf(*view.program, launch));
  if (view.launch.has_cluster()) json["cluster"] = ToJson(view.launch.cluster());
  if (view.launch.has_parent()) json["parent"] = ToJson(view.launch.parent());
  if (view.launch.graph() != 0) json["graph"] = view.launch.graph();
  if (view.totals.wait_size() != 0) {
    json["waits"] = WaitsJson(reader, view);
    json["waits_not_listed"] = view.totals.waits_not_listed();
  }
  if (nlohmann::ordered_json list = WritersJson(writers, launch.id); !list.empty()) json["last_writers"] = list;
  if (launch.certificate.has_value()) json["certificate"] = ToJson(*launch.certificate);
  return json;
}

Json InfoJson(const std::string& path, const TraceReader& reader, const TraceInfo& info,
              const std::vector<WriterPair>& writers) {
  Json json = {{"schema", 1},
               {"file", path},
               {"digest", info.digest},
               {"bytes", info.file_bytes},
               {"records", info.records},
               {"thread_instructions", info.thread_instructions},
               {"accesses", info.accesses},
               {"header", ToJson(reader.header())},
               {"annotation", Json::array()},
               {"launch", Json::array()}};
  for (const trace::v1::Annotation& annotation : reader.annotations()) {
    json["annotation"].push_back({{"key", annotation.key()}, {"value", annotation.value()}});
  }
  for (size_t i = 0; i < info.launches.size(); ++i) {
    json["launch"].push_back(LaunchJson(reader, i, info.launches[i], writers));
  }
  return json;
}

// Of many launches, kernels are summed up, unless each launch is asked for.
int ShowInfo(const std::string& path, bool per_launch, bool json) {
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  const absl::StatusOr<TraceInfo> info = trace::DescribeTrace(**reader);
  if (!info.ok()) return ReportError(kFailed, info.status());
  const absl::StatusOr<std::vector<WriterPair>> writers = CountWriters(**reader);
  if (!writers.ok()) return ReportError(kFailed, writers.status());
  const absl::Status written =
      WriteStandardOutput(json ? JsonLine(InfoJson(path, **reader, *info, *writers)) + "\n"
                               : InfoText((*reader)->name(), **reader, *info, *writers, per_launch));
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

class InfoCommand final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_flag("--per-launch", per_launch_, "Every launch, also of many; else their sums by kernel");
    command.add_option("TRACE", trace_, "Trace file")->required();
    command.add_flag("--json", json_, "Print JSON");
  }

  int Run() override { return ShowInfo(trace_, per_launch_, json_); }

 private:
  std::string trace_;
  bool per_launch_ = false;
  bool json_ = false;
};

HEDDLE_COMMAND(InfoCommand, .name = "trace info", .place = 1,
               .summary = "Launches, sizes, and how the kernel diverges");

}  // namespace
}  // namespace heddle::tools
