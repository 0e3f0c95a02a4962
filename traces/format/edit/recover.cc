#include "traces/format/edit/recover.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "traces/base/status_macros.h"
#include "traces/format/columns/decode_chunk.h"
#include "traces/format/container/frame_reader.h"
#include "traces/format/container/frame_scan.h"
#include "traces/format/container/shared_frames.h"
#include "traces/format/limits.h"
#include "traces/format/program/annotations.h"
#include "traces/format/program/geometry.h"
#include "traces/format/program/waits.h"

namespace heddle::trace {
namespace {

using Kind = v1::Record::KindCase;

// A chunk that decodes.
struct WholeChunk {
  uint64_t record = 0;  // by position in the file, not by its ordinal
  uint64_t first_block = 0;
  uint64_t last_block = 0;
  uint64_t block_count = 0;
  uint32_t part = 0;
  bool last_part = true;
};

// A record that goes into the new trace, in order of the file; chunks hang on their launch.
struct Item {
  Kind kind = v1::Record::KIND_NOT_SET;
  uint64_t record = 0;  // by position in the file
  // Of a launch:
  v1::Launch launch;
  Geometry geometry;
  std::vector<WholeChunk> chunks;
  std::optional<uint64_t> expected_blocks;
  v1::LaunchEnd waits;  // LaunchEnd::wait, waits_not_listed
};

class Recovery {
 public:
  Recovery(std::unique_ptr<ByteSource> source, std::string name) : source_(std::move(source)), name_(std::move(name)) {}

  absl::Status Read() {
    absl::StatusOr<ScannedFrames> scanned = ScanFrames(*source_);
    if (!scanned.ok()) return absl::DataLossError(absl::StrCat(name_, ": ", scanned.status().message()));
    std::vector<FrameEntry> entries;
    for (const FoundFrame& frame : scanned->frames) {
      entries.push_back(frame.entry);
      offsets_.push_back(frame.offset);
    }
    file_ = FrameReader::WithFrames(std::move(source_), name_, std::move(entries), offsets_);
    CountRecords();
    size_t lost = 0;
    for (uint64_t record = 0; record < file_->record_count(); ++record) {
      const uint64_t offset = offsets_[file_->FrameOf(record)];
      for (; lost < scanned->lost.size() && scanned->lost[lost].offset < offset; ++lost) {
        ReportLost(scanned->lost[lost], false);
      }
      HEDDLE_RETURN_IF_ERROR(LookAt(record));
    }
    for (; lost < scanned->lost.size(); ++lost) {
      ReportLost(scanned->lost[lost], !scanned->has_seek_table && lost + 1 == scanned->lost.size());
    }
    if (!scanned->has_seek_table) Missing("the seek table at the end of the file is missing");
    ReportMissingRecords();
    if (!header_.has_value()) {
      return absl::DataLossError(absl::StrCat(name_, ": the header is not complete, so that nothing can be recovered; ",
                                              report_.missing.empty() ? "" : report_.missing.front()));
    }
    DropUnusable();
    return absl::OkStatus();
  }

