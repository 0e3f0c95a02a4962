// A correlation as people and programs read it.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATION_REPORT_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATION_REPORT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "proto/hardware.pb.h"
#include "proto/machine.pb.h"
#include "tools/study/correlate/card_data.h"
#include "tools/study/correlate/correlation.h"
#include "tools/study/correlate/hardware_interval.h"
#include "tools/study/correlate/ladder.h"

namespace heddle::tools::correlate {

// All that a report tells. It refers to parts that live as long as it.
struct CorrelationReport {
  const CardData& card;
  const Ladder& ladder;
  const machine::v1::Machine& machine;
  std::optional<hardware::v1::Fit> fit;  // of exactly this machine
  std::string divergence;                // policy of the replays, as on the command line
  std::string divergence_reason;         // why it is the one that is taken if none is named
  std::string scheduler;                 // of the replays, as on the command line
  RunPolicies policies;                  // the same with the value of every parameter
  std::string model_version;
  const Correlation& correlation;
};

// For a terminal or a file of text.
std::string CorrelationText(const CorrelationReport& report);

// Everything, for programs and for the page; no number in it is NaN or infinite.
nlohmann::ordered_json CorrelationJson(const CorrelationReport& report);

// What MachineRecord.errors holds of it: the kernels with a log ratio.
hardware::v1::Errors ErrorsOf(const CorrelationReport& report);

// Sentences that text and page share.
std::string CardSentence(const CorrelationReport& report);     // the card, the visit, the tools
std::string MachineSentence(const CorrelationReport& report);  // fitted to what, and what was held out
std::string MadeUpSentence(const CorrelationReport& report);   // empty for measurements

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATION_REPORT_H_
