#include "tools/console/xml_text.h"

#include "absl/strings/str_replace.h"
#include "traces/base/printable.h"

namespace heddle::tools {

std::string XmlText(std::string_view text) {
  return absl::StrReplaceAll(Printable(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace heddle::tools
