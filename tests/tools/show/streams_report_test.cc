// The table of streams.
#include "tools/show/counters/streams_report.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "proto/result.pb.h"

namespace heddle::tools {
namespace {

void AddStream(result::v1::Result& result, uint32_t number, uint64_t waited, uint64_t ran, uint64_t instructions) {
  result::v1::StreamTimes& stream = *result.mutable_side_by_side()->add_stream();
  stream.set_stream(number);
  stream.set_launches(number + 1);
  stream.set_waited(waited);
  stream.set_ran(ran);
  stream.set_ended(waited + ran);
  stream.set_thread_instructions(instructions);
}

TEST(StreamsReport, ARowForEachStream) {
  result::v1::Result result;
  result.mutable_provenance()->set_launches("fill_first");
  EXPECT_EQ(StreamsReport(result, "pdom lrr"), "");
  AddStream(result, 0, 10, 4000, 10'000);
  AddStream(result, 3, 1200, 0, 0);
  EXPECT_EQ(
      StreamsReport(result, "pdom lrr"),
      "\nStreams under pdom lrr, launches by fill_first:\n"
      "  stream  launches  waited    ran  ended   IPC\n"
      "  ------  --------  ------  -----  -----  ----\n"
      "  0              1      10  4,000  4,010  2.50\n"
      "  3              4   1,200      0  1,200     -\n"
      "Cycles that launches waited, to be set up and for SMs, and ran, summed over them; IPC is of those in which "
      "they ran.\n");
}

}  // namespace
}  // namespace heddle::tools
