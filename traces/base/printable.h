// Text that was written by others, made fit to be shown: on a terminal, in a table, in a file that we write.
#ifndef HEDDLE_TRACES_BASE_PRINTABLE_H_
#define HEDDLE_TRACES_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle {

// Whether `text` is one line of UTF-8 without anything that acts instead of being seen: control characters (C0, DEL,
// C1), line and paragraph separators, marks and overrides of the writing direction, and code points that XML lacks.
bool IsPrintable(std::string_view text);
// IsPrintable for several lines: line feeds and tabs are allowed too.
bool IsPrintableText(std::string_view text);

// `text` with such characters as escapes: \n, \r, \t, else \u and four hexadecimal digits, as JSON has them, so that a
// JSON text stays one; bytes that are no UTF-8 as \x and two digits. What is printable stays as it is.
std::string Printable(std::string_view text);
std::string PrintableText(std::string_view text);

// The beginning of a text of more than `most` bytes, with "..." as its last characters; never half a character.
std::string CutText(std::string_view text, size_t most);

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_PRINTABLE_H_
