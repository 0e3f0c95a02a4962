#include "tracegen/machine/cubin/line_table.h"

#include <algorithm>
#include <utility>

#include "llvm/ADT/StringMap.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/Support/MemoryBuffer.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::DWARFDebugLine;

// Rows of one sequence. Where several have one offset, the last one holds.
std::vector<LineRow> SequenceRows(const DWARFDebugLine::LineTable& table, size_t begin, size_t end) {
  std::vector<LineRow> rows;
  for (size_t i = begin; i < end; ++i) {
    const DWARFDebugLine::Row& row = table.Rows[i];
    LineRow line;
    line.offset = row.Address.Address;
    line.line = row.Line;
    if (table.hasFileAtIndex(row.File)) {
      table.getFileNameByIndex(row.File, "", llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, line.file);
    }
    if (!rows.empty() && rows.back().offset > line.offset) continue;
    if (!rows.empty() && rows.back().offset == line.offset) {
      rows.back() = std::move(line);
    } else {
      rows.push_back(std::move(line));
    }
  }
  return rows;
}

}  // namespace

std::map<std::string, std::vector<LineRow>> ReadLineTable(std::string_view debug_line,
                                                          const std::vector<Relocation>& relocations) {
  std::vector<Relocation> starts = relocations;
  std::sort(starts.begin(), starts.end(), [](const Relocation& a, const Relocation& b) { return a.offset < b.offset; });
  const llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> nothing;
  const std::unique_ptr<llvm::DWARFContext> context = llvm::DWARFContext::create(nothing, /*AddrSize=*/8);
  llvm::DWARFDataExtractor data(llvm::StringRef(debug_line.data(), debug_line.size()), /*IsLittleEndian=*/true, 8);
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  std::map<std::string, std::vector<LineRow>> lines;
  size_t sequence = 0;
  uint64_t offset = 0;
  while (data.isValidOffset(offset)) {
    DWARFDebugLine::LineTable table;
    const uint64_t before = offset;
    if (llvm::Error error = table.parse(data, &offset, *context, nullptr, ignore)) {
      llvm::consumeError(std::move(error));
      break;
    }
    size_t begin = 0;
    for (size_t i = 0; i < table.Rows.size(); ++i) {
      if (!table.Rows[i].EndSequence) continue;
      if (sequence < starts.size()) lines[starts[sequence].symbol] = SequenceRows(table, begin, i);
      ++sequence;
      begin = i + 1;
    }
    if (offset <= before) break;
  }
  // Which sequence is whose would be a guess.
  if (sequence != starts.size()) lines.clear();
  return lines;
}

}  // namespace heddle::tracegen::machine
