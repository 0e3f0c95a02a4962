// Annotations of a trace that programs know. Readers depend on none: they are shown to people.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_ANNOTATIONS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_ANNOTATIONS_H_

#include "absl/strings/string_view.h"

namespace heddle::trace {

// Why a capture stopped before its program had launched everything: kRunEnded and the reason.
inline constexpr absl::string_view kCaptureEndKey = "heddle.capture.end";
inline constexpr absl::string_view kRunEnded = "the run ended here: ";
// What could not be recovered from a damaged trace: a line for each thing.
inline constexpr absl::string_view kRecoverKey = "heddle.recover";

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_ANNOTATIONS_H_
