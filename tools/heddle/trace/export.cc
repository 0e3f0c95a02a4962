// `heddle trace export`: for Accel-Sim.
#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/console/command.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/exchange/accelsim/export_traces.h"
#include "tools/heddle/exchange_text.h"
#include "tools/inputs/trace_file.h"

namespace heddle::tools {
namespace {

constexpr char kExportFooter[] =
    "\nWarps of 32 threads, formed as by --divergence pdom. Machine code of sm_75, sm_80 and sm_86 is written as it "
    "is;\n"
    "of PTX, opcodes of the Volta generation stand for our classes (docs/how-to/from-accel-sim.md). All blocks of the\n"
    "launches must be recorded.";

int Export(const std::string& path, const std::string& folder, bool compress) {
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  Progress progress("Exporting", true);
  const auto summary = accelsim::ExportTraces(**reader, folder, compress,
                                              [&](uint64_t done, uint64_t total) { progress.Update(done, total); });
  progress.Clear();
  if (!summary.ok()) {
    return ReportFailure(absl::Status(summary.status().code(), absl::StrCat(path, ": ", summary.status().message())));
  }
  for (const std::string& note : summary->notes) Note(note);
  return Print(absl::StrCat(folder, "/kernelslist.g: ", Count(summary->launches, "launch", "launches"), ", ",
                            WithThousands(summary->warp_instructions), " warp instructions\n"));
}

class TraceExport final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("TRACE", trace_, "Trace file")->required();
    command.add_option("--accelsim", folder_, "Folder for kernelslist.g and the kernels; new or empty")->required();
    command.add_flag("--xz", compress_, "Compress the kernels");
  }

  int Run() override { return Export(trace_, folder_, compress_); }

 private:
  std::string trace_;
  std::string folder_;
  bool compress_ = false;
};

HEDDLE_COMMAND(TraceExport, .name = "trace export", .place = 10, .summary = "Make traces for Accel-Sim of one of ours",
               .footer = kExportFooter);

}  // namespace
}  // namespace heddle::tools
