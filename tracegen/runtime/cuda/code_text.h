// Device code as text, which heddle-nvcc -ptx writes: programs handle PTX as strings, which end at the first zero byte.
// To readers of PTX it is a comment.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_CODE_TEXT_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_CODE_TEXT_H_

#include <string>
#include <string_view>

namespace heddle::cuda {

// First line of the text; lines of hexadecimal digits behind "// " follow, and kCodeTextEnd.
inline constexpr std::string_view kCodeTextStart = "// device code of heddle-nvcc, no PTX\n";
inline constexpr std::string_view kCodeTextEnd = "// end\n";

// `code` (device_code.h) as text.
inline std::string CodeToText(std::string_view code) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr size_t kBytesInLine = 48;
  std::string text(kCodeTextStart);
  for (size_t i = 0; i < code.size(); ++i) {
    if (i % kBytesInLine == 0) text += "// ";
    const auto byte = static_cast<unsigned char>(code[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
    if (i % kBytesInLine == kBytesInLine - 1 || i + 1 == code.size()) text += '\n';
  }
  return text.append(kCodeTextEnd);
}

// The code in such a text, which starts with kCodeTextStart; empty if it is damaged. Nothing behind kCodeTextEnd, or
// behind the first wrong character, is looked at.
inline std::string CodeFromText(const char* text) {
  std::string code;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (text += kCodeTextStart.size(); text[0] == '/' && text[1] == '/' && text[2] == ' ';) {
    text += 3;
    if (text[0] == 'e' && text[1] == 'n') return code;
    for (; digit(text[0]) >= 0; text += 2) {
      if (digit(text[1]) < 0) return {};
      code += static_cast<char>(digit(text[0]) * 16 + digit(text[1]));
    }
    if (*text++ != '\n') return {};
  }
  return {};
}

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_CODE_TEXT_H_
