#include "tools/show/counters/streams_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/console/table.h"
#include "tools/console/with_thousands.h"

namespace heddle::tools {

std::string StreamsReport(const result::v1::Result& result, const std::string& run) {
  if (result.side_by_side().stream_size() == 0) return "";
  Table table({{"stream", Table::Align::kLeft}, {"launches"}, {"waited"}, {"ran"}, {"ended"}, {"IPC"}});
  for (const result::v1::StreamTimes& stream : result.side_by_side().stream()) {
    table.AddRow({absl::StrCat(stream.stream()), WithThousands(stream.launches()), WithThousands(stream.waited()),
                  WithThousands(stream.ran()), WithThousands(stream.ended()),
                  stream.ran() == 0 ? "-"
                                    : absl::StrFormat("%.2f", static_cast<double>(stream.thread_instructions()) /
                                                                  static_cast<double>(stream.ran()))});
  }
  return absl::StrCat("\nStreams under ", run, ", launches by ", result.provenance().launches(), ":\n", table.Text(2),
                      "Cycles that launches waited, to be set up and for SMs, and ran, summed over them; IPC is of "
                      "those in which they ran.\n");
}

}  // namespace heddle::tools
