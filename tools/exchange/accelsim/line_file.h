// Text files, plain or compressed by xz, line by line.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_LINE_FILE_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_LINE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/console/output.h"

namespace heddle::tools::accelsim {

// Reads a file; one whose name ends in ".xz" is decompressed on the way. Memory: one line and the decoder's window,
// whatever the file holds.
class LineReader {
 public:
  static absl::StatusOr<LineReader> Open(const std::string& path);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) = delete;
  ~LineReader();

  // The next line without its end; false behind the last one. The text is valid until the next call. DataLoss for a
  // file that ends within a line or within its compressed stream, for damage, and for lines longer than 64 KiB.
  absl::StatusOr<bool> Next(absl::string_view& line);

  // An error about the line that was read last: "FILE, line N: WHAT".
  absl::Status Refuse(absl::string_view what) const;

 private:
  struct Decoder;
  LineReader(std::string path, int file);
  absl::Status Fill();

  std::string path_;
  int file_ = -1;
  std::unique_ptr<Decoder> decoder_;  // null for plain text
  std::string text_;                  // read, and not handed out before `position_`
  size_t position_ = 0;
  uint64_t line_ = 0;
  bool at_end_ = false;
};

// Writes a file that appears under its name when it is complete; one whose name ends in ".xz" is compressed.
class LineWriter {
 public:
  static absl::StatusOr<LineWriter> Create(const std::string& path);
  LineWriter(LineWriter&&) noexcept;
  LineWriter& operator=(LineWriter&&) = delete;
  ~LineWriter();

  // Appends text; `text` is left empty, so that its memory serves again.
  absl::Status Take(std::string& text);
  absl::Status Commit();

 private:
  struct Encoder;
  explicit LineWriter(OutputFile file);

  OutputFile file_;
  std::unique_ptr<Encoder> encoder_;  // null for plain text
  std::string compressed_;
};

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_LINE_FILE_H_
