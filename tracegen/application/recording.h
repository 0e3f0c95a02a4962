// The trace of an application's run: which launches and blocks are recorded, and what is told about the rest.
#ifndef HEDDLE_TRACEGEN_APPLICATION_RECORDING_H_
#define HEDDLE_TRACEGEN_APPLICATION_RECORDING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "tracegen/application/block_choice.h"
#include "tracegen/application/progress_line.h"
#include "tracegen/application/settings.h"
#include "tracegen/execute/launch/geometry.h"
#include "traces/format/program/kernel_pattern.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// What the header of a trace says about the code in it.
struct CodeFacts {
  std::string target;
  std::string compiler;
  std::string optimization;
  std::string ptx_producer;               // of machine code; empty = not known
  std::vector<std::string> source_files;  // base names
  bool meets_warps = false;
};

// What is recorded of a launch.
struct LaunchPlan {
  bool recorded = false;
  trace::v1::BlockSelection selection;
  std::vector<BlockRange> blocks;  // ascending; empty unless recorded
};

// One per device process. A trace holds whole launches only: one that fails is taken back, and the trace ends before it
// and says so.
class Recording {
 public:
  // `path` is the trace's final name; the file appears there when Finish has succeeded.
  Recording(CaptureSettings settings, std::string path);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const CaptureSettings& settings() const { return settings_; }

  // Code has been loaded; what is known when the first launch comes goes into the header at once.
  void AddCode(const CodeFacts& facts);
  // The application's base name, for messages and the trace's provenance.
  void SetProgram(const std::string& name) { outcome_.program = name; }

  // What to record of the next launch.
  LaunchPlan Plan(const trace::v1::KernelProgram& kernel, const Geometry& geometry) const;

  // The next launch is a part of a graph, or a kernel asks for it. Before its kernel is added: the header may have to
  // be written anew.
  absl::Status AllowOrigins();
  // Likewise: it has clusters.
  absl::Status AllowClusters();

  // Puts a kernel into the trace, whose instructions count their source files from 1 in facts.source_files. The same
  // kernel from several modules is there once. Returns its number.
  absl::StatusOr<uint32_t> AddKernel(trace::v1::KernelProgram kernel, const CodeFacts& facts);

  // Begins the next launch, of a kernel that has been added. `launch` lacks recorded and selection, which follow from
  // the plan. Not recorded: the launch stands in its place in the run, and that is all.
  absl::Status BeginLaunch(const std::string& kernel_name, const LaunchPlan& plan, trace::v1::Launch launch);
  // Where its blocks go; null if the launch is not recorded.
  trace::TraceWriter* writer() { return in_launch_ ? writer_.get() : nullptr; }
  // `certificate`: what the recording can stand for, without the launch's number; null if there is nothing to tell.
  absl::Status EndLaunch(trace::v1::Certificate* certificate);
  // The launch has failed: the trace ends before it. `told`: the program prints the reason itself. Errors: those of the
  // file, after which there is no trace.
  absl::Status AbandonLaunch(const std::string& reason, bool told);

  // A copy or fill between launches.
  absl::Status AddTransfer(const trace::v1::Transfer& transfer);

  // The line on stderr, when it is wanted and not too often: `block` of the current launch is running.
  void ShowProgress(uint64_t block, uint64_t thread_instructions);
  // Makes room for a message on stderr.
  void ClearProgress() { progress_.Clear(); }

  // Completes the trace; nothing is written if nothing was launched. Returns what to tell about it.
  CaptureOutcome Finish();

 private:
  // Makes the writer, or makes it anew with more in its header, which stands first in the file.
  absl::Status EnsureHeader(const CodeFacts& facts);
  absl::Status CreateWriter();
  absl::Status ExtendHeader();
  // Remembers an error of the file: there will be no trace. Keeps what has been written if the user wants it.
  absl::Status Break(const absl::Status& status);

  const CaptureSettings settings_;
  const std::string path_;
  trace::KernelPattern kernels_;
  trace::v1::FileHeader header_;
  std::vector<std::string> optimizations_;
  bool header_grew_ = false;
  std::unique_ptr<trace::TraceWriter> writer_;
  std::vector<trace::v1::Transfer> before_;   // transfers before the first launch
  std::map<std::string, uint32_t> programs_;  // by contents
  absl::Status error_;
  CaptureOutcome outcome_;

  // The launch that runs.
  bool in_launch_ = false;
  std::string kernel_name_;
  uint64_t grid_blocks_ = 0;

  ProgressLine progress_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_RECORDING_H_
