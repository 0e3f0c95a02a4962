#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/edit/copy.h"
#include "traces/format/program/clusters.h"

namespace heddle::trace {
namespace {

absl::Status Conflict(const TraceReader& one, const TraceReader& other, absl::string_view field, absl::string_view mine,
                      absl::string_view theirs) {
  return absl::InvalidArgumentError(absl::StrCat(one.name(), " and ", other.name(), " cannot be in one trace: ", field,
                                                 " is \"", mine, "\" in the one and \"", theirs, "\" in the other"));
}

std::string Text(const v1::AddressWindow& window) {
  return absl::StrCat(v1::MemorySpace_Name(window.space()), " 0x", absl::Hex(window.base()), "+0x",
                      absl::Hex(window.bytes()));
}

absl::Status CheckAlike(const TraceReader& one, const TraceReader& other) {
  const v1::FileHeader& a = one.header();
  const v1::FileHeader& b = other.header();
  struct Field {
    const char* name;
    const std::string& (v1::FileHeader::*get)() const;
  };
  for (const Field& field :
       {Field{"abstraction_level", &v1::FileHeader::abstraction_level}, Field{"target", &v1::FileHeader::target},
        Field{"compiler", &v1::FileHeader::compiler}, Field{"optimization", &v1::FileHeader::optimization}}) {
    if ((a.*field.get)() != (b.*field.get)()) {
      return Conflict(one, other, field.name, (a.*field.get)(), (b.*field.get)());
    }
  }
  const auto windows = [](const v1::FileHeader& header) {
    std::string text;
    for (const v1::AddressWindow& window : header.window()) {
      // Only traces with clusters list theirs.
      if (window.space() == v1::SPACE_CLUSTER_SHARED) continue;
      absl::StrAppend(&text, text.empty() ? "" : ", ", Text(window));
    }
    return text;
  };
  if (windows(a) != windows(b)) return Conflict(one, other, "window", windows(a), windows(b));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MergedHeader> MergeHeaders(std::span<const TraceReader* const> readers, const std::string& producer) {
  MergedHeader out;
  out.header = readers[0]->header();
  out.header.set_producer(producer);
  out.header.clear_source_file();
  const TraceReader* width_of = readers[0];  // the trace whose warp width counts
  for (size_t i = 0; i < readers.size(); ++i) {
    const v1::FileHeader& header = readers[i]->header();
    HEDDLE_RETURN_IF_ERROR(CheckAlike(*readers[0], *readers[i]));
    out.header.set_minor(std::max(out.header.minor(), header.minor()));
    if (const v1::AddressWindow* theirs = FindWindow(header, v1::SPACE_CLUSTER_SHARED); theirs != nullptr) {
      const v1::AddressWindow* mine = FindWindow(out.header, v1::SPACE_CLUSTER_SHARED);
      if (mine == nullptr) {
        *out.header.add_window() = *theirs;
      } else if (Text(*mine) != Text(*theirs)) {
        return Conflict(*readers[0], *readers[i], "window", Text(*mine), Text(*theirs));
      }
    }
    if (out.header.warp_width() == 0 && header.warp_width() != 0) {
      out.header.set_warp_width(header.warp_width());
      width_of = readers[i];
    } else if (header.warp_width() != 0 && header.warp_width() != out.header.warp_width()) {
      return Conflict(*width_of, *readers[i], "warp_width", absl::StrCat(out.header.warp_width()),
                      absl::StrCat(header.warp_width()));
    }
    if (header.command_line() != out.header.command_line()) out.header.clear_command_line();
    for (const auto& [key, value] : header.provenance()) {
      auto& provenance = *out.header.mutable_provenance();
      const auto [it, added] = provenance.insert({key, value});
      if (!added && it->second != value) provenance[absl::StrCat(key, "@", i + 1)] = value;
    }
    std::vector<uint32_t>& numbers = out.source_file.emplace_back(1, 0);
    for (const std::string& file : header.source_file()) {
      auto& files = *out.header.mutable_source_file();
      auto it = std::find(files.begin(), files.end(), file);
      numbers.push_back(static_cast<uint32_t>(it - files.begin()) + 1);
      if (it == files.end()) *files.Add() = file;
    }
  }
  return out;
}

}  // namespace heddle::trace
