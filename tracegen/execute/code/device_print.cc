#include "tracegen/execute/code/device_print.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tracegen/execute/code/half_precision.h"

namespace heddle::tracegen {
namespace {

// One conversion of a format, such as "%-8.3v4hlf".
struct Conversion {
  std::string flags;      // flags, width and precision, with numbers in place of stars
  uint32_t elements = 1;  // above 1: a vector
  std::string length;     // hh, h, hl, l, ll, z, t, j
  char kind = 0;
};

class ArgumentReader {
 public:
  explicit ArgumentReader(const char* arguments) : base_(arguments) {}

  void Align(uint64_t bytes) { offset_ = (offset_ + bytes - 1) / bytes * bytes; }
  template <typename T>
  T Next() {
    Align(sizeof(T));
    return NextPacked<T>();
  }
  template <typename T>
  T NextPacked() {
    T value;
    std::memcpy(static_cast<void*>(&value), base_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }
  void Skip(uint64_t bytes) { offset_ += bytes; }

 private:
  const char* base_;
  uint64_t offset_ = 0;
};

template <typename T>
void Append(std::string* text, const std::string& format, T value) {
  char small[64];
  const int size = std::snprintf(small, sizeof(small), format.c_str(), value);
  if (size < 0) return;
  if (static_cast<size_t>(size) < sizeof(small)) {
    text->append(small, static_cast<size_t>(size));
    return;
  }
  const size_t old = text->size();
  text->resize(old + static_cast<size_t>(size) + 1);
  std::snprintf(text->data() + old, static_cast<size_t>(size) + 1, format.c_str(), value);
  text->pop_back();
}

uint32_t ElementBytes(const Conversion& conversion) {
  if (conversion.length == "hh") return 1;
  if (conversion.length == "h") return 2;
  if (conversion.length == "hl") return 4;
  if (conversion.length == "l") return 8;
  return 4;  // also of floats: programs print float4 with %v4f
}

// An integer of a vector, or a scalar whose length says that it is no int.
long long ReadInteger(ArgumentReader& arguments, uint32_t bytes, bool is_signed) {
  switch (bytes) {
    case 1: {
      const auto value = arguments.NextPacked<int8_t>();
      return is_signed ? value : static_cast<uint8_t>(value);
    }
    case 2: {
      const auto value = arguments.NextPacked<int16_t>();
      return is_signed ? value : static_cast<uint16_t>(value);
    }
    case 4: {
      const auto value = arguments.NextPacked<int32_t>();
      return is_signed ? value : static_cast<long long>(static_cast<uint32_t>(value));
    }
    default:
      return arguments.NextPacked<int64_t>();
  }
}

void PrintConversion(const Conversion& conversion, ArgumentReader& arguments, std::string* text) {
  const std::string start = "%" + conversion.flags;
  const char kind = conversion.kind;
  const bool floating = std::strchr("aAeEfFgG", kind) != nullptr;
  const bool is_signed = kind == 'd' || kind == 'i';
  if (conversion.elements > 1) {
    const uint32_t bytes = ElementBytes(conversion);
    // A vector of three takes the room of four.
    const uint32_t room = conversion.elements == 3 ? 4 : conversion.elements;
    arguments.Align(std::min<uint64_t>(uint64_t{room} * bytes, 16));
    for (uint32_t i = 0; i < conversion.elements; ++i) {
      if (i > 0) *text += ',';
      if (floating && bytes == 4) {
        Append(text, start + kind, static_cast<double>(arguments.NextPacked<float>()));
      } else if (floating && bytes == 2) {
        Append(text, start + kind, static_cast<double>(HalfToFloat(arguments.NextPacked<uint16_t>())));
      } else if (floating) {
        Append(text, start + kind, arguments.NextPacked<double>());
      } else {
        Append(text, start + "ll" + kind, ReadInteger(arguments, bytes, is_signed));
      }
    }
    arguments.Skip(uint64_t{room - conversion.elements} * bytes);
    return;
  }
  if (floating) {
    Append(text, start + kind, arguments.Next<double>());
  } else if (kind == 'c') {
    Append(text, start + kind, arguments.Next<int32_t>());
  } else if (kind == 's') {
    const char* value = arguments.Next<const char*>();
    Append(text, start + kind, value != nullptr ? value : "(null)");
  } else if (kind == 'p') {
    Append(text, start + kind, arguments.Next<const void*>());
  } else if (kind == 'n') {
    arguments.Next<const void*>();
  } else {
    const bool wide = conversion.length.find_first_of("lztjL") != std::string::npos && conversion.length != "hl";
    long long value = 0;
    if (wide) {
      value = arguments.Next<int64_t>();
    } else {
      const auto narrow = arguments.Next<int32_t>();
      value = is_signed ? narrow : static_cast<long long>(static_cast<uint32_t>(narrow));
      if (conversion.length == "hh") value = is_signed ? static_cast<int8_t>(narrow) : static_cast<uint8_t>(narrow);
      if (conversion.length == "h") value = is_signed ? static_cast<int16_t>(narrow) : static_cast<uint16_t>(narrow);
    }
    Append(text, start + "ll" + kind, value);
  }
}

// Reads the conversion behind a percent sign. False if it is none; `next` is behind it otherwise.
bool ReadConversion(std::string_view format, size_t* next, ArgumentReader& arguments, Conversion* conversion) {
  size_t at = *next;
  while (at < format.size() && std::strchr("-+ #0123456789.*", format[at]) != nullptr) {
    if (format[at] == '*') {
      conversion->flags += std::to_string(arguments.Next<int32_t>());
    } else {
      conversion->flags += format[at];
    }
    ++at;
  }
  if (at < format.size() && format[at] == 'v') {
    ++at;
    conversion->elements = 0;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9' && conversion->elements <= 16) {
      conversion->elements = 10 * conversion->elements + static_cast<uint32_t>(format[at++] - '0');
    }
    if (conversion->elements < 2 || conversion->elements > 16) return false;
  }
  while (at < format.size() && std::strchr("hlztjL", format[at]) != nullptr) conversion->length += format[at++];
  if (at >= format.size() || std::strchr("diouxXcaAeEfFgGspn", format[at]) == nullptr) return false;
  conversion->kind = format[at];
  *next = at + 1;
  return true;
}

}  // namespace

std::string FormatDeviceText(const char* format_text, const char* packed, uint32_t* conversions) {
  const std::string_view format(format_text);
  ArgumentReader arguments(packed);
  std::string text;
  *conversions = 0;
  for (size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      const size_t end = std::min(format.find('%', at), format.size());
      text.append(format.substr(at, end - at));
      at = end;
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == '%') {
      text += '%';
      at += 2;
      continue;
    }
    size_t next = at + 1;
    Conversion conversion;
    if (!ReadConversion(format, &next, arguments, &conversion)) {
      text += format[at++];
      continue;
    }
    PrintConversion(conversion, arguments, &text);
    ++*conversions;
    at = next;
  }
  return text;
}

}  // namespace heddle::tracegen
