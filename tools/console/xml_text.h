// Text within XML, such as our SVG drawings.
#ifndef HEDDLE_TOOLS_CONSOLE_XML_TEXT_H_
#define HEDDLE_TOOLS_CONSOLE_XML_TEXT_H_

#include <string>
#include <string_view>

namespace heddle::tools {

// `text` on one line for the content of an element or the value of an attribute: markup is escaped, and so is what XML
// has no character for (traces/base/printable.h).
std::string XmlText(std::string_view text);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_XML_TEXT_H_
