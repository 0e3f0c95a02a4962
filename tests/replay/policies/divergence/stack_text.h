// The state of a block-wide reconvergence stack, drawn as the papers draw it.
#ifndef HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_STACK_TEXT_H_
#define HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_STACK_TEXT_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/replay/policy_driver.h"
#include "tests/replay/scenario.h"

namespace heddle::replay {

// What BlockStackPolicy::Explain says of one block, with entries in the columns of CAPRI's Figures 2 and 7:
// reconvergence PC, active mask, next PC, WCnt. PCs are blocks of the scenario, a mask has a thread's (hexadecimal)
// number where it is active and x where it is not; a + stands before paths that are being staged. "UMask 011" follows
// if a branch is pending, and "CAPT A=1" if the table has entries.
inline std::string StackText(const Scenario& scenario, const std::string& text) {
  const auto letter = [&](const std::string& pc) {
    return pc == "-" ? pc : std::string(1, scenario.Name(static_cast<Pc>(std::stoul(pc) / 8))[0]);
  };
  std::string out;
  for (size_t at = text.find('('); at != std::string::npos; at = text.find('(', at + 1)) {
    const std::string inside = text.substr(at + 1, text.find(')', at) - at - 1);
    const std::vector<std::string> fields = absl::StrSplit(inside, ',');
    std::string mask;
    for (size_t thread = 0; thread < fields[2].size(); ++thread) {
      absl::StrAppend(&mask, fields[2][thread] == '1' ? absl::StrCat(absl::Hex(thread)) : "x");
    }
    absl::StrAppend(&out, text[at - 1] == '+' ? "+(" : "(", letter(fields[1]), ",", mask, ",", letter(fields[0]), ",",
                    fields[3], ")");
  }
  const std::string umask = "update mask ";
  if (const size_t at = text.find(umask); at != std::string::npos) {
    const size_t first = at + umask.size();
    absl::StrAppend(&out, " UMask ", text.substr(first, text.find_first_not_of("01", first) - first));
  }
  if (const size_t at = text.find("CAPT"); at != std::string::npos) {
    absl::StrAppend(&out, out.empty() ? "CAPT" : " CAPT");
    for (const std::string& entry : std::vector<std::string>(absl::StrSplit(text.substr(at), ' '))) {
      const size_t equals = entry.find('=');
      if (equals == std::string::npos) continue;
      absl::StrAppend(&out, " ", letter(entry.substr(0, equals)), entry.substr(equals));
    }
  }
  return out;
}

// The stack at the end of every cycle of a run.
inline std::map<Cycle, std::string> StacksByCycle(const Scenario& scenario, PolicyDriver::Options options) {
  std::map<Cycle, std::string> stacks;
  options.look = [&](Cycle now, const DivergencePolicy& policy, const WarpTable& table) {
    stacks[now] = StackText(scenario, policy.Explain(table));
  };
  PolicyDriver(scenario, options).Run();
  return stacks;
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_STACK_TEXT_H_
