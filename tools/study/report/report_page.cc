#include "tools/study/report/report_page.h"

#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "traces/base/status_macros.h"

// The file becomes part of the program as it is.
asm(R"(
  .pushsection .rodata
  .global heddle_report_template
  .global heddle_report_template_end
heddle_report_template:
  .incbin ")" HEDDLE_REPORT_TEMPLATE R"("
heddle_report_template_end:
  .byte 0
  .popsection
)");
extern "C" const char heddle_report_template[];
extern "C" const char heddle_report_template_end[];

namespace heddle::tools {
namespace {

constexpr std::string_view kDataMark = "{{HEDDLE-DATA}}";
constexpr std::string_view kTitleMark = "{{HEDDLE-TITLE}}";

// The same bytes for the same text: the stream's header has no time.
absl::StatusOr<std::string> Gzip(const std::string& text) {
  std::string compressed;
  google::protobuf::io::StringOutputStream output(&compressed);
  google::protobuf::io::GzipOutputStream::Options options;
  options.compression_level = 9;
  google::protobuf::io::GzipOutputStream stream(&output, options);
  size_t done = 0;
  void* buffer = nullptr;
  for (int room = 0; done < text.size();) {
    if (!stream.Next(&buffer, &room)) return absl::InternalError("compression of the report's data failed");
    const size_t piece = std::min(static_cast<size_t>(room), text.size() - done);
    std::memcpy(buffer, text.data() + done, piece);
    done += piece;
    if (piece < static_cast<size_t>(room)) stream.BackUp(room - static_cast<int>(piece));
  }
  if (!stream.Close()) return absl::InternalError("compression of the report's data failed");
  return compressed;
}

std::string Escaped(std::string_view text) {
  return absl::StrReplaceAll(absl::string_view(text.data(), text.size()),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

std::string_view ReportTemplate() {
  return {heddle_report_template, static_cast<size_t>(heddle_report_template_end - heddle_report_template)};
}

absl::StatusOr<std::string> ReportPage(std::string_view page, const std::string& data, std::string_view title) {
  const size_t data_at = page.find(kDataMark);
  if (data_at == std::string_view::npos) {
    return absl::FailedPreconditionError(
        "this build of heddle has no report page, which needs npm: install it with `tools/install-packages report`, "
        "then build again with `cmake --preset release && cmake --build --preset release`; `heddle report --json` and "
        "--figure work without it");
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::string compressed, Gzip(data));
  std::string text(page.substr(0, data_at));
  absl::StrAppend(&text, absl::Base64Escape(compressed));
  text.append(page.substr(data_at + kDataMark.size()));
  const std::string escaped = Escaped(title);
  for (size_t at = text.find(kTitleMark); at != std::string::npos; at = text.find(kTitleMark, at + escaped.size())) {
    text.replace(at, kTitleMark.size(), escaped);
  }
  return text;
}

}  // namespace heddle::tools
