// The texts of messages that others wrote: records of a trace, results.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_PRINTABLE_RECORDS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_PRINTABLE_RECORDS_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>

namespace heddle::trace {

// What MakePrintable has come across.
struct TextReport {
  uint64_t changed = 0;  // texts
  uint64_t grown = 0;    // bytes that they have become longer
  std::string first;     // of these, such as `KernelProgram.name is "\u001b[31m"`; long ones cut
  std::string too_long;  // the first field with a text beyond its limit (limits.h), such as "Allocation.name"; or empty
};

// Makes every text of `message` and of what is in it printable (printable.h): names are one line; notes and command
// lines may have several. Those that are beyond their limit and not printable are cut. Chunks of traces are left alone:
// none of their texts is shown.
TextReport MakePrintable(google::protobuf::Message& message);

// Cuts names and notes beyond their limits, for who writes them.
void CutTexts(google::protobuf::Message& message);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_PRINTABLE_RECORDS_H_
