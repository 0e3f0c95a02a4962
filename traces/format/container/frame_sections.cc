#include "traces/format/container/frame_sections.h"

#include <cstdint>
#include <utility>

#include "proto/trace.pb.h"
#include "traces/base/varint.h"

namespace heddle::trace {
namespace {

// A table costs about a hundred bytes, so small fields share one with what is around them.
constexpr size_t kLeastSection = 2048;

class SectionFinder {
 public:
  explicit SectionFinder(absl::string_view raw) : raw_(raw) {}

  // A level is what a message is: each kind of message has its fields of interest.
  enum Level { kFile, kRecord, kChunk, kPaths, kColumn, kBytes, kOther };

  void Find(size_t begin, size_t end, Level level) {
    size_t at = begin;
    while (at < end) {
      uint64_t tag;
      uint64_t size;
      if (!Varint(at, end, tag)) return;
      constexpr uint64_t kVarintType = 0;
      constexpr uint64_t kBytesType = 2;
      if ((tag & 7) == kVarintType) {
        if (!Varint(at, end, size)) return;
        if (level == kChunk && tag >> 3 == v1::BlockChunk::kThreadInstructionsFieldNumber) {
          found.thread_instructions += size;
        }
        continue;
      }
      if ((tag & 7) != kBytesType || !Varint(at, end, size) || size > end - at) return;
      const Level inner = Inner(level, tag >> 3);
      found.chunks += inner == kChunk;
      if (level == kColumn && tag >> 3 == v1::AddressColumn::kResidualBitsFieldNumber) found.random_bytes += size;
      if (inner == kBytes) {
        if (size >= kLeastSection) {
          Add(at);
          Add(at + size);
        }
      } else if (inner != kOther) {
        Find(at, at + size, inner);
      }
      at += size;
    }
  }

  FrameSections found;

 private:
  static Level Inner(Level level, uint64_t field) {
    switch (level) {
      case kFile:
        return field == v1::TraceFile::kRecordFieldNumber ? kRecord : kOther;
      case kRecord:
        return field == v1::Record::kChunkFieldNumber ? kChunk : kOther;
      case kChunk:
        return field == v1::BlockChunk::kPathsFieldNumber        ? kPaths
               : field == v1::BlockChunk::kColumnFieldNumber     ? kColumn
               : field == v1::BlockChunk::kPathNumberFieldNumber ? kBytes
                                                                 : kOther;
      case kPaths:
        return field == v1::PathTable::kDecisionBitsFieldNumber ? kBytes : kOther;
      case kColumn:
        return field == v1::AddressColumn::kResidualFieldNumber ||
                       field == v1::AddressColumn::kResidualBitsFieldNumber ||
                       field == v1::AddressColumn::kOtherValuesFieldNumber
                   ? kBytes
                   : kOther;
      default:
        return kOther;
    }
  }

  void Add(size_t at) {
    // Few bytes between two fields go with the second.
    if (at == 0 || at >= raw_.size() || (!found.ends.empty() && at - found.ends.back() < kLeastSection)) return;
    found.ends.push_back(at);
  }

  bool Varint(size_t& at, size_t end, uint64_t& out) const {
    const char* p = raw_.data() + at;
    const bool read = ReadVarint(p, raw_.data() + end, out);
    at = static_cast<size_t>(p - raw_.data());
    return read;
  }

  absl::string_view raw_;
};

}  // namespace

FrameSections FindFrameSections(absl::string_view raw) {
  SectionFinder finder(raw);
  finder.Find(0, raw.size(), SectionFinder::kFile);
  return std::move(finder.found);
}

}  // namespace heddle::trace
