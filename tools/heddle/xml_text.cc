#include "tools/heddle/xml_text.h"

#include "absl/strings/str_replace.h"
#include "traces/format/printable.h"

namespace heddle::tools {

std::string XmlText(std::string_view text) {
  return absl::StrReplaceAll(trace::Printable(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace heddle::tools
