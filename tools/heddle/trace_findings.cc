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
  static std::string Thread(uint64_t block, uint32_t thread) { return absl::StrCat(block, ", ", thread); }
  // "byte 16 of 'a'".
  std::string Place(uint64_t address) const {
    for (const trace::v1::Allocation& allocation : launch.launch.allocation()) {
      if (address - allocation.base() >= allocation.bytes()) continue;
      return absl::StrCat("byte ", address - allocation.base(), " of '", allocation.name(), "'");
    }
    return absl::StrCat("0x", absl::Hex(address));
  }
};

}  // namespace

std::string FindingsText(const trace::TraceReader& reader) {
  Rows races({{"launch"},
              {"stored by", kLeft},
              {"source", kLeft},
              {"used by", kLeft},
              {"source", kLeft},
              {"how", kLeft},
              {"places"},
              {"such as", kLeft},
              {"by block, thread", kLeft},
              {"and by", kLeft}});
  Rows memory(
      {{"launch"}, {"allocation", kLeft}, {"bytes"}, {"of"}, {"from", kLeft}, {"stored by", kLeft}, {"source", kLeft}});
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
    for (const trace::v1::Race& race : certificate.race()) {
      const bool overwritten = words.launch.program->instruction(race.other()).op() == trace::v1::OP_STORE;
      races.Add({number, words.Name(race.writer()), words.Source(race.writer()), words.Name(race.other()),
                 words.Source(race.other()), overwritten ? "overwritten" : "loaded", WithThousands(race.places()),
                 words.Place(race.address()), Words::Thread(race.writer_block(), race.writer_thread()),
                 Words::Thread(race.other_block(), race.other_thread())});
    }
    for (const trace::v1::MemoryDifference& difference : certificate.memory()) {
      std::string name;
      uint64_t bytes = 0;
      for (const trace::v1::Allocation& allocation : words.launch.launch.allocation()) {
        if (allocation.base() != difference.base()) continue;
        name = allocation.name();
        bytes = allocation.bytes();
      }
      memory.Add({number, name, WithThousands(difference.bytes()), WithThousands(bytes),
                  words.Place(difference.address()), words.Name(difference.writer()),
                  words.Source(difference.writer())});
    }
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
      races.Text("Races in global memory: accesses of different threads that nothing orders"),
      memory.Text("Memory that a run in another order left otherwise (of the orders, that with the most bytes)"),
      waits.Text("Threads that wait for others of their warp if they run together"),
      outside.Text("Reads outside all allocations, which the recording let pass (they got what lay there, or zero)"));
}

}  // namespace heddle::tools
