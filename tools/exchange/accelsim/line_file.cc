#include "tools/exchange/accelsim/line_file.h"

#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::accelsim {
namespace {

constexpr size_t kReadBytes = 1 << 16;
constexpr size_t kMostLineBytes = 1 << 16;
constexpr uint64_t kDecoderMemory = uint64_t{256} << 20;
// What Accel-Sim's tracer compresses with: trace text shrinks twentyfold at any level.
constexpr uint32_t kPreset = 1;

std::string LzmaReason(lzma_ret code) {
  switch (code) {
    case LZMA_FORMAT_ERROR:
      return "is no xz file";
    case LZMA_MEMLIMIT_ERROR:
      return "needs more than 256 MiB to decompress";
    case LZMA_MEM_ERROR:
      return "there is not enough memory to decompress it";
    case LZMA_OPTIONS_ERROR:
      return "is compressed in a way that this liblzma does not know";
    default:
      return "is damaged: it cannot be decompressed";
  }
}

}  // namespace

struct LineReader::Decoder {
  ~Decoder() { lzma_end(&stream); }
  lzma_stream stream = LZMA_STREAM_INIT;
  uint8_t input[kReadBytes];
  bool input_ended = false;
};

LineReader::LineReader(std::string path, int file) : path_(std::move(path)), file_(file) {}
LineReader::LineReader(LineReader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      decoder_(std::move(other.decoder_)),
      text_(std::move(other.text_)),
      position_(other.position_),
      line_(other.line_),
      at_end_(other.at_end_) {}
LineReader::~LineReader() {
  if (file_ >= 0) close(file_);
}

absl::StatusOr<LineReader> LineReader::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", strerror(errno)));
  LineReader reader(path, file);
  if (path.ends_with(".xz")) {
    reader.decoder_ = std::make_unique<Decoder>();
    if (lzma_stream_decoder(&reader.decoder_->stream, kDecoderMemory, LZMA_CONCATENATED) != LZMA_OK) {
      return absl::InternalError("liblzma cannot be initialised");
    }
  }
  return reader;
}

absl::Status LineReader::Refuse(absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(path_, ", line ", line_, ": ", what));
}

// Appends some text, or finds the end.
absl::Status LineReader::Fill() {
  text_.erase(0, position_);
  position_ = 0;
  const auto read_some = [&](void* to) -> absl::StatusOr<size_t> {
    ssize_t got;
    do {
      got = read(file_, to, kReadBytes);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return absl::UnavailableError(absl::StrCat(path_, ": cannot be read: ", strerror(errno)));
    return static_cast<size_t>(got);
  };
  const size_t before = text_.size();
  text_.resize(before + kReadBytes);
  if (decoder_ == nullptr) {
    HEDDLE_ASSIGN_OR_RETURN(const size_t got, read_some(text_.data() + before));
    text_.resize(before + got);
    at_end_ = got == 0;
    return absl::OkStatus();
  }
  lzma_stream& stream = decoder_->stream;
  stream.next_out = reinterpret_cast<uint8_t*>(text_.data() + before);
  stream.avail_out = kReadBytes;
  while (stream.avail_out == kReadBytes) {
    if (stream.avail_in == 0 && !decoder_->input_ended) {
      HEDDLE_ASSIGN_OR_RETURN(const size_t got, read_some(decoder_->input));
      stream.next_in = decoder_->input;
      stream.avail_in = got;
      decoder_->input_ended = got == 0;
    }
    const lzma_ret code = lzma_code(&stream, decoder_->input_ended ? LZMA_FINISH : LZMA_RUN);
    if (code == LZMA_STREAM_END) {
      at_end_ = true;
      break;
    }
    if (code == LZMA_BUF_ERROR) return absl::DataLossError(absl::StrCat(path_, ": is cut off: its end is missing"));
    if (code != LZMA_OK) return absl::DataLossError(absl::StrCat(path_, ": ", LzmaReason(code)));
  }
  text_.resize(before + kReadBytes - stream.avail_out);
  return absl::OkStatus();
}

absl::StatusOr<bool> LineReader::Next(absl::string_view& line) {
  size_t from = position_;
  while (true) {
    const size_t end = text_.find('\n', from);
    if (end != std::string::npos) {
      line = absl::string_view(text_).substr(position_, end - position_);
      position_ = end + 1;
      ++line_;
      const bool is_text = std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });
      if (!is_text) return Refuse("has bytes that are no text");
      return true;
    }
    if (text_.size() - position_ > kMostLineBytes) {
      ++line_;
      return Refuse("is longer than 64 KiB, which no line of a trace is");
    }
    if (at_end_) {
      if (position_ == text_.size()) return false;
      ++line_;
      return Refuse("has no line end: the file is cut off");
    }
    from = text_.size() - position_;
    HEDDLE_RETURN_IF_ERROR(Fill());
  }
}

struct LineWriter::Encoder {
  ~Encoder() { lzma_end(&stream); }
  lzma_stream stream = LZMA_STREAM_INIT;
};

LineWriter::LineWriter(OutputFile file) : file_(std::move(file)) {}
LineWriter::LineWriter(LineWriter&&) noexcept = default;
LineWriter::~LineWriter() = default;

absl::StatusOr<LineWriter> LineWriter::Create(const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  LineWriter writer(std::move(file));
  if (path.ends_with(".xz")) {
    writer.encoder_ = std::make_unique<Encoder>();
    if (lzma_easy_encoder(&writer.encoder_->stream, kPreset, LZMA_CHECK_CRC64) != LZMA_OK) {
      return absl::InternalError("liblzma cannot be initialised");
    }
  }
  return writer;
}

absl::Status LineWriter::Take(std::string& text) {
  if (encoder_ == nullptr) {
    absl::Status status = file_.Write(text);
    text.clear();
    return status;
  }
  lzma_stream& stream = encoder_->stream;
  stream.next_in = reinterpret_cast<const uint8_t*>(text.data());
  stream.avail_in = text.size();
  while (stream.avail_in > 0) {
    compressed_.resize(kReadBytes);
    stream.next_out = reinterpret_cast<uint8_t*>(compressed_.data());
    stream.avail_out = compressed_.size();
    if (lzma_code(&stream, LZMA_RUN) != LZMA_OK) return absl::InternalError("liblzma cannot compress");
    compressed_.resize(compressed_.size() - stream.avail_out);
    HEDDLE_RETURN_IF_ERROR(file_.Write(compressed_));
  }
  text.clear();
  return absl::OkStatus();
}

absl::Status LineWriter::Commit() {
  if (encoder_ != nullptr) {
    lzma_stream& stream = encoder_->stream;
    for (lzma_ret code = LZMA_OK; code != LZMA_STREAM_END;) {
      compressed_.resize(kReadBytes);
      stream.next_out = reinterpret_cast<uint8_t*>(compressed_.data());
      stream.avail_out = compressed_.size();
      code = lzma_code(&stream, LZMA_FINISH);
      if (code != LZMA_OK && code != LZMA_STREAM_END) return absl::InternalError("liblzma cannot compress");
      compressed_.resize(compressed_.size() - stream.avail_out);
      HEDDLE_RETURN_IF_ERROR(file_.Write(compressed_));
    }
  }
  return file_.Commit();
}

}  // namespace heddle::tools::accelsim
