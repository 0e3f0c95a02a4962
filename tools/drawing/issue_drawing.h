// A drawing of a small replay: issue slots by lane over time, and warps over time.
#ifndef HEDDLE_TOOLS_DRAWING_ISSUE_DRAWING_H_
#define HEDDLE_TOOLS_DRAWING_ISSUE_DRAWING_H_

#include <cstdint>
#include <string>

#include "tools/drawing/issue_recording.h"
#include "traces/format/program/program.h"

namespace heddle::tools {

// What a drawing is to show.
struct DrawingOptions {
  std::string title;        // policies and kernel, say
  uint32_t warp_size = 32;  // lanes
  uint32_t ports = 1;
  bool lanes = true;  // the issue slots of every port by lane: what divergence policies differ in
  bool warps = true;  // the static warps: when they issued, stood at a barrier, or waited for their turn
};

// An SVG document that stands for itself: no scripts, no outside files, light and dark by the reader's choice. Basic
// blocks have colours that the colour-blind tell apart (Okabe and Ito), and are named: blocks 0 to 25 by A to Z, others
// by their number; an instruction that is not the only one of its block by its index behind it. Cycles are core cycles.
std::string DrawIssues(const IssueRecording& recording, const trace::Program& program, const DrawingOptions& options);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_ISSUE_DRAWING_H_
