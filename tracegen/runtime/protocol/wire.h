// Bytes on the socket between an application and its device process: fixed headers, and fields written and read one
// after the other, little-endian. Every length is checked: a reader survives any bytes.
#ifndef HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_WIRE_H_
#define HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heddle::device {

// Before every message. Both processes run on one machine, so the layout in memory is the layout on the socket.
struct MessageHeader {
  uint32_t length = 0;    // bytes behind the header
  uint16_t kind = 0;      // MessageKind
  uint16_t flags = 0;     // none yet
  uint64_t sequence = 0;  // of the request; a reply repeats it
};
static_assert(sizeof(MessageHeader) == 16);

// Longer messages are refused on both sides.
inline constexpr uint32_t kMaxMessageBytes = 1u << 30;

// Both archives, Writer and Reader, are called with the fields of a structure in their order on the socket. A field is
// a number, a flag, a text, a list, an array of known length, or a structure T that has a function
//
//   template <typename Archive>
//   void Fields(Archive& archive, typename Archive::template Field<T>& value) { archive(value.one, value.other); }
//
// in its namespace. That one function serves both directions, so that they cannot differ.

// Appends fields to a message.
class Writer {
 public:
  template <typename T>
  using Field = const T;

  template <typename... Parts>
  void operator()(const Parts&... fields) {
    (One(fields), ...);
  }

  template <typename T>
  void Number(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  void One(const T& field) {
    if constexpr (std::is_same_v<T, bool>) {
      Number(static_cast<uint8_t>(field));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      Number(field);
    } else if constexpr (std::is_array_v<T>) {
      for (const auto& element : field) One(element);
    } else {
      Fields(*this, field);
    }
  }
  void One(const std::string& text) { One(std::string_view(text)); }
  void One(const std::string_view& text) {
    Number(static_cast<uint64_t>(text.size()));
    bytes_.append(text);
  }
  template <typename T>
  void One(const std::vector<T>& list) {
    Number(static_cast<uint64_t>(list.size()));
    for (const T& element : list) One(element);
  }

  std::string bytes_;
};

// Takes fields off a message. After a field that is not there, everything read is zero or empty, and ok() is false.
class Reader {
 public:
  template <typename T>
  using Field = T;

  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename... Parts>
  void operator()(Parts&... fields) {
    (One(fields), ...);
  }

  template <typename T>
  void Number(T& value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    value = T{};  // NOLINT(bugprone-invalid-enum-default-initialization): read only where ok()
    if (!Has(sizeof(value))) return;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
  }

  // Every field was there, and no byte is left.
  bool Complete() const { return ok_ && bytes_.empty(); }
  bool ok() const { return ok_; }

 private:
  template <typename T>
  void One(T& field) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      Number(byte);
      field = byte != 0;
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      Number(field);
    } else if constexpr (std::is_array_v<T>) {
      for (auto& element : field) One(element);
    } else {
      Fields(*this, field);
    }
  }
  // A view into the message.
  void One(std::string_view& text) {
    uint64_t size = 0;
    Number(size);
    text = {};
    if (!Has(size)) return;
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  void One(std::string& text) {
    std::string_view view;
    One(view);
    text.assign(view);
  }
  template <typename T>
  void One(std::vector<T>& list) {
    uint64_t size = 0;
    Number(size);
    list.clear();
    // Every element has a byte at least, so a wrong size cannot make room for more than the message is long.
    if (!Has(size)) return;
    for (uint64_t i = 0; i < size && ok_; ++i) One(list.emplace_back());
  }

  bool Has(uint64_t bytes) {
    ok_ = ok_ && bytes <= bytes_.size();
    return ok_;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_WIRE_H_
