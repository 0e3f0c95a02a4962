// The style sheets of our SVG drawings.
#ifndef HEDDLE_TOOLS_DRAWING_DRAWING_STYLE_H_
#define HEDDLE_TOOLS_DRAWING_DRAWING_STYLE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace heddle::tools {

// What all drawings have: paper, text, titles (t), what is less important (s), where text stands (m, e), lines (l); and
// the rules of one drawing, `light` and what of them changes where the reader prefers dark. Values are literal, and the
// dark ones are a sheet of their own: librsvg, Inkscape and what office programs use know neither variables nor media
// queries, and draw in black what they cannot read.
inline std::string DrawingStyle(absl::string_view light, absl::string_view dark) {
  return absl::StrCat(R"svg(<style>
.paper{fill:#ffffff}
text{font-size:12px;font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1a1a1a}
.t{font-size:14px;font-weight:bold}.s{fill:#5c5c5c}.m{text-anchor:middle}.e{text-anchor:end}
.l{stroke:#d0d0d0;fill:none}
)svg",
                      light, R"svg(</style>
<style>
@media (prefers-color-scheme:dark){
.paper{fill:#15181c}
text{fill:#ececec}
.s{fill:#a8adb3}
.l{stroke:#3c4147}
)svg",
                      dark, R"svg(}
</style>
)svg");
}

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_DRAWING_STYLE_H_
