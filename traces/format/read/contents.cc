#include "traces/format/read/contents.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/shared_frames.h"
#include "traces/format/limits.h"
#include "traces/format/program/geometry.h"
#include "traces/format/program/printable_records.h"
#include "traces/format/program/waits.h"

namespace heddle::trace {
namespace {

using Kind = v1::Record::KindCase;

// Optional parts of the format that this version knows.
bool IsKnownFeature(absl::string_view feature) {
  return feature == kChunkFeature || feature == kLaterChunkFeature || feature == kColumnFeature ||
         feature == kOperandFeature || feature == kBarrierFeature || feature == kSharedFrameFeature;
}

// Whether bytes lie beyond the last address.
bool WrapsAround(uint64_t base, uint64_t bytes) { return bytes != 0 && base + (bytes - 1) < base; }

class Loader {
 public:
  Loader(FrameReader& file, Contents& contents)
      : file_(file),
        out_(contents),
        buffers_(file),
        most_bytes_(kMaxContentsBytes + kMaxContentsBytesPerFileByte * file.file_bytes()) {}

  absl::Status Run() {
    for (auto step : {&Loader::ReadHeader, &Loader::ReadIndex, &Loader::NameFrames, &Loader::EstimatePrograms,
                      &Loader::ReadRecords, &Loader::CheckTotals}) {
      HEDDLE_RETURN_IF_ERROR((this->*step)());
    }
    std::ranges::stable_sort(out_.certificates, {}, &v1::Certificate::launch);
    return absl::OkStatus();
  }

 private:
  absl::Status Refuse(uint64_t frame, absl::string_view rule) const {
    return file_.Refuse(frame, frame < kinds_.size() ? KindName(kinds_[frame]) : "Index", rule);
  }

  absl::Status Read(uint64_t record, Kind kind) {
    // A record beyond what is left is refused before it is parsed.
    absl::Status status = file_.ReadRecord(record, kind, *buffers_, most_bytes_ - total_bytes_);
    if (!status.ok()) return status;
    total_bytes_ += buffers_->parsed_bytes;
    return LookAtTexts(record);
  }

  absl::Status LookAtTexts(uint64_t record) {
    const TextReport report = MakePrintable(buffers_->record);
    if (!report.too_long.empty()) {
      return file_.Refuse(record, KindName(buffers_->record.kind_case()),
                          absl::StrCat(report.too_long, " is longer than the ", kMaxNameBytes,
                                       " bytes of a name or the ", kMaxNoteBytes, " of a note"));
    }
    if (report.changed == 0) return absl::OkStatus();
    if (report.grown > most_bytes_ - total_bytes_) {
      return file_.Refuse(record, KindName(buffers_->record.kind_case()),
                          "its texts have more control characters than memory is meant for");
    }
    total_bytes_ += report.grown;
    if (out_.unprintable_texts == 0) {
      out_.unprintable_frame = record;
      out_.unprintable = report.first;
    }
    out_.unprintable_texts += report.changed;
    return absl::OkStatus();
  }

