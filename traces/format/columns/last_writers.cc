#include "traces/format/columns/last_writers.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "traces/base/varint.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

// What of a write is stored, each as a list of its own.
constexpr int kWriteFields = 4;
uint64_t Field(const WriteOf& write, int field) {
  switch (field) {
    case 0:
      return write.block;
    case 1:
      return write.thread;
    case 2:
      return write.access;
    default:
      return write.instruction;
  }
}

absl::Status Wrong(const v1::ExtraColumn& column, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the last writers of instruction ", column.instruction(), ": ", what));
}

}  // namespace

void EncodeLastWriters(std::span<const WrittenRead> reads, v1::BlockChunk& chunk) {
  std::map<Pc, std::vector<const WrittenRead*>> by_instruction;
  for (const WrittenRead& read : reads) by_instruction[read.instruction].push_back(&read);
  if (reads.empty()) by_instruction[0];
  for (const auto& [instruction, list] : by_instruction) {
    v1::ExtraColumn& column = *chunk.add_extra();
    column.set_kind(kLastWriterKind);
    column.set_instruction(instruction);
    std::string& data = *column.mutable_data();
    AppendVarint(data, list.size());
    uint64_t next = 0;
    for (const WrittenRead* read : list) {
      AppendVarint(data, read->position - next);
      next = read->position + 1;
    }
    for (int field = 0; field < kWriteFields; ++field) {
      uint64_t latest = field == 0 ? chunk.first_block() : 0;
      for (const WrittenRead* read : list) {
        const uint64_t value = Field(read->write, field);
        AppendVarint(data, ZigZag(static_cast<int64_t>(value - latest)));
        latest = value;
      }
    }
  }
}

bool HasLastWriters(const v1::BlockChunk& chunk) {
  return std::any_of(chunk.extra().begin(), chunk.extra().end(),
                     [](const v1::ExtraColumn& column) { return column.kind() == kLastWriterKind; });
}

absl::Status DecodeLastWriters(const v1::BlockChunk& chunk, const Program& program, uint64_t grid_blocks,
                               uint64_t block_threads, std::vector<WrittenRead>& reads) {
  reads.clear();
  std::vector<uint64_t> values;
  for (const v1::ExtraColumn& column : chunk.extra()) {
    if (column.kind() != kLastWriterKind) continue;
    VarintReader data(column.data());
    uint64_t count = 0;
    // Every number takes a byte at least.
    if (!data.Read(count) || count > data.left()) return Wrong(column, "too many for their bytes");
    if (count != 0 && (column.instruction() >= program.instruction_count() ||
                       CountColumns(program.instruction(column.instruction())) == 0)) {
      return Wrong(column, "the program has no such access");
    }
    const size_t first = reads.size();
    uint64_t next = 0;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t gap = 0;
      if (!data.Read(gap) || next >= chunk.accesses() || gap >= chunk.accesses() - next) {
        return Wrong(column, "an access that the chunk does not have");
      }
      reads.push_back({next + gap, column.instruction(), {}});
      next += gap + 1;
    }
    for (int field = 0; field < kWriteFields; ++field) {
      uint64_t latest = field == 0 ? chunk.first_block() : 0;
      for (size_t i = first; i < reads.size(); ++i) {
        uint64_t value = 0;
        if (!data.Read(value)) return Wrong(column, "cut short");
        latest += static_cast<uint64_t>(UnZigZag(value));
        WriteOf& write = reads[i].write;
        const uint64_t limit = field == 0   ? grid_blocks
                               : field == 1 ? block_threads
                               : field == 2 ? ~uint64_t{0}
                                            : program.instruction_count();
        if (latest >= limit) return Wrong(column, "a write that the launch cannot have");
        if (field == 0) write.block = latest;
        if (field == 1) write.thread = static_cast<uint32_t>(latest);
        if (field == 2) write.access = latest;
        if (field == 3) write.instruction = static_cast<Pc>(latest);
      }
    }
    if (!data.done()) return Wrong(column, "bytes behind the end");
  }
  std::sort(reads.begin(), reads.end(),
            [](const WrittenRead& a, const WrittenRead& b) { return a.position < b.position; });
  return absl::OkStatus();
}

}  // namespace heddle::trace