  absl::StatusOr<RecoveryReport> Write(const std::string& path, const WriterOptions& options,
                                       const std::function<void(const std::string&)>& temporary_file) {
    absl::StatusOr<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(path, *header_, options);
    if (!writer.ok()) return writer.status();
    if (temporary_file) temporary_file((*writer)->temporary_file());
    ScopedBuffers buffers(*file_);
    std::map<uint32_t, uint32_t> new_launch, new_program;
    for (Item& item : items_) {
      absl::Status status;
      if (item.kind == v1::Record::kLaunch) {
        status = WriteLaunch(item, **writer, *buffers, new_launch, new_program);
      } else {
        status = file_->ReadAnyRecord(item.record, KindName(item.kind), *buffers);
        v1::Record& record = buffers->record;
        if (!status.ok()) return status;
        if (item.kind == v1::Record::kTransfer) {
          status = (*writer)->AddTransfer(record.transfer());
        } else if (item.kind == v1::Record::kAnnotation) {
          status = (*writer)->AddAnnotation(record.annotation());
        } else if (const auto it = new_launch.find(record.certificate().launch()); it != new_launch.end()) {
          record.mutable_certificate()->set_launch(it->second);
          status = (*writer)->AddCertificate(record.certificate());
        }
      }
      if (!status.ok()) return status;
    }
    if (!report_.missing.empty()) {
      v1::Annotation note;
      note.set_key(std::string(kRecoverKey));
      constexpr size_t kMostTold = 100;
      const size_t told = std::min(kMostTold, report_.missing.size());
      note.set_value(
          absl::StrJoin(report_.missing.begin(), report_.missing.begin() + static_cast<ptrdiff_t>(told), "\n"));
      HEDDLE_RETURN_IF_ERROR((*writer)->AddAnnotation(note));
    }
    HEDDLE_RETURN_IF_ERROR((*writer)->Finish());
    report_.launches = new_launch.size();
    report_.blocks = (*writer)->totals().blocks;
    report_.thread_instructions = (*writer)->totals().thread_instructions;
    return std::move(report_);
  }

 private:
  void Missing(std::string sentence) { report_.missing.push_back(std::move(sentence)); }

  void ReportLost(const LostBytes& lost, bool at_end) {
    Missing(absl::StrCat("bytes ", lost.offset, " to ", lost.offset + lost.bytes - 1, " hold no complete record",
                         at_end ? ": the file was cut off there" : ""));
  }

  std::string NameOf(uint64_t record, absl::string_view kind) const {
    return absl::StrCat("the ", kind, " at byte ", offsets_[file_->FrameOf(record)]);
  }

  // Finds out which frames are shared by several records. One that cannot be read counts as one.
  void CountRecords() {
    ScopedBuffers buffers(*file_);
    std::vector<uint64_t> first_record = {0};
    bool any_shared = false;
    for (uint64_t frame = 0; frame < file_->frame_count(); ++frame) {
      const absl::StatusOr<uint64_t> records = file_->CountRecords(frame, *buffers);
      const bool shared = records.ok() && *records > 1 && *records <= kMaxSharedRecords &&
                          file_->frame(frame).decompressed <= kMaxSharedFrameBytes;
      first_record.push_back(first_record.back() + (shared ? *records : 1));
      any_shared |= shared;
    }
    if (any_shared) file_->ShareFrames(std::move(first_record));
  }

  // Looks at one record; an error only if nothing at all can be recovered.
  absl::Status LookAt(uint64_t number) {
    ScopedBuffers buffers(*file_, number);
    if (absl::Status status = file_->ReadAnyRecord(number, "record", *buffers); !status.ok()) {
      Missing(absl::StrCat(NameOf(number, "record"), " is damaged: ", Reason(status)));
      return absl::OkStatus();
    }
    v1::Record& record = buffers->record;
    const Kind kind = record.kind_case();
    if (record.ordinal() != 0 ? record.ordinal() <= last_ordinal_ : !seen_.empty()) {
      Missing(absl::StrCat(NameOf(number, KindName(kind)), " has number ", record.ordinal(),
                           " and is doubled or out of order"));
      return absl::OkStatus();
    }
    last_ordinal_ = record.ordinal();
    seen_.push_back(record.ordinal());
    ++report_.records;
    std::string reason;
    switch (kind) {
      case v1::Record::kHeader:
        if (record.header().major() != kMajorVersion ||
            std::any_of(record.header().required_feature().begin(), record.header().required_feature().end(),
                        [](const std::string& feature) {
                          return feature != kChunkFeature && feature != kLaterChunkFeature &&
                                 feature != kColumnFeature && feature != kOperandFeature && feature != kBarrierFeature;
                        })) {
          return absl::UnimplementedError(absl::StrCat(name_, ": trace version ", record.header().major(), ".",
                                                       record.header().minor(),
                                                       " or one of its features is not known to this program"));
        }
        if (record.ordinal() == 0) header_ = std::move(*record.mutable_header());
        break;
      case v1::Record::kProgram:
        reason = AddProgram(*record.mutable_program());
        break;
      case v1::Record::kLaunch:
        reason = AddLaunch(number, *record.mutable_launch());
        break;
      case v1::Record::kChunk:
        reason = AddChunk(number, record.chunk());
        break;
      case v1::Record::kLaunchEnd:
        if (open_ && items_[*open_].launch.id() == record.launch_end().launch()) {
          Item& launch = items_[*open_];
          launch.expected_blocks = record.launch_end().blocks();
          reason = TakeWaits(*record.mutable_launch_end(), programs_.at(launch.launch.program()), launch);
        }
        open_.reset();
        break;
      case v1::Record::kIndex:
        index_ = std::move(*record.mutable_index());
        FramesToRecords(index_);
        break;
      case v1::Record::KIND_NOT_SET:
        reason = "it is of no kind that this program knows";
        break;
      default:
        items_.push_back({kind, number, {}, {}, {}, {}, {}});
        break;
    }
    if (!reason.empty()) Missing(absl::StrCat(NameOf(number, KindName(kind)), " cannot be used: ", reason));
    return absl::OkStatus();
  }

