#include "tools/exchange/accelsim/kernel_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/geometry.h"
#include "traces/format/program/program.h"

namespace heddle::tools::accelsim {
namespace {

using trace::v1::Dim3;

enum AddressMode { kList = 0, kStride = 1, kDeltas = 2 };
constexpr uint64_t kMostOperands = 16;
constexpr uint64_t kMostAccessBytes = 255;

// Takes the next word, without blanks; empty at the end.
absl::string_view TakeWord(absl::string_view& rest) {
  const size_t first = rest.find_first_not_of(' ');
  if (first == absl::string_view::npos) {
    rest = {};
    return {};
  }
  const size_t end = std::min(rest.find(' ', first), rest.size());
  const absl::string_view word = rest.substr(first, end - first);
  rest.remove_prefix(end);
  return word;
}

template <typename Number>
bool ParseNumber(absl::string_view word, int base, Number& out) {
  if (base == 16 && absl::StartsWithIgnoreCase(word, "0x")) word.remove_prefix(2);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out, base);
  return error == std::errc() && end == word.data() + word.size();
}

template <typename Number>
bool TakeNumber(absl::string_view& rest, int base, Number& out) {
  return ParseNumber(TakeWord(rest), base, out);
}

// "(x,y,z)" or "x,y,z".
bool ParseDimensions(absl::string_view text, Dim3& out) {
  if (absl::StartsWith(text, "(") && absl::EndsWith(text, ")")) text = text.substr(1, text.size() - 2);
  uint32_t values[3];
  for (int i = 0; i < 3; ++i) {
    const size_t comma = i < 2 ? text.find(',') : text.size();
    if (comma == absl::string_view::npos || !ParseNumber(text.substr(0, comma), 10, values[i])) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  out.set_x(values[0]);
  out.set_y(values[1]);
  out.set_z(values[2]);
  return true;
}

// "NAME = VALUE", or nothing.
bool Split(absl::string_view line, absl::string_view& name, absl::string_view& value) {
  const size_t equals = line.find('=');
  if (equals == absl::string_view::npos) return false;
  name = absl::StripAsciiWhitespace(line.substr(0, equals));
  value = absl::StripAsciiWhitespace(line.substr(equals + 1));
  return true;
}

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

}  // namespace

bool KernelHeader::IsOurs() const { return absl::StartsWith(nvbit_version, kOurNvbitVersion); }

absl::StatusOr<KernelFile> KernelFile::Open(const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(LineReader lines, LineReader::Open(path));
  KernelFile file(std::move(lines));
  HEDDLE_RETURN_IF_ERROR(file.ReadHeader());
  return file;
}

// "FIRST COUNT PLACE FIRST COUNT PLACE ...", ascending. Where a line does not hold them all, several follow one
// another.
bool KernelFile::ReadMoved(absl::string_view text) {
  while (!text.empty()) {
    KernelHeader::Moved moved;
    for (uint32_t* number : {&moved.first, &moved.count, &moved.place}) {
      if (!TakeNumber(text, 10, *number) || *number > trace::kMaxInstructions) return false;
    }
    const bool ascends =
        header_.moved.empty() || moved.first >= header_.moved.back().first + header_.moved.back().count;
    if (!ascends || moved.count == 0) return false;
    header_.moved.push_back(moved);
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return true;
}

// "FIRST COUNT FIRST COUNT ...", ascending, likewise.
bool KernelFile::ReadGuarded(absl::string_view text) {
  while (!text.empty()) {
    KernelHeader::Run run;
    for (uint32_t* number : {&run.first, &run.count}) {
      if (!TakeNumber(text, 10, *number) || *number > trace::kMaxInstructions) return false;
    }
    if (!header_.guarded.empty()) {
      const KernelHeader::Run& before = header_.guarded.back();
      if (run.first < before.first + std::max(before.count, 1u)) return false;
    }
    header_.guarded.push_back(run);
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return true;
}

absl::Status KernelFile::ReadHeaderLine(absl::string_view line) {
  absl::string_view name;
  absl::string_view value;
  if (!Split(line.substr(1), name, value)) return lines_.Refuse("a line of the header is not \"-NAME = VALUE\"");
  bool good = true;
  uint64_t number = 0;
  if (name == "kernel name") {
    header_.name = std::string(value);
  } else if (name == "grid dim") {
    good = ParseDimensions(value, header_.grid);
  } else if (name == "block dim") {
    good = ParseDimensions(value, header_.block);
  } else if (name == "shmem") {
    good = ParseNumber(value, 10, header_.shared_bytes);
  } else if (name == "nregs") {
    good = ParseNumber(value, 10, header_.registers);
  } else if (name == "binary version") {
    good = ParseNumber(value, 10, header_.binary_version);
  } else if (name == "cuda stream id") {
    good = ParseNumber(value, 10, header_.stream);
  } else if (name == "shmem base_addr") {
    good = ParseNumber(value, 16, header_.shared_base);
  } else if (name == "local mem base_addr") {
    good = ParseNumber(value, 16, header_.local_base);
  } else if (name == "nvbit version") {
    header_.nvbit_version = std::string(value);
  } else if (name == "accelsim tracer version") {
    good = ParseNumber(value, 10, header_.tracer_version);
  } else if (name == kMovedHeader) {
    good = ReadMoved(value);
  } else if (name == kGuardedHeader) {
    good = ReadGuarded(value);
  } else if (name == "enable lineinfo") {
    good = ParseNumber(value, 10, number) && number <= 1;
    header_.has_lines = number == 1;
  } else if (name != "kernel id") {
    return lines_.Refuse(absl::StrCat("the header names \"", name.substr(0, 60), "\", which is not known here"));
  }
  if (!good) return lines_.Refuse(absl::StrCat("\"", name, "\" has no such value as \"", value.substr(0, 60), "\""));
  return absl::OkStatus();
}

absl::Status KernelFile::ReadHeader() {
  absl::string_view line;
  while (true) {
    HEDDLE_ASSIGN_OR_RETURN(const bool more, lines_.Next(line));
    if (!more) return lines_.Refuse("the file ends within the header");
    if (line.empty()) continue;
    if (line[0] == '#') break;  // "#traces format = ...": instructions follow
    if (line[0] != '-') return lines_.Refuse("is neither a line of the header nor \"#traces format\"");
    HEDDLE_RETURN_IF_ERROR(ReadHeaderLine(line));
  }
  if (header_.tracer_version == 0) return lines_.Refuse("the header has no \"accelsim tracer version\"");
  if (header_.tracer_version < kOldestTracer || header_.tracer_version > kNewestTracer) {
    return lines_.Refuse(absl::StrCat("is of version ", header_.tracer_version, " of the tracer; versions ",
                                      kOldestTracer, " to ", kNewestTracer, " are known here"));
  }
  if (header_.name.empty()) return lines_.Refuse("the header has no \"kernel name\"");
  trace::v1::Launch launch;
  *launch.mutable_grid() = header_.grid;
  *launch.mutable_block() = header_.block;
  const absl::StatusOr<trace::Geometry> geometry = trace::GeometryOf(launch);
  if (!geometry.ok()) return lines_.Refuse(geometry.status().message());
  header_.grid_blocks = geometry->grid_blocks;
  header_.block_threads = static_cast<uint32_t>(geometry->block_threads);
  return absl::OkStatus();
}

absl::Status KernelFile::ForEach(const Visitor& visitor) {
  absl::string_view line;
  while (true) {
    HEDDLE_ASSIGN_OR_RETURN(const bool more, lines_.Next(line));
    if (!more) return absl::OkStatus();
    if (line.empty()) continue;
    if (line != "#BEGIN_TB") return lines_.Refuse("is not \"#BEGIN_TB\", with which a thread block begins");
    HEDDLE_RETURN_IF_ERROR(ReadBlock(visitor));
  }
}

absl::Status KernelFile::ReadBlock(const Visitor& visitor) {
  const uint32_t warps = (header_.block_threads + kWarpThreads - 1) / kWarpThreads;
  std::vector<bool> seen(warps, false);
  bool named = false;
  uint32_t warp = warps;  // none yet
  uint64_t left = 0;      // instructions of the warp
  bool counted = true;    // "insts" of the warp was there
  const auto place = [this](const absl::Status& status) {
    return status.ok() ? status : lines_.Refuse(status.message());
  };
  absl::string_view line;
  while (true) {
    HEDDLE_ASSIGN_OR_RETURN(const bool more, lines_.Next(line));
    if (!more) return lines_.Refuse("the file ends within a thread block: it is cut off");
    if (line.empty()) continue;
    if (line == "#BEGIN_TB") return lines_.Refuse("a thread block begins before the one before it ends");
    const bool ends = line == "#END_TB";
    absl::string_view name;
    absl::string_view value;
    const bool is_header = !ends && Split(line, name, value);
    if (left > 0 && (ends || is_header)) {
      return lines_.Refuse(absl::StrCat("warp ", warp, " has ", left, " instructions less than \"insts\" says"));
    }
    if (ends) break;
    if (is_header && name == "thread block") {
      Dim3 at;
      if (named || !ParseDimensions(value, at)) return lines_.Refuse("is no place of a thread block, or a second one");
      const Dim3& grid = header_.grid;
      if (at.x() >= grid.x() || at.y() >= grid.y() || at.z() >= grid.z()) {
        return lines_.Refuse("the thread block is outside the grid");
      }
      const uint64_t block = at.x() + uint64_t{grid.x()} * (at.y() + uint64_t{grid.y()} * at.z());
      if (static_cast<int64_t>(block) <= last_block_) {
        return lines_.Refuse("the thread block is there twice, or comes before one in front of it");
      }
      last_block_ = static_cast<int64_t>(block);
      named = true;
      if (absl::Status status = visitor.begin_block(block); !status.ok()) return place(status);
    } else if (is_header && name == "warp") {
      if (!named) return lines_.Refuse("a warp comes before \"thread block\"");
      if (!counted) return lines_.Refuse(absl::StrCat("warp ", warp, " has no \"insts\""));
      if (!ParseNumber(value, 10, warp) || warp >= warps) {
        return lines_.Refuse(absl::StrCat("there is no warp \"", value.substr(0, 20), "\": the block has ", warps));
      }
      if (seen[warp]) return lines_.Refuse(absl::StrCat("warp ", warp, " is there twice"));
      seen[warp] = true;
      counted = false;
    } else if (is_header && name == "insts") {
      if (counted || !ParseNumber(value, 10, left)) return lines_.Refuse("is no number of a warp's instructions");
      counted = true;
    } else if (is_header) {
      return lines_.Refuse(absl::StrCat("\"", name.substr(0, 60), "\" is not known here"));
    } else {
      if (left == 0) return lines_.Refuse("is one instruction more than \"insts\" says");
      --left;
      const uint32_t threads = std::min(header_.block_threads - warp * kWarpThreads, kWarpThreads);
      const uint32_t lanes = threads == kWarpThreads ? ~uint32_t{0} : (uint32_t{1} << threads) - 1;
      if (absl::Status status = ParseInstruction(line, lanes); !status.ok()) return place(status);
      if (absl::Status status = PairCopies(left == 0); !status.ok()) return place(status);
      if (is_half_) continue;
      if (absl::Status status = visitor.instruction(warp, instruction_); !status.ok()) return place(status);
    }
  }
  if (!named) return lines_.Refuse("the thread block that ends here had no \"thread block\"");
  for (uint32_t w = 0; w < warps; ++w) {
    if (!seen[w]) return lines_.Refuse(absl::StrCat("the thread block that ends here has no warp ", w));
  }
  return place(visitor.end_block());
}

// "[line] PC mask dst_count [R...] opcode src_count [R...] mem_width [mode addresses] [immediate]".
absl::Status KernelFile::ParseInstruction(absl::string_view line, uint32_t lanes) {
  absl::string_view rest = line;
  WarpInstruction& out = instruction_;
  out.source_line = 0;
  if (header_.has_lines && !TakeNumber(rest, 10, out.source_line)) return Invalid("begins with no source line");
  if (!TakeNumber(rest, 16, out.pc)) return Invalid("begins with no PC");
  if (!TakeNumber(rest, 16, out.mask)) return Invalid("has no mask of 32 lanes behind the PC");
  if ((out.mask & ~lanes) != 0) {
    return Invalid(absl::StrCat("its mask has lane ", std::countr_zero(out.mask & ~lanes),
                                ", which is beyond the block's ", header_.block_threads, " threads"));
  }
  const auto registers = [&rest](std::vector<uint32_t>& numbers) {
    uint64_t count = 0;
    numbers.clear();
    if (!TakeNumber(rest, 10, count) || count > kMostOperands) return false;
    for (uint64_t i = 0; i < count; ++i) {
      const absl::string_view word = TakeWord(rest);
      uint32_t number = 0;
      if (word.empty() || word[0] != 'R' || !ParseNumber(word.substr(1), 10, number)) return false;
      numbers.push_back(number);
    }
    return true;
  };
  if (!registers(out.dst)) return Invalid("has no list of destination registers behind the mask");
  out.opcode = TakeWord(rest);
  if (out.opcode.empty()) return Invalid("has no opcode behind its destination registers");
  if (!registers(out.src)) return Invalid("has no list of source registers behind the opcode");
  uint64_t width = 0;
  if (!TakeNumber(rest, 10, width) || width > kMostAccessBytes) return Invalid("has no width of a memory access");
  out.access_bytes = static_cast<uint32_t>(width);
  if (width != 0) {
    HEDDLE_RETURN_IF_ERROR(ParseAddresses(rest));
  }
  out.immediate = 0;
  const absl::string_view last = TakeWord(rest);
  if (!last.empty() && !ParseNumber(last, 10, out.immediate)) return Invalid("ends with a word that is no immediate");
  if (!TakeWord(rest).empty()) return Invalid("has more words than an instruction has");
  return absl::OkStatus();
}

absl::Status KernelFile::PairCopies(bool is_last) {
  const bool copies = header_.tracer_version >= kCopiesInPairs && absl::StartsWith(instruction_.opcode, "LDGSTS");
  if (is_half_ && (!copies || instruction_.pc != half_pc_)) {
    return Invalid("stands behind a copy to shared memory (LDGSTS) that has one of its two lines");
  }
  is_half_ = copies && !is_half_;
  half_pc_ = instruction_.pc;
  if (is_half_ && is_last) return Invalid("is a copy to shared memory (LDGSTS) without its second line");
  return absl::OkStatus();
}

absl::Status KernelFile::ParseAddresses(absl::string_view& rest) {
  const uint32_t mask = instruction_.mask;
  uint32_t mode = 0;
  if (!TakeNumber(rest, 10, mode) || mode > kDeltas) return Invalid("has no known form of addresses (0, 1 or 2)");
  uint64_t address = 0;
  int64_t step = 0;
  if (mode != kList && !TakeNumber(rest, 16, address)) return Invalid("has no base address");
  if (mode == kStride) {
    if (!TakeNumber(rest, 10, step)) return Invalid("has no stride");
    const uint32_t lanes = mask >> (mask == 0 ? 0 : std::countr_zero(mask));
    if ((lanes & (lanes + 1)) != 0) return Invalid("has a stride, but its lanes are not next to one another");
  }
  bool first = true;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    if (mode == kList) {
      if (!TakeNumber(rest, 16, address)) return Invalid("has less addresses than lanes");
    } else if (!first) {
      if (mode == kDeltas && !TakeNumber(rest, 10, step)) return Invalid("has less addresses than lanes");
      address += static_cast<uint64_t>(step);
    }
    first = false;
    instruction_.address[std::countr_zero(left)] = address;
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools::accelsim
