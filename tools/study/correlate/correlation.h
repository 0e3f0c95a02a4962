// Replays beside a card: every comparison of every kernel, and what they come to.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATION_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "proto/hardware.pb.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "tools/study/correlate/ladder.h"
#include "traces/format/read/reader.h"

namespace heddle::tools::correlate {

// One comparison of one kernel.
struct Compared {
  std::optional<double> ours;
  std::optional<double> card;
  // Signed: positive if ours is more. In per cent of the card's, or in the unit of the comparison.
  std::optional<double> error;
  std::string why;             // there is no error
  std::optional<bool> within;  // the bar; nothing without an error, without a bar, or for a short kernel
};

// One workload at one size.
struct KernelCorrelation {
  std::string workload;
  std::string size;
  std::string trace;  // file name without folders
  std::string trace_digest;
  size_t launches = 0;       // that are compared
  size_t card_launches = 0;  // that the card has run
  std::string problem;       // why nothing could be compared; then `compared` has only reasons
  std::vector<std::string> notes;
  std::optional<double> microseconds;  // on the card, of the compared launches: the mean of a launch
  bool is_short = false;               // less than Ladder::least_microseconds, or unknown
  std::vector<Compared> compared;      // by comparison
  std::optional<size_t> first_beyond;  // the first rung with an error beyond its bar
  std::optional<double> log_ratio;     // of our cycles by the card's; nothing for a short kernel

  // WORKLOAD or WORKLOAD-SIZE.
  std::string name() const;
};

// A comparison over all kernels that count for it.
struct ComparisonSummary {
  size_t kernels = 0;   // with an error
  size_t left_out = 0;  // short ones that have an error
  std::optional<double> mean_absolute;
  std::optional<double> bias;              // mean of the signed errors
  std::optional<double> rank_correlation;  // Spearman's, of ours with the card's
  size_t judged = 0;                       // kernels with a bar
  size_t within = 0;                       // of these
};

// Whether kernels that are far off on a lower rung are so on a higher one, too.
struct Explanation {
  size_t lower = 0;  // rungs
  size_t higher = 0;
  size_t kernels = 0;                 // with both errors
  std::optional<double> correlation;  // Spearman's, of the signed errors of both headlines
  bool beyond_chance = false;         // it would be as strong in less than one of 20 samples without a relation
};

struct Correlation {
  std::vector<KernelCorrelation> kernels;   // by name
  std::vector<ComparisonSummary> summary;   // by comparison
  std::vector<Explanation> explanations;    // by higher rung, then by lower
  std::vector<std::string> without_trace;   // kernels of the card
  std::vector<std::string> without_kernel;  // traces
};

// One kernel: the card's launches with those of the result that have their numbers. A launch whose kernel or geometry
// differs is a problem of the whole kernel: then these are two different runs. Launches of which not all blocks were
// recorded are left out, with a note. `ladder` says what is compared.
KernelCorrelation Correlate(const Ladder& ladder, const hardware::v1::Kernel& card, const trace::TraceReader& trace,
                            const result::v1::Result& result, const machine::v1::Machine& machine);

// The same for a kernel that could not be replayed.
KernelCorrelation NotReplayed(const Ladder& ladder, const hardware::v1::Kernel& card, const trace::TraceReader& trace,
                              const std::string& problem);

// What the kernels come to. Sorts them.
void Summarise(const Ladder& ladder, Correlation& correlation);

// The explanation with the strongest correlation for this rung among those beyond chance; null if there is none.
const Explanation* BestExplanation(const Correlation& correlation, size_t rung);

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATION_H_