  absl::Status CheckFeatures(uint64_t frame, absl::string_view record,
                             const google::protobuf::RepeatedPtrField<std::string>& features) const {
    for (const std::string& feature : features) {
      if (!IsKnownFeature(feature)) {
        return absl::UnimplementedError(absl::StrCat(file_.name(), ": frame ", frame, ", ", record,
                                                     ": the trace needs \"", feature.substr(0, 200),
                                                     "\", which this program does not know; use a newer one"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadHeader() {
    if (file_.frame_count() < 2) {
      return absl::DataLossError(absl::StrCat(file_.name(), ": the file has no header and index"));
    }
    HEDDLE_RETURN_IF_ERROR(Read(0, v1::Record::kHeader));
    out_.header = std::move(*buffers_->record.mutable_header());
    const v1::FileHeader& header = out_.header;
    if (header.major() != kMajorVersion) {
      return absl::UnimplementedError(absl::StrCat(file_.name(), ": frame 0, FileHeader: trace version ",
                                                   header.major(), ".", header.minor(), ", this program reads version ",
                                                   kMajorVersion, ".x; use one that fits the file"));
    }
    HEDDLE_RETURN_IF_ERROR(CheckFeatures(0, "FileHeader", header.required_feature()));
    uint64_t end = 0;
    for (const v1::AddressWindow& window : header.window()) {
      if (window.space() == v1::SPACE_NONE || window.space() == v1::SPACE_GENERIC ||
          !v1::MemorySpace_IsValid(window.space()) || window.bytes() == 0 ||
          __builtin_add_overflow(window.base(), window.bytes() - 1, &end)) {
        return file_.Refuse(0, "FileHeader", "an address window has no usable space, or is empty, or wraps around");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadIndex() {
    const uint64_t frame = file_.frame_count() - 1;
    if (absl::Status status =
            file_.ReadAnyRecord(frame, KindName(v1::Record::kIndex), *buffers_, most_bytes_ - total_bytes_);
        !status.ok()) {
      return status;
    }
    total_bytes_ += buffers_->parsed_bytes;
    HEDDLE_RETURN_IF_ERROR(LookAtTexts(frame));
    const auto& features = buffers_->record.index().required_feature();
    shares_ = std::find(features.begin(), features.end(), kSharedFrameFeature) != features.end();
    // How many records there are shows when the index has been looked at.
    const uint64_t ordinal = shares_ ? buffers_->record.index().records() : frame;
    HEDDLE_RETURN_IF_ERROR(file_.CheckRecord(frame, ordinal, v1::Record::kIndex, *buffers_));
    out_.index = std::move(*buffers_->record.mutable_index());
    HEDDLE_RETURN_IF_ERROR(CheckFeatures(frame, "Index", out_.index.required_feature()));
    if (out_.index.content_sha256().size() != 32) return Refuse(frame, "content_sha256 does not have 32 bytes");
    struct Count {
      absl::string_view what;
      int count;
      uint64_t most;
    };
    for (const Count& count :
         {Count{"programs", out_.index.program_frame_size(), kMaxPrograms},
          Count{"launches", out_.index.launch_frame_size(), kMaxLaunches},
          Count{"transfers, certificates and annotations", out_.index.other_frame_size(), kMaxOtherRecords}}) {
      if (static_cast<uint64_t>(count.count) > count.most) {
        return Refuse(frame, absl::StrCat(count.count, " ", count.what, ", the limit is ", count.most));
      }
    }
    return absl::OkStatus();
  }

  // Gives every record the kind that the index names for its frame. A frame must be named once, or once per chunk.
  absl::Status NameFrames() {
    const uint64_t last = file_.frame_count() - 1;
    std::vector<Kind> kinds(file_.frame_count(), v1::Record::KIND_NOT_SET);
    kinds[0] = v1::Record::kHeader;
    kinds[last] = v1::Record::kIndex;
    uint64_t named = 2;
    const auto name = [&](uint64_t frame, Kind kind) {
      if (frame >= last || kinds[frame] != v1::Record::KIND_NOT_SET) return false;
      kinds[frame] = kind;
      ++named;
      return true;
    };
    std::vector<uint64_t> first_record;  // by frame; at first how many records it has
    if (shares_) first_record.assign(kinds.size() + 1, 1);
    uint64_t previous = 0;
    for (const v1::ChunkReference& chunk : out_.index.chunk()) {
      if (shares_ && chunk.frame() == previous && previous > 0) {
        if (++first_record[previous] > kMaxSharedRecords || file_.frame(previous).decompressed > kMaxSharedFrameBytes) {
          return file_.Refuse(last, "Index",
                              absl::StrCat("chunk frame ", previous, " is shared by more than ", kMaxSharedRecords,
                                           " chunks or has more than ", kMaxSharedFrameBytes, " bytes"));
        }
        continue;
      }
      if (chunk.frame() <= previous || !name(chunk.frame(), v1::Record::kChunk)) {
        return file_.Refuse(last, "Index", absl::StrCat("chunk frame ", chunk.frame(), " is out of order or range"));
      }
      previous = chunk.frame();
    }
    const auto name_all = [&](const google::protobuf::RepeatedField<uint64_t>& frames, Kind kind) {
      uint64_t before = 0;
      for (uint64_t frame : frames) {
        if (frame <= before || !name(frame, kind)) return false;
        before = frame;
      }
      return true;
    };
    if (!name_all(out_.index.program_frame(), v1::Record::kProgram) ||
        !name_all(out_.index.launch_frame(), v1::Record::kLaunch) ||
        !name_all(out_.index.launch_end_frame(), v1::Record::kLaunchEnd) ||
        // Which of the three other kinds it is shows when the record is read.
        !name_all(out_.index.other_frame(), v1::Record::kAnnotation)) {
      return file_.Refuse(last, "Index", "frame numbers are out of order or range, or named twice");
    }
    if (named != file_.frame_count()) {
      return file_.Refuse(last, "Index", absl::StrCat(file_.frame_count() - named, " frames are missing in it"));
    }
    return shares_ ? NumberRecords(kinds, std::move(first_record)) : TakeKinds(std::move(kinds));
  }

  absl::Status NumberRecords(const std::vector<Kind>& kinds, std::vector<uint64_t> counts) {
    std::vector<Kind> kind_of_record;
    uint64_t records = 0;
    for (size_t frame = 0; frame < kinds.size(); ++frame) {
      kind_of_record.insert(kind_of_record.end(), counts[frame], kinds[frame]);
      records += std::exchange(counts[frame], records);
    }
    counts.back() = records;
    FramesToRecords(out_.index);
    file_.ShareFrames(std::move(counts));
    return TakeKinds(std::move(kind_of_record));
  }

  absl::Status TakeKinds(std::vector<Kind> kind_of_record) {
    kinds_ = std::move(kind_of_record);
    const uint64_t last = kinds_.size() - 1;
    if (out_.index.records() != last) {
      return Refuse(
          last, absl::StrCat("the index counts ", out_.index.records(), " records in front of it, there are ", last));
    }
    if (last >= kMaxFrames) return Refuse(last, absl::StrCat("more than ", kMaxFrames, " records"));
    out_.chunks.assign(out_.index.chunk().begin(), out_.index.chunk().end());
    return absl::OkStatus();
  }

  // Programs that are too large together are refused before the first of them is parsed, which takes longest.
  absl::Status EstimatePrograms() {
    uint64_t left = most_bytes_ - total_bytes_;
    if (out_.index.program_frame_size() < 2) return absl::OkStatus();
    for (uint64_t frame : out_.index.program_frame()) {
      HEDDLE_ASSIGN_OR_RETURN(const uint64_t bytes,
                              file_.EstimateRecord(frame, KindName(v1::Record::kProgram), *buffers_, left));
      left -= bytes;
    }
    return absl::OkStatus();
  }

  absl::Status ReadRecords() {
    out_.programs.reserve(static_cast<size_t>(out_.index.program_frame_size()));
    out_.launches.reserve(static_cast<size_t>(out_.index.launch_frame_size()));
    for (uint64_t frame = 1; frame + 1 < file_.record_count(); ++frame) {
      if (open_launch_ && kinds_[frame] != v1::Record::kChunk && kinds_[frame] != v1::Record::kLaunchEnd) {
        return Refuse(frame, "stands between a launch and its LaunchEnd");
      }
      absl::Status status;
      switch (kinds_[frame]) {
        case v1::Record::kProgram:
          status = AddProgram(frame);
          break;
        case v1::Record::kLaunch:
          status = AddLaunch(frame);
          break;
        case v1::Record::kChunk:
          status = AddChunk(frame);
          break;
        case v1::Record::kLaunchEnd:
          status = AddLaunchEnd(frame);
          break;
        default:
          status = AddOther(frame);
          break;
      }
      if (!status.ok()) return status;
    }
    if (open_launch_) return Refuse(file_.record_count() - 1, "the last launch has no LaunchEnd");
    return absl::OkStatus();
  }

  absl::Status AddProgram(uint64_t frame) {
    HEDDLE_RETURN_IF_ERROR(Read(frame, v1::Record::kProgram));
    v1::KernelProgram& proto = *buffers_->record.mutable_program();
    if (proto.id() != out_.programs.size()) return Refuse(frame, "program ids do not count up from 0");
    for (const v1::Instruction& instruction : proto.instruction()) {
      if (instruction.source_file() > static_cast<uint32_t>(out_.header.source_file_size())) {
        return Refuse(frame, "an instruction names a source file that the header does not list");
      }
    }
    absl::StatusOr<Program> program = Program::Create(std::move(proto));
    if (!program.ok()) return Refuse(frame, program.status().message());
    out_.programs.push_back(*std::move(program));
    return absl::OkStatus();
  }

  absl::Status AddLaunch(uint64_t frame) {
    HEDDLE_RETURN_IF_ERROR(Read(frame, v1::Record::kLaunch));
    LaunchView view;
    view.launch = std::move(*buffers_->record.mutable_launch());
    const v1::Launch& launch = view.launch;
    if (launch.id() != out_.launches.size()) return Refuse(frame, "launch ids do not count up from 0");
    if (launch.program() >= out_.programs.size()) {
      return Refuse(frame, absl::StrCat("program ", launch.program(), " does not stand in front of the launch"));
    }
    absl::StatusOr<Geometry> geometry = GeometryOf(launch);
    if (!geometry.ok()) return Refuse(frame, geometry.status().message());
    for (uint32_t earlier : launch.depends_on()) {
      if (earlier >= launch.id()) return Refuse(frame, "the launch depends on a later one");
    }
    if (launch.has_parent()) {
      const v1::LaunchParent& parent = launch.parent();
      if (parent.launch() >= launch.id()) return Refuse(frame, "a thread of a later launch launched it");
      const LaunchView& earlier = out_.launches[parent.launch()];
      if (parent.block() >= earlier.grid_blocks || parent.thread() >= earlier.threads_per_block) {
        return Refuse(frame, "the thread that launched it is not in its launch");
      }
    }
    for (const v1::Allocation& allocation : launch.allocation()) {
      if (WrapsAround(allocation.base(), allocation.bytes())) return Refuse(frame, "an allocation wraps around");
    }
    if (!v1::BlockSelection_Rule_IsValid(launch.selection().rule())) {
      return Refuse(frame, "unknown rule of block selection");
    }
    view.program = &out_.programs[launch.program()];
    view.threads_per_block = static_cast<uint32_t>(geometry->block_threads);
    view.grid_blocks = geometry->grid_blocks;
    open_launch_ = launch.recorded();
    sums_ = v1::LaunchEnd();
    first_chunk_ = next_chunk_;
    view.transfers_before = out_.transfers.size();
    out_.launches.push_back(std::move(view));
    return absl::OkStatus();
  }

  absl::Status AddChunk(uint64_t frame) {
    if (!open_launch_) return Refuse(frame, "stands outside a recorded launch");
    const LaunchView& launch = out_.launches.back();
    const v1::ChunkReference& chunk = out_.chunks[next_chunk_++];
    const auto refuse = [&](absl::string_view rule) {
      return Refuse(file_.record_count() - 1, absl::StrCat("chunk in frame ", file_.FrameOf(frame), ": ", rule));
    };
    if (chunk.launch() != launch.launch.id()) return refuse("it belongs to another launch");
    if (chunk.block_count() == 0 || chunk.last_block() < chunk.first_block() ||
        chunk.last_block() >= launch.grid_blocks ||
        chunk.block_count() - 1 > chunk.last_block() - chunk.first_block()) {
      return refuse("its blocks do not fit the grid");
    }
    if (chunk.block_count() > kMaxChunkThreads / launch.threads_per_block) {
      return refuse(absl::StrCat("more than ", kMaxChunkThreads, " threads"));
    }
    const auto beyond = [](uint64_t number, uint64_t limit, uint64_t promised) {
      return number > limit || (promised != 0 && number > promised);
    };
    if (beyond(chunk.thread_instructions(), kMaxChunkThreadInstructions, out_.header.max_chunk_thread_instructions()) ||
        beyond(chunk.accesses(), kMaxChunkAccesses, out_.header.max_chunk_accesses()) ||
        beyond(file_.frame(file_.FrameOf(frame)).decompressed, kMaxRecordBytes, out_.header.max_record_bytes())) {
      return refuse("more thread-instructions or accesses than a chunk may hold");
    }
    if (chunk.part() > 0) {
      const bool follows = next_chunk_ - 1 > first_chunk_ && chunk.block_count() == 1 &&
                           out_.chunks[next_chunk_ - 2].first_block() == chunk.first_block() &&
                           out_.chunks[next_chunk_ - 2].block_count() == 1 &&
                           out_.chunks[next_chunk_ - 2].part() == chunk.part() - 1;
      if (!follows) return refuse("it does not continue the part in front of it");
    } else {
      if (next_chunk_ - 1 > first_chunk_ && out_.chunks[next_chunk_ - 2].last_block() >= chunk.first_block()) {
        return refuse("its blocks do not follow those of the chunk in front of it");
      }
      sums_.set_blocks(sums_.blocks() + chunk.block_count());
      sums_.set_threads(sums_.threads() + chunk.block_count() * launch.threads_per_block);
    }
    sums_.set_chunks(sums_.chunks() + 1);
    sums_.set_thread_instructions(sums_.thread_instructions() + chunk.thread_instructions());
    sums_.set_accesses(sums_.accesses() + chunk.accesses());
    return absl::OkStatus();
  }

  absl::Status AddLaunchEnd(uint64_t frame) {
    if (!open_launch_) return Refuse(frame, "stands outside a recorded launch");
    HEDDLE_RETURN_IF_ERROR(Read(frame, v1::Record::kLaunchEnd));
    LaunchView& launch = out_.launches.back();
    const v1::LaunchEnd& end = buffers_->record.launch_end();
    if (end.launch() != launch.launch.id()) return Refuse(frame, "it belongs to another launch");
    if (end.blocks() != sums_.blocks() || end.threads() != sums_.threads() || end.chunks() != sums_.chunks() ||
        end.thread_instructions() != sums_.thread_instructions() || end.accesses() != sums_.accesses()) {
      return Refuse(frame, "its totals are not the sums of the launch's chunks");
    }
    if (!WaitsExist(end, *launch.program, launch.grid_blocks, launch.threads_per_block)) {
      return Refuse(frame, "one of its waits names an instruction, block or thread that is not there");
    }
    launch.totals = end;
    launch.chunks = std::span(out_.chunks).subspan(first_chunk_, next_chunk_ - first_chunk_);
    thread_instructions_ += end.thread_instructions();
    accesses_ += end.accesses();
    open_launch_ = false;
    return absl::OkStatus();
  }

  absl::Status AddOther(uint64_t frame) {
    HEDDLE_RETURN_IF_ERROR(Read(frame, v1::Record::KIND_NOT_SET));
    v1::Record& record = buffers_->record;
    kinds_[frame] = record.kind_case();
    switch (record.kind_case()) {
      case v1::Record::kTransfer:
        if (WrapsAround(record.transfer().address(), record.transfer().bytes())) {
          return Refuse(frame, "the transfer wraps around");
        }
        out_.transfers.push_back(std::move(*record.mutable_transfer()));
        break;
      case v1::Record::kCertificate:
        HEDDLE_RETURN_IF_ERROR(CheckCertificate(frame, record.certificate()));
        out_.certificates.push_back(std::move(*record.mutable_certificate()));
        break;
      case v1::Record::kAnnotation:
        out_.annotations.push_back(std::move(*record.mutable_annotation()));
        break;
      default:
        return Refuse(frame, "the index has it among transfers, certificates and annotations");
    }
    return absl::OkStatus();
  }

  absl::Status CheckCertificate(uint64_t frame, const v1::Certificate& certificate) {
    if (certificate.launch() >= out_.launches.size()) return Refuse(frame, "it certifies a launch that is not there");
    const Program& program = *out_.launches[certificate.launch()].program;
    uint32_t last = 0;
    for (const v1::InstructionVariance& variance : certificate.instruction()) {
      last = std::max(last, variance.instruction());
    }
    for (const v1::WarpHandOff& hand_off : certificate.hand_off()) {
      last = std::max({last, hand_off.writer(), hand_off.reader()});
    }
    for (const v1::WarpWait& wait : certificate.warp_wait()) last = std::max(last, wait.instruction());
    for (const v1::Race& race : certificate.race()) last = std::max({last, race.writer(), race.other()});
    for (const v1::MemoryDifference& difference : certificate.memory()) last = std::max(last, difference.writer());
    for (const v1::OutsideRead& read : certificate.outside_read()) last = std::max(last, read.instruction());
    if (last >= program.instruction_count()) {
      return Refuse(frame, absl::StrCat("instruction ", last, " is not in the program"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckTotals() {
    if (out_.index.thread_instructions() != thread_instructions_ || out_.index.accesses() != accesses_) {
      return file_.Refuse(file_.record_count() - 1, "Index", "its totals are not the sums of the launches");
    }
    return absl::OkStatus();
  }

  FrameReader& file_;
  Contents& out_;
  ScopedBuffers buffers_;
  bool shares_ = false;      // the index names kSharedFrameFeature
  std::vector<Kind> kinds_;  // by record
  const uint64_t most_bytes_;
  uint64_t total_bytes_ = 0;
  bool open_launch_ = false;
  size_t first_chunk_ = 0;
  size_t next_chunk_ = 0;
  v1::LaunchEnd sums_;
  uint64_t thread_instructions_ = 0;
  uint64_t accesses_ = 0;
};

}  // namespace

absl::Status ReadContents(FrameReader& file, Contents& contents) { return Loader(file, contents).Run(); }

}  // namespace heddle::trace
