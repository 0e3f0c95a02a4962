#include "tools/show/trace_findings.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "tools/show/finding_table.h"
#include "tools/show/instruction_text.h"

namespace heddle::tools {
namespace {

using trace::v1::Certificate;

constexpr Table::Align kLeft = Table::Align::kLeft;

// Instructions and addresses of a launch in words.
struct Words {
  const trace::TraceReader& reader;
  const trace::LaunchView& launch;

  std::string Name(uint32_t pc) const { return InstructionName(*launch.program, pc); }
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

std::string FindingsText(const trace::TraceReader& reader, bool per_launch) {
  FindingTable races(per_launch,
                     {{"stored by", kLeft},
                      {"source", kLeft},
                      {"used by", kLeft},
                      {"source", kLeft},
                      {"how", kLeft},
                      {"places"},
                      {"such as", kLeft},
                      {"by block, thread", kLeft},
                      {"and by", kLeft}},
                     5);
  FindingTable memory(
      per_launch, {{"allocation", kLeft}, {"bytes"}, {"of"}, {"from", kLeft}, {"stored by", kLeft}, {"source", kLeft}},
      1);
  FindingTable waits(per_launch,
                     {{"waits at", kLeft},
                      {"source", kLeft},
                      {"for", kLeft},
                      {"times"},
                      {"such as block"},
                      {"thread"},
                      {"for thread"}},
                     3);
  FindingTable outside(per_launch, {{"reads", kLeft}, {"source", kLeft}, {"times"}, {"first address", kLeft}}, 2);
  for (const Certificate& certificate : reader.certificates()) {
    const trace::LaunchView& launch = reader.launches()[certificate.launch()];
    const Words words{reader, launch};
    for (const trace::v1::Race& race : certificate.race()) {
      races.Add(launch, absl::StrCat(race.writer(), " ", race.other()), race.places(),
                {words.Name(race.writer()), words.Source(race.writer()), words.Name(race.other()),
                 words.Source(race.other()), UseOfStored(launch.program->instruction(race.other()).op()),
                 words.Place(race.address()), Words::Thread(race.writer_block(), race.writer_thread()),
                 Words::Thread(race.other_block(), race.other_thread())});
    }
    for (const trace::v1::MemoryDifference& difference : certificate.memory()) {
      std::string name;
      uint64_t bytes = 0;
      for (const trace::v1::Allocation& allocation : launch.launch.allocation()) {
        if (allocation.base() != difference.base()) continue;
        name = allocation.name();
        bytes = allocation.bytes();
      }
      memory.Add(launch, name, difference.bytes(),
                 {name, WithThousands(bytes), words.Place(difference.address()), words.Name(difference.writer()),
                  words.Source(difference.writer())});
    }
    for (const trace::v1::WarpWait& wait : certificate.warp_wait()) {
      waits.Add(launch, absl::StrCat(wait.instruction(), wait.lock() ? " lock" : ""), wait.count(),
                {words.Name(wait.instruction()), words.Source(wait.instruction()),
                 wait.lock() ? "a lock" : "a change of memory", absl::StrCat(wait.block()), absl::StrCat(wait.thread()),
                 absl::StrCat(wait.other_thread())});
    }
    for (const trace::v1::OutsideRead& read : certificate.outside_read()) {
      outside.Add(launch, absl::StrCat(read.instruction()), read.count(),
                  {words.Name(read.instruction()), words.Source(read.instruction()),
                   absl::StrCat("0x", absl::Hex(read.address()))});
    }
  }
  return absl::StrCat(
      races.Text("Races in global memory: accesses of different threads that nothing orders"),
      memory.Text("Memory that a run in another order left otherwise (of the orders, that with the most bytes)"),
      waits.Text("Threads that wait for others of their warp if they run together"),
      outside.Text("Reads outside all allocations, which the recording let pass (they got what lay there, or zero)"));
}

}  // namespace heddle::tools
