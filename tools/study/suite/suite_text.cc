#include "tools/study/suite/suite_text.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/table.h"
#include "tools/study/suite/inputs/generator.h"
#include "traces/base/printable.h"

namespace heddle::tools::suite {
namespace {

namespace v1 = ::heddle::suite::v1;
using Align = Table::Align;

std::string StateText(const v1::ProgramResult& row) {
  std::string text = row.state() == v1::NOT_RUN ? "not run" : absl::AsciiStrToLower(v1::State_Name(row.state()));
  if (!row.step().empty() && row.step() != "suite") absl::StrAppend(&text, " (", row.step(), ")");
  return text;
}

std::string Why(const v1::ProgramResult& row) {
  std::string text = row.state() == v1::RIGHT ? row.how() : row.reason();
  if (!row.passed_faults().empty()) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", "let pass: ", absl::StrJoin(row.passed_faults(), ", "));
  }
  return text;
}

}  // namespace

std::string ResultText(const v1::SuiteResult& result, const std::string& output) {
  Table table({{"program", Align::kLeft},
               {"state", Align::kLeft},
               {"launches"},
               {"thread-instructions"},
               {"trace"},
               {"build s"},
               {"run s"},
               {"why", Align::kLeft}});
  std::string logs;
  for (const v1::ProgramResult& row : result.program()) {
    const bool recorded = row.launches() > 0;
    table.AddRow({row.program(), StateText(row), recorded ? WithThousands(row.launches()) : "",
                  recorded ? WithThousands(row.thread_instructions()) : "", recorded ? WithUnit(row.trace_bytes()) : "",
                  row.build_seconds() > 0 ? Decimal(row.build_seconds(), 1) : "",
                  row.run_seconds() > 0 ? Decimal(row.run_seconds(), 1) : "", Why(row)});
    if (!row.log().empty()) absl::StrAppend(&logs, "  ", row.program(), ": ", output, "/", row.log(), "\n");
  }
  std::string text = table.Text();
  if (!logs.empty()) absl::StrAppend(&text, "\nwhat they printed:\n", PrintableText(logs));
  absl::StrAppend(&text, "\n", Printable(result.suite()), ", size ", Printable(result.size()), ": ", result.right(),
                  " right, ", result.unchecked(), " unchecked, ", result.wrong(), " wrong, ", result.failed(),
                  " failed, ", result.skipped(), " skipped, of ", result.program_size(), "; traces ",
                  WithUnit(result.trace_bytes()), "; ", Decimal(result.seconds(), 1), " s\n");
  if (!result.corpus().empty()) absl::StrAppend(&text, "corpus: ", Printable(result.corpus()), "\n");
  return text;
}

std::string ProgramsText(const v1::Suite& suite) {
  Table table({{"program", Align::kLeft},
               {"licence", Align::kLeft},
               {"sizes", Align::kLeft},
               {"right if", Align::kLeft},
               {"known faults", Align::kLeft}});
  for (const v1::Program& program : suite.program()) {
    std::vector<std::string> sizes;
    for (const v1::Size& size : program.size()) sizes.push_back(size.name());
    std::vector<std::string> faults;
    for (const v1::Fault& fault : program.fault()) faults.push_back(fault.what());
    const std::string right = !program.missing().empty()      ? absl::StrCat("missing: ", program.missing())
                              : program.check().how().empty() ? "unchecked"
                                                              : program.check().how();
    table.AddRow({program.name(), program.license().empty() ? suite.source().license() : program.license(),
                  absl::StrJoin(sizes, " "), right, absl::StrJoin(faults, "; ")});
  }
  return absl::StrCat(Printable(suite.name()), ": ", Printable(suite.title()), "\n",
                      Printable(suite.source().repository()), " at ", Printable(suite.source().commit()), "\n\n",
                      table.Text());
}

std::string GeneratorsText() {
  Table table({{"generator", Align::kLeft},
               {"parameter", Align::kLeft},
               {"default"},
               {"from"},
               {"to"},
               {"what", Align::kLeft}});
  for (const auto& [name, generator] : InputGenerators()) {
    table.AddRow({name, "", "", "", "", generator.what});
    for (const InputParameter& parameter : generator.parameters) {
      table.AddRow({"", parameter.name, absl::StrCat(parameter.otherwise), absl::StrCat(parameter.least),
                    absl::StrCat(parameter.most), parameter.what});
    }
  }
  return table.Text();
}

}  // namespace heddle::tools::suite
