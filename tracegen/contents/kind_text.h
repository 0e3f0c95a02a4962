// What a buffer holds, as a line of text that a machine without Protocol Buffers reads.
#ifndef HEDDLE_TRACEGEN_CONTENTS_KIND_TEXT_H_
#define HEDDLE_TRACEGEN_CONTENTS_KIND_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "tracegen/contents/contents.h"

namespace heddle::contents {

// Words with one blank between them: the name of the kind, and its values in the order of their declaration. Numbers
// with a fraction are hexadecimal, so nothing is rounded.
std::string KindAsText(const Kind& kind);

// The kind that KindAsText has written; nothing for any other text.
std::optional<Kind> KindFromText(std::string_view text);

}  // namespace heddle::contents

#endif  // HEDDLE_TRACEGEN_CONTENTS_KIND_TEXT_H_