  // What a refusal says behind the names of file and frame.
  static std::string Reason(const absl::Status& status) {
    const std::string message(status.message());
    const size_t at = message.rfind(": ");
    return at == std::string::npos ? message : message.substr(at + 2);
  }

  std::string AddProgram(v1::KernelProgram& proto) {
    const uint32_t id = proto.id();
    if (!header_.has_value()) return "there is no header in front of it";
    for (const v1::Instruction& instruction : proto.instruction()) {
      if (instruction.source_file() > static_cast<uint32_t>(header_->source_file_size())) {
        return "it names source files that the header does not list";
      }
    }
    absl::StatusOr<Program> program = Program::Create(std::move(proto));
    if (!program.ok()) return std::string(program.status().message());
    if (!programs_.emplace(id, *std::move(program)).second) return "another program has its id";
    return "";
  }

  std::string AddLaunch(uint64_t record, v1::Launch& launch) {
    open_.reset();
    if (!programs_.contains(launch.program())) return absl::StrCat("program ", launch.program(), " is missing");
    absl::StatusOr<Geometry> geometry = GeometryOf(launch);
    if (!geometry.ok()) return std::string(geometry.status().message());
    if (!v1::BlockSelection_Rule_IsValid(launch.selection().rule())) return "unknown rule of block selection";
    const bool recorded = launch.recorded();
    items_.push_back({v1::Record::kLaunch, record, std::move(launch), *geometry, {}, {}, {}});
    if (recorded) open_ = items_.size() - 1;
    return "";
  }

  std::string AddChunk(uint64_t record, const v1::BlockChunk& chunk) {
    if (!open_.has_value() || items_[*open_].launch.id() != chunk.launch()) {
      return absl::StrCat("launch ", chunk.launch(), " is missing (blocks from ", chunk.first_block(), " on)");
    }
    Item& launch = items_[*open_];
    const Program& program = programs_.at(launch.launch.program());
    absl::Status status = DecodeChunk(chunk, program, static_cast<uint32_t>(launch.geometry.block_threads), decoded_);
    if (!status.ok()) return std::string(status.message());
    if (decoded_.blocks.back() >= launch.geometry.grid_blocks) return "its blocks are outside the grid";
    launch.chunks.push_back({record, decoded_.blocks.front(), decoded_.blocks.back(), decoded_.blocks.size(),
                             chunk.part(), chunk.last_part()});
    return "";
  }

  static std::string TakeWaits(v1::LaunchEnd& end, const Program& program, Item& launch) {
    if (!WaitsExist(end, program, launch.geometry.grid_blocks, launch.geometry.block_threads)) {
      return "one of its waits names an instruction, block or thread that is not there";
    }
    launch.waits.mutable_wait()->Swap(end.mutable_wait());
    launch.waits.set_waits_not_listed(end.waits_not_listed());
    return "";
  }

