#include "tools/heddle/trace_certificates.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/heddle/instruction_text.h"
#include "tools/heddle/table.h"
#include "traces/format/kernel_name.h"

namespace heddle::tools {
namespace {

using trace::LaunchInfo;
using trace::v1::Certificate;

constexpr Table::Align kLeft = Table::Align::kLeft;
constexpr size_t kMostRows = 200;  // of a table

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
  if (decide == 0 && access == 0) return "unchanged";
  return absl::StrCat(decide, decide == 1 ? " branch and " : " branches and ", access,
                      access == 1 ? " access changed" : " accesses changed");
}

std::string Share(uint64_t part, uint64_t whole) {
  if (part == 0) return "-";
  return absl::StrCat(WithThousands(part), " (",
                      whole == 0 ? "-" : Decimal(100 * static_cast<double>(part) / static_cast<double>(whole), 2),
                      " %)");
}

std::string More(size_t rows) {
  return rows <= kMostRows ? "" : absl::StrCat("  and ", rows - kMostRows, " more, see --json\n");
}

}  // namespace

std::string CertificateText(const trace::TraceReader& reader, const trace::TraceInfo& info) {
  Table launches({{"launch"}, {"kernel", kLeft}, {"other orders", kLeft}, {"outcome", kLeft}, {"lockstep", kLeft}});
  Table changes({{"launch"},
                 {"instruction", kLeft},
                 {"source", kLeft},
                 {"executions"},
                 {"decided otherwise"},
                 {"other addresses"},
                 {"threads"}});
  Table hand_offs(
      {{"launch"}, {"stored by", kLeft}, {"source", kLeft}, {"loaded by", kLeft}, {"source", kLeft}, {"loads"}});
  size_t rows[3] = {};
  for (size_t i = 0; i < info.launches.size(); ++i) {
    const LaunchInfo& launch = info.launches[i];
    if (!launch.certificate.has_value()) continue;
    const Certificate& certificate = *launch.certificate;
    const trace::Program& program = *reader.launches()[i].program;
    const std::string number = absl::StrCat(launch.id);
    const auto name = [&](trace::Pc pc) {
      return absl::StrCat(program.instruction(pc).mnemonic(), " at ", uint64_t{pc} * 8);
    };
    const auto source = [&](trace::Pc pc) { return SourcePlace(reader.header(), program.instruction(pc)); };
    if (++rows[0] <= kMostRows) {
      launches.AddRow({number, trace::ShortKernelName(launch.kernel), Orders(certificate), Outcome(certificate),
                       certificate.lockstep() ? "yes" : "no"});
    }
    for (const trace::v1::InstructionVariance& variance : certificate.instruction()) {
      if (++rows[1] > kMostRows) continue;
      changes.AddRow({number, name(variance.instruction()), source(variance.instruction()),
                      WithThousands(variance.executions()), Share(variance.decisions_changed(), variance.executions()),
                      Share(variance.addresses_changed(), variance.executions()), WithThousands(variance.threads())});
    }
    for (const trace::v1::WarpHandOff& hand_off : certificate.hand_off()) {
      if (++rows[2] > kMostRows) continue;
      hand_offs.AddRow({number, name(hand_off.writer()), source(hand_off.writer()), name(hand_off.reader()),
                        source(hand_off.reader()), WithThousands(hand_off.count())});
    }
  }
  if (rows[0] == 0) return "\nCertificate: none (this trace was captured once, in one order of threads)\n";
  std::string text = absl::StrCat("\nCertificates: launches that ran again with threads and blocks in other orders\n",
                                  launches.Text(2), More(rows[0]));
  if (rows[1] != 0) {
    absl::StrAppend(&text, "\nInstructions that changed (of the orders, that with the most changes)\n", changes.Text(2),
                    More(rows[1]));
  }
  if (rows[2] != 0) {
    absl::StrAppend(&text, "\nShared memory through which threads of a warp pass data without synchronization\n",
                    hand_offs.Text(2), More(rows[2]));
  }
  return text;
}

}  // namespace heddle::tools
