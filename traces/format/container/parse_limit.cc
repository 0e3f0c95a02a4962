#include "traces/format/container/parse_limit.h"

#include "absl/strings/str_cat.h"
#include "traces/base/varint.h"
#include "traces/format/container/wire_format.h"

namespace heddle::trace {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Costs of what the parser allocates, rounded up.
constexpr uint64_t kMessageBytes = 64;  // header, has-bits, cached size, slot in the repeated field
constexpr uint64_t kFieldBytes = 8;
constexpr uint64_t kRepeatedFieldBytes = 24;  // the empty container within its message
constexpr uint64_t kStringBytes = 48;
constexpr uint64_t kUnknownFieldBytes = 32;
constexpr int kMaxDepth = 8;

class AllocationScanner {
 public:
  explicit AllocationScanner(uint64_t limit) : limit_(limit) {}

  bool Scan(const Descriptor& type, absl::string_view bytes, int depth) {
    if (depth > kMaxDepth) return false;
    if (!Add(SizeOf(type))) return false;
    const char* p = bytes.data();
    const char* const end = p + bytes.size();
    uint64_t last_tag = 0;
    const FieldDescriptor* field = nullptr;
    while (p != end) {
      uint64_t tag;
      if (!ReadVarint(p, end, tag) || tag >> 3 == 0 || tag >> 32 != 0) return false;
      if (tag != last_tag) {
        field = type.FindFieldByNumber(static_cast<int>(tag >> 3));
        last_tag = tag;
      }
      uint64_t value;
      switch (tag & 7) {
        case kVarint:
          if (!ReadVarint(p, end, value) || !Add(field == nullptr ? kUnknownFieldBytes : ScalarBytes(*field)))
            return false;
          break;
        case kFixed64:
        case kFixed32: {
          const ptrdiff_t size = (tag & 7) == kFixed64 ? 8 : 4;
          if (end - p < size || !Add(field == nullptr ? kUnknownFieldBytes : ScalarBytes(*field))) return false;
          p += size;
          break;
        }
        case kBytes: {
          if (!ReadVarint(p, end, value) || value > static_cast<uint64_t>(end - p)) return false;
          const absl::string_view body(p, value);
          p += value;
          if (!Body(field, body, depth)) return false;
          break;
        }
        default:  // groups are not part of the schema
          return false;
      }
    }
    return true;
  }

  uint64_t total() const { return total_; }
  bool above_limit() const { return total_ > limit_; }

 private:
  bool Add(uint64_t bytes) {
    total_ += bytes;
    return total_ <= limit_;
  }

  // Repeated fields grow by doubling, so an element may cost twice its size.
  static uint64_t ScalarBytes(const FieldDescriptor& field) { return field.is_repeated() ? 2 * kFieldBytes : 0; }

  static uint64_t SizeOf(const Descriptor& type) {
    uint64_t bytes = kMessageBytes;
    for (int i = 0; i < type.field_count(); ++i) {
      bytes += type.field(i)->is_repeated() ? kRepeatedFieldBytes : kFieldBytes;
    }
    return bytes;
  }

  bool Body(const FieldDescriptor* field, absl::string_view body, int depth) {
    if (field == nullptr) return Add(kUnknownFieldBytes + kStringBytes + body.size());
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Scan(*field->message_type(), body, depth + 1);
      case FieldDescriptor::CPPTYPE_STRING:
        return Add(kStringBytes + body.size());
      default: {
        const uint64_t count = CountVarints(body);  // packed numbers
        const uint64_t element =
            field->cpp_type() == FieldDescriptor::CPPTYPE_INT64 || field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64
                ? 8
                : 4;
        return Add(count * element);
      }
    }
  }

  uint64_t limit_;
  uint64_t total_ = 0;
};

}  // namespace

absl::StatusOr<uint64_t> EstimateParsedBytes(const Descriptor& type, absl::string_view bytes, uint64_t limit) {
  AllocationScanner scanner(limit);
  if (scanner.Scan(type, bytes, 0)) return scanner.total();
  if (scanner.above_limit()) {
    return absl::DataLossError(absl::StrCat("the record would take more than ", limit, " bytes in memory"));
  }
  return absl::DataLossError("the record is not a well-formed message");
}

}  // namespace heddle::trace
