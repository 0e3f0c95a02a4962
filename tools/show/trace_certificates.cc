#include "tools/show/trace_certificates.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "tools/show/finding_table.h"
#include "tools/show/instruction_text.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using trace::LaunchInfo;
using trace::v1::Certificate;

constexpr Table::Align kLeft = Table::Align::kLeft;

std::string Orders(const Certificate& certificate) {
  if (certificate.runs() == 0) return "not certified";
  const uint64_t last = certificate.seed() + certificate.runs() - 1;
  return absl::StrCat(certificate.runs(), certificate.runs() == 1 ? " order, seed " : " orders, seeds ",
                      certificate.seed(), certificate.runs() == 1 ? "" : absl::StrCat(" to ", last));
}

std::string Outcome(const Certificate& certificate) {
  if (!certificate.failure().empty()) return certificate.failure();
  if (certificate.runs() == 0) return "-";
  uint64_t decide = 0;
  uint64_t access = 0;
  for (const trace::v1::InstructionVariance& variance : certificate.instruction()) {
    decide += variance.decisions_changed() != 0;
    access += variance.addresses_changed() != 0;
  }
  std::string text = "unchanged";
  if (decide != 0 || access != 0) {
    text = absl::StrCat(decide, decide == 1 ? " branch and " : " branches and ", access,
                        access == 1 ? " access changed" : " accesses changed");
  }
  if (certificate.memory_size() != 0) absl::StrAppend(&text, ", memory changed");
  if (certificate.race_size() != 0) {
    absl::StrAppend(&text, ", ", certificate.race_size(), certificate.race_size() == 1 ? " race" : " races");
  }
  return text;
}

// What another order ran more often than the recorded one counts as changed, too: there may be more changes than
// executions.
std::string CountAndShare(uint64_t part, uint64_t whole) {
  if (part == 0) return "-";
  if (part > whole) return absl::StrCat(WithThousands(part), " (more than ran)");
  return absl::StrCat(WithThousands(part), " (",
                      Decimal(100 * static_cast<double>(part) / static_cast<double>(whole), 2), " %)");
}

// What tables have of an instruction.
struct Place {
  std::string name;
  std::string source;
};

// Rows of the three tables, by launch, or summed up over the launches of a program that came out alike.
class Rows {
 public:
  Rows(const trace::TraceReader& reader, bool per_launch)
      : reader_(reader),
        per_launch_(per_launch),
        hand_offs_(
            per_launch,
            {{"stored by", kLeft}, {"source", kLeft}, {"used by", kLeft}, {"source", kLeft}, {"how", kLeft}, {"times"}},
            5) {}

  void Add(const trace::LaunchView& launch, const Certificate& certificate) {
    // By launch nothing is ever added to a row: its number is part of the key.
    const uint64_t scope = per_launch_ ? launch.launch.id() : launch.program->id();
    Outcomes& outcome = outcomes_[{scope, Orders(certificate), Outcome(certificate), certificate.lockstep()}];
    Begin(outcome, launch);
    for (const trace::v1::InstructionVariance& variance : certificate.instruction()) {
      Change& change = changes_[{scope, variance.instruction()}];
      Begin(change, launch);
      change.executions += variance.executions();
      change.decisions += variance.decisions_changed();
      change.addresses += variance.addresses_changed();
      change.threads += variance.threads();
    }
    for (const trace::v1::WarpHandOff& hand_off : certificate.hand_off()) {
      const Place writer = PlaceOf(*launch.program, hand_off.writer());
      const Place user = PlaceOf(*launch.program, hand_off.reader());
      hand_offs_.Add(launch, absl::StrCat(hand_off.writer(), " ", hand_off.reader()), hand_off.count(),
                     {writer.name, writer.source, user.name, user.source,
                      UseOfStored(launch.program->instruction(hand_off.reader()).op())});
    }
  }

  std::string Text() const {
    if (outcomes_.empty()) return "\nCertificate: none (this trace was captured once, in one order of threads)\n";
    const char* const first = per_launch_ ? "launch" : "launches";
    Table launches({{first}, {"kernel", kLeft}, {"other orders", kLeft}, {"outcome", kLeft}, {"lockstep", kLeft}});
    ForSome(outcomes_, [&](const auto& key, const Outcomes& row) {
      launches.AddRow({absl::StrCat(row.number), trace::ShortKernelName(row.program->name()), std::get<1>(key),
                       std::get<2>(key), std::get<3>(key) ? "yes" : "no"});
    });
    std::string text = absl::StrCat("\nCertificates: launches that ran again with threads and blocks in other orders\n",
                                    launches.Text(2), MoreRows(outcomes_.size()));
    if (!changes_.empty()) absl::StrAppend(&text, ChangesText(first));
    return absl::StrCat(
        text, hand_offs_.Text("Shared memory through which threads of a warp pass data without synchronization"));
  }

 private:
  struct Row {
    const trace::Program* program = nullptr;
    uint64_t number = 0;  // of the launch, or how many there are
  };
  struct Outcomes : Row {};
  struct Change : Row {
    uint64_t executions = 0;
    uint64_t decisions = 0;
    uint64_t addresses = 0;
    uint64_t threads = 0;
  };

  void Begin(Row& row, const trace::LaunchView& launch) const {
    row.program = launch.program;
    row.number = per_launch_ ? launch.launch.id() : row.number + 1;
  }
  Place PlaceOf(const trace::Program& program, trace::Pc pc) const {
    return {InstructionName(program, pc), SourcePlace(reader_.header(), program.instruction(pc))};
  }
  template <typename Rows, typename Show>
  static void ForSome(const Rows& rows, const Show& show) {
    size_t shown = 0;
    for (const auto& [key, row] : rows) {
      if (shown++ == kMostFindings) return;
      show(key, row);
    }
  }

  std::string ChangesText(const char* first) const {
    Table table({{first},
                 {"instruction", kLeft},
                 {"source", kLeft},
                 {"executions"},
                 {"decided otherwise"},
                 {"other addresses"},
                 {"threads"}});
    bool more_than_ran = false;
    ForSome(changes_, [&](const auto& key, const Change& row) {
      const Place place = PlaceOf(*row.program, key.second);
      table.AddRow({absl::StrCat(row.number), place.name, place.source, WithThousands(row.executions),
                    CountAndShare(row.decisions, row.executions), CountAndShare(row.addresses, row.executions),
                    WithThousands(row.threads)});
      more_than_ran |= row.decisions > row.executions || row.addresses > row.executions;
    });
    return absl::StrCat("\nInstructions that changed (of the orders, that with the most changes)\n", table.Text(2),
                        MoreRows(changes_.size()),
                        more_than_ran
                            ? "  more than ran: another order ran the instruction more often than this trace, "
                              "and each run more counts as changed\n"
                            : "");
  }

  const trace::TraceReader& reader_;
  const bool per_launch_;
  std::map<std::tuple<uint64_t, std::string, std::string, bool>, Outcomes> outcomes_;
  std::map<std::pair<uint64_t, trace::Pc>, Change> changes_;
  FindingTable hand_offs_;
};

}  // namespace

std::string CertificateText(const trace::TraceReader& reader, const trace::TraceInfo& info, bool per_launch) {
  Rows rows(reader, per_launch);
  for (size_t i = 0; i < info.launches.size(); ++i) {
    const LaunchInfo& launch = info.launches[i];
    if (launch.certificate.has_value()) rows.Add(reader.launches()[i], *launch.certificate);
  }
  return rows.Text();
}

}  // namespace heddle::tools
