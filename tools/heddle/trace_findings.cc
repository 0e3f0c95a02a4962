#include "tools/heddle/trace_findings.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/heddle/instruction_text.h"
#include "tools/heddle/table.h"

namespace heddle::tools {
namespace {

using trace::v1::Certificate;

constexpr Table::Align kLeft = Table::Align::kLeft;
constexpr size_t kMostRows = 200;  // of a table

// One table; rows behind the first ones are only counted.
class Rows {
 public:
  explicit Rows(std::vector<Table::Column> columns) : table_(std::move(columns)) {}
  void Add(std::vector<std::string> cells) {
    if (++rows_ <= kMostRows) table_.AddRow(std::move(cells));
  }
  std::string Text(absl::string_view heading) const {
    if (rows_ == 0) return "";
    return absl::StrCat("\n", heading, "\n", table_.Text(2),
                        rows_ > kMostRows ? absl::StrCat("  and ", rows_ - kMostRows, " more, see --json\n") : "");
  }

 private:
  Table table_;
  size_t rows_ = 0;
};

// Instructions and addresses of a launch in words.
struct Words {
  const trace::TraceReader& reader;
  const trace::LaunchView& launch;

  std::string Name(uint32_t pc) const {
    return absl::StrCat(launch.program->instruction(pc).mnemonic(), " at ", uint64_t{pc} * 8);
  }
  std::string Source(uint32_t pc) const { return SourcePlace(reader.header(), launch.program->instruction(pc)); }
};

}  // namespace

std::string FindingsText(const trace::TraceReader& reader) {
  Rows waits({{"launch"},
              {"waits at", kLeft},
              {"source", kLeft},
              {"for", kLeft},
              {"times"},
              {"such as block"},
              {"thread"},
              {"for thread"}});
  Rows outside({{"launch"}, {"reads", kLeft}, {"source", kLeft}, {"times"}, {"first address", kLeft}});
  for (const Certificate& certificate : reader.certificates()) {
    const Words words{reader, reader.launches()[certificate.launch()]};
    const std::string number = absl::StrCat(certificate.launch());
    for (const trace::v1::WarpWait& wait : certificate.warp_wait()) {
      waits.Add({number, words.Name(wait.instruction()), words.Source(wait.instruction()),
                 wait.lock() ? "a lock" : "a change of memory", WithThousands(wait.count()), absl::StrCat(wait.block()),
                 absl::StrCat(wait.thread()), absl::StrCat(wait.other_thread())});
    }
    for (const trace::v1::OutsideRead& read : certificate.outside_read()) {
      outside.Add({number, words.Name(read.instruction()), words.Source(read.instruction()),
                   WithThousands(read.count()), absl::StrCat("0x", absl::Hex(read.address()))});
    }
  }
  return absl::StrCat(
      waits.Text("Threads that wait for others of their warp if they run together"),
      outside.Text("Reads outside all allocations, which the recording let pass (they got what lay there, or zero)"));
}

}  // namespace heddle::tools
