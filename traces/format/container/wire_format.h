// What the encoding of Protocol Buffers puts in front of a field, for code that reads or writes it without a parser.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_WIRE_FORMAT_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_WIRE_FORMAT_H_

#include <cstdint>

#include "proto/trace.pb.h"

namespace heddle::trace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// The tag of a field with a number below 16, which is one byte.
constexpr uint8_t TagOf(int field, WireType type) { return static_cast<uint8_t>(field << 3 | type); }

constexpr uint8_t kRecordTag = TagOf(v1::TraceFile::kRecordFieldNumber, kBytes);
constexpr uint8_t kOrdinalTag = TagOf(v1::Record::kOrdinalFieldNumber, kVarint);
constexpr uint8_t kHeaderTag = TagOf(v1::Record::kHeaderFieldNumber, kBytes);
constexpr uint8_t kChunkTag = TagOf(v1::Record::kChunkFieldNumber, kBytes);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_WIRE_FORMAT_H_
