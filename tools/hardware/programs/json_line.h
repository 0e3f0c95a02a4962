// Results of the small programs: one JSON object per line on standard output, complete as soon as it is written.
#ifndef HEDDLE_TOOLS_HARDWARE_PROGRAMS_JSON_LINE_H_
#define HEDDLE_TOOLS_HARDWARE_PROGRAMS_JSON_LINE_H_

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace heddle::hardware {

class JsonLine {
 public:
  JsonLine& Text(const char* name, const std::string& value) {
    Name(name);
    text_ += Quoted(value);
    return *this;
  }
  JsonLine& Whole(const char* name, int64_t value) {
    Name(name);
    text_ += std::to_string(value);
    return *this;
  }
  // A number that is not finite is left out: JSON has none.
  JsonLine& Real(const char* name, double value) {
    if (!std::isfinite(value)) return *this;
    Name(name);
    text_ += Number(value);
    return *this;
  }
  JsonLine& Truth(const char* name, bool value) {
    Name(name);
    text_ += value ? "true" : "false";
    return *this;
  }
  JsonLine& Reals(const char* name, const std::vector<double>& values) {
    Name(name);
    text_ += '[';
    for (size_t i = 0; i < values.size(); ++i) text_ += (i == 0 ? "" : ", ") + Number(values[i]);
    text_ += ']';
    return *this;
  }

  void Print() {
    std::printf("{%s}\n", text_.c_str());
    std::fflush(stdout);
    text_.clear();
  }

 private:
  void Name(const char* name) {
    if (!text_.empty()) text_ += ", ";
    text_ += Quoted(name) + ": ";
  }
  static std::string Number(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return text;
  }
  static std::string Quoted(const std::string& value) {
    std::string out = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') out += '\\';
      if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f) {
        out += c;
      } else {
        char escape[8];
        std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned char>(c));
        out += escape;
      }
    }
    return out + "\"";
  }

  std::string text_;
};

}  // namespace heddle::hardware

#endif  // HEDDLE_TOOLS_HARDWARE_PROGRAMS_JSON_LINE_H_
