// What visits to one card have measured, as far as one correlation takes it.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_CARD_DATA_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_CARD_DATA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hardware.pb.h"
#include "tools/inputs/hardware_files.h"
#include "traces/format/read/reader.h"

namespace heddle::tools::correlate {

// A kernel of a visit. The name is WORKLOAD or WORKLOAD-SIZE.
struct CardKernel {
  std::string name;
  const hardware::v1::Kernel* kernel = nullptr;
  const HardwareVisit* visit = nullptr;
};

// Kernels point into the visits: it is moved, never copied.
struct CardData {
  CardData() = default;
  CardData(CardData&&) = default;
  CardData& operator=(CardData&&) = default;

  std::vector<HardwareVisit> visits;  // newest first
  hardware::v1::CodeSource source = hardware::v1::CODE_SOURCE_UNSPECIFIED;
  std::vector<CardKernel> kernels;  // from that source; of each the newest one
  std::vector<std::string> notes;
  bool cold = false;    // the profiler emptied the caches before each launch
  std::string made_up;  // of the first visit that is no measurement; empty = all are
};

// Whose code on the card a trace stands beside, unless an option says otherwise: "cuda" if it is of machine code, else
// "ptx".
std::string CodeBeside(bool machine_code);

// The sources of code, as options name them: "ptx", "cuda", "cubin".
std::vector<std::string> CodeNames();
std::string CodeName(hardware::v1::CodeSource source);

// All visits of a file or folder, with the kernels whose code is from `code`. Errors: what cannot be read; visits to
// different cards; no kernel from that source, with the sources that there are.
absl::StatusOr<CardData> LoadCard(const std::string& path, const std::string& code);

// Whole programs that ran on the card and are recorded without one; of each the newest visit counts.
struct Applications {
  size_t equal = 0;                    // with the output that they have without a card
  std::vector<std::string> different;  // "NAME: the first difference", or why it did not compile or run
};
Applications ApplicationsOf(const CardData& card);

// The kernel that a trace is of: by the digest, else by the trace's name. Null if there is none.
const CardKernel* KernelOf(const CardData& card, const trace::TraceReader& trace);

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_CARD_DATA_H_
