// The ladder from a recording to a card: what is compared on which rung, and how a card's counters form it. It is
// tools/hardware/counters.json, which is built in.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_LADDER_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_LADDER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tools::correlate {

struct Rung {
  std::string name;
  std::string title;
  std::string question;
  bool only_long = false;  // kernels that are short on the card are in no mean and no bar
};

// How one number of a launch follows from the card's counters.
struct CardFormula {
  enum class Kind { kQuotient, kSmallest, kLargest };
  Kind kind = Kind::kQuotient;
  std::vector<std::string> metrics;  // added, or compared
  std::vector<std::string> over;     // quotients: added, and divided by; none = a sum
  std::string weight;                // quotients: factor of every metric, and what is divided by
  double scale = 1;                  // quotients
  bool outputs = false;              // no counters: buffers that differ from the host's
};

struct Comparison {
  std::string name;
  size_t rung = 0;  // of Ladder::rungs
  std::string unit;
  std::string ours;  // name of what forms ours (ours.h)
  CardFormula card;
  bool relative = true;  // the error is in per cent of the card's value, else a difference in the unit
  std::optional<double> bar;
  bool bar_is_goal = false;          // was set as a goal; else our choice
  bool bar_of_machine_code = false;  // holds for traces of machine code alone
  bool headline = false;
  std::string meaning;
};

struct Ladder {
  std::vector<Rung> rungs;  // from the recording up to time
  std::vector<Comparison> comparisons;
  double least_microseconds = 0;
  // The policy that all replays have, and why.
  struct Policy {
    std::string name;
    std::string reason;
  };
  Policy divergence;
  Policy divergence_of_machine_code;  // of traces of machine code

  const Policy& DivergenceFor(bool machine_code) const {
    return machine_code ? divergence_of_machine_code : divergence;
  }

  // Number of the comparison that stands for a rung; nothing if there is none.
  std::optional<size_t> Headline(size_t rung) const;
};

// The text of counters.json. InvalidArgument with the place of what is wrong: unknown rungs, metrics that are not
// listed, comparisons without a name or twice.
absl::StatusOr<Ladder> ParseLadder(std::string_view text);

// The ladder that is built in, and its text. An error is one of this program; a test asks.
const absl::StatusOr<Ladder>& BuiltInLadder();
std::string_view BuiltInLadderText();

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_LADDER_H_