  // Of the waits, those in blocks that have been recovered.
  static v1::LaunchEnd WaitsOf(const Item& launch) {
    v1::LaunchEnd kept;
    kept.set_waits_not_listed(launch.waits.waits_not_listed());
    for (const v1::Wait& wait : launch.waits.wait()) {
      const bool is_there = std::any_of(launch.chunks.begin(), launch.chunks.end(), [&wait](const WholeChunk& chunk) {
        return chunk.first_block <= wait.block() && wait.block() <= chunk.last_block;
      });
      if (is_there) *kept.add_wait() = wait;
    }
    return kept;
  }

  void ReportMissingRecords() {
    std::map<uint64_t, std::string> what;
    for (const v1::ChunkReference& chunk : index_.chunk()) {
      what[chunk.frame()] =
          absl::StrCat("chunk of launch ", chunk.launch(), ", blocks ", chunk.first_block(), " to ", chunk.last_block(),
                       chunk.part() > 0 ? ", part " : "", chunk.part() > 0 ? absl::StrCat(chunk.part()) : "");
    }
    for (uint64_t frame : index_.program_frame()) what[frame] = "program";
    for (uint64_t frame : index_.launch_frame()) what[frame] = "launch";
    for (uint64_t frame : index_.launch_end_frame()) what[frame] = "end of a launch";
    for (uint64_t frame : index_.other_frame()) what[frame] = "transfer, certificate or annotation";
    uint64_t next = 0;
    for (uint64_t ordinal : seen_) {
      if (ordinal - next > 4 && what.empty()) {
        Missing(absl::StrCat("records ", next, " to ", ordinal - 1, " are missing"));
        next = ordinal;
      }
      for (; next < ordinal; ++next) {
        const auto it = what.find(next);
        Missing(
            absl::StrCat("record ", next, it == what.end() ? "" : absl::StrCat(" (", it->second, ")"), " is missing"));
      }
      next = ordinal + 1;
    }
    if (index_.records() == 0)
      Missing(absl::StrCat("the index is missing: what stood behind record ", last_ordinal_, " is not known"));
  }

  // Keeps, of every launch, chunks that follow one another, and parts of a block only together.
  void DropUnusable() {
    for (Item& item : items_) {
      if (item.kind != v1::Record::kLaunch || !item.launch.recorded()) continue;
      std::vector<WholeChunk> kept;
      uint64_t next_block = 0;
      for (size_t i = 0; i < item.chunks.size();) {
        size_t end = i + 1;
        while (!item.chunks[end - 1].last_part && end < item.chunks.size() &&
               item.chunks[end].first_block == item.chunks[i].first_block &&
               item.chunks[end].part == item.chunks[end - 1].part + 1) {
          ++end;
        }
        const WholeChunk& first = item.chunks[i];
        if (first.part == 0 && item.chunks[end - 1].last_part && first.first_block >= next_block) {
          kept.insert(kept.end(), item.chunks.begin() + static_cast<ptrdiff_t>(i),
                      item.chunks.begin() + static_cast<ptrdiff_t>(end));
          next_block = first.last_block + 1;
        } else {
          Missing(absl::StrCat("launch ", item.launch.id(), ", block ", first.first_block, ": parts ", first.part,
                               " to ", item.chunks[end - 1].part, " are of no use without the others"));
        }
        i = end;
      }
      item.chunks = std::move(kept);
      ReportMissingBlocks(item);
    }
  }

