// What must be looked at or changed in the text of a .cu file before clang reads it.
#ifndef HEDDLE_TOOLS_NVCC_SOURCE_TEXT_H_
#define HEDDLE_TOOLS_NVCC_SOURCE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::nvcc {

// Whether a character may be part of a name; whether it is a blank or a line's end.
bool IsWord(char c);
bool IsSpace(char c);

// Behind blanks, line ends and comments from `at` on; in front of blanks and line ends that end at `at`.
size_t SkipSpace(std::string_view text, size_t at);
size_t SkipSpaceBack(std::string_view text, size_t at);

// `text` with blanks in place of comments, and, unless they follow #include, of what strings and characters hold. All
// else stays where it is.
std::string WithoutComments(std::string_view text);

// `text` with "<< <" and ">> >" of kernel launches written as clang wants them, "<<<" and ">>>"; lines and the number
// of characters in each line stay (blanks move behind). Text in comments, strings and character literals is left alone.
std::string JoinLaunchBrackets(std::string_view text);

// Whether a texture or surface reference is declared static. clang drops such a variable from device code unless it is
// told to keep all.
bool HasStaticTexture(std::string_view text);

// `text` with each of them in an inline namespace `name` instead, so that relocatable code of several files may have
// the same names. Lines stay.
std::string NameStaticTextures(std::string_view text, const std::string& name);

// `text` with registers in `asm` statements with operands (`%laneid`) written as clang wants them (`%%laneid`); nvcc
// takes both. Operands (`%0`, `%[name]`, `%c0`) stay.
std::string DoubleRegisterPercents(std::string_view text);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_SOURCE_TEXT_H_