  void ReportMissingBlocks(Item& item) {
    if (!item.expected_blocks.has_value() && index_.records() != 0) {
      uint64_t blocks = 0;
      for (const v1::ChunkReference& chunk : index_.chunk()) {
        if (chunk.launch() == item.launch.id() && chunk.part() == 0) blocks += chunk.block_count();
      }
      item.expected_blocks = blocks;
    }
    const bool all = item.launch.selection().rule() == v1::BlockSelection::ALL;
    if (!item.expected_blocks.has_value() && all) item.expected_blocks = item.geometry.grid_blocks;
    uint64_t found = 0;
    std::vector<std::string> gaps;
    uint64_t next = 0;
    const auto gap = [&](uint64_t first, uint64_t end) {
      if (first < end) gaps.push_back(end - first == 1 ? absl::StrCat(first) : absl::StrCat(first, "-", end - 1));
    };
    for (const WholeChunk& chunk : item.chunks) {
      if (chunk.part > 0) continue;
      found += chunk.block_count;
      gap(next, chunk.first_block);
      next = chunk.last_block + 1;
    }
    gap(next, item.geometry.grid_blocks);
    const std::string launch = absl::StrCat("launch ", item.launch.id());
    if (!item.expected_blocks.has_value()) {
      Missing(absl::StrCat(launch, ": ", found, " blocks are there; how many were recorded is not known"));
    } else if (found < *item.expected_blocks) {
      constexpr size_t kMostGaps = 16;
      const bool more = gaps.size() > kMostGaps;
      if (more) gaps.resize(kMostGaps);
      Missing(absl::StrCat(launch, ": ", *item.expected_blocks - found, " of ", *item.expected_blocks,
                           " recorded blocks are missing",
                           all ? absl::StrCat(": ", absl::StrJoin(gaps, ", "), more ? ", ..." : "") : ""));
    } else {
      return;
    }
    item.launch.mutable_selection()->Clear();
    item.launch.mutable_selection()->set_rule(v1::BlockSelection::LISTED);
    item.launch.mutable_selection()->set_blocks(found);
  }

  absl::Status WriteLaunch(const Item& item, TraceWriter& writer, FrameReader::Buffers& buffers,
                           std::map<uint32_t, uint32_t>& new_launch, std::map<uint32_t, uint32_t>& new_program) {
    v1::Launch launch = item.launch;
    if (!new_program.contains(launch.program())) {
      HEDDLE_ASSIGN_OR_RETURN(const Program* program, writer.AddProgram(programs_.at(launch.program()).proto()));
      new_program[launch.program()] = program->id();
    }
    launch.set_program(new_program[launch.program()]);
    launch.clear_depends_on();
    for (uint32_t id : item.launch.depends_on()) {
      if (const auto it = new_launch.find(id); it != new_launch.end()) launch.add_depends_on(it->second);
    }
    if (launch.has_parent()) {
      const auto it = new_launch.find(launch.parent().launch());
      if (it != new_launch.end()) launch.mutable_parent()->set_launch(it->second);
      if (it == new_launch.end()) launch.clear_parent();
    }
    const uint32_t id = static_cast<uint32_t>(new_launch.size());
    new_launch[launch.id()] = id;
    HEDDLE_RETURN_IF_ERROR(writer.BeginLaunch(std::move(launch)));
    if (!item.launch.recorded()) return absl::OkStatus();
    for (const WholeChunk& chunk : item.chunks) {
      HEDDLE_RETURN_IF_ERROR(file_->ReadAnyRecord(chunk.record, KindName(v1::Record::kChunk), buffers));
      absl::Status status = writer.AddChunk(std::move(*buffers.record.mutable_chunk()), chunk.last_block);
      if (!status.ok()) return status;
    }
    HEDDLE_RETURN_IF_ERROR(writer.AddWaits(WaitsOf(item)));
    return writer.EndLaunch();
  }

  std::unique_ptr<ByteSource> source_;
  const std::string name_;
  std::unique_ptr<FrameReader> file_;
  std::vector<uint64_t> offsets_;
  RecoveryReport report_;
  std::optional<v1::FileHeader> header_;
  v1::Index index_;
  std::map<uint32_t, Program> programs_;
  std::vector<Item> items_;
  std::optional<size_t> open_;  // the launch whose chunks may come
  std::vector<uint64_t> seen_;  // numbers of the whole records
  uint64_t last_ordinal_ = 0;
  DecodedChunk decoded_;
};

}  // namespace

absl::StatusOr<RecoveryReport> RecoverTrace(std::unique_ptr<ByteSource> source, const std::string& name,
                                            const std::string& path, const WriterOptions& options,
                                            const std::function<void(const std::string&)>& temporary_file) {
  Recovery recovery(std::move(source), name);
  HEDDLE_RETURN_IF_ERROR(recovery.Read());
  return recovery.Write(path, options, temporary_file);
}

}  // namespace heddle::trace
