#include "tracegen/application/settings.h"

#include <cstdio>
#include <map>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tracegen {
namespace {

using trace::v1::BlockSelection;

// Values may hold anything; the separators and what is not printable are written as %XX.
std::string Escape(absl::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c > ' ' && c < 127 && c != '%' && c != '&' && c != '=') {
      escaped += c;
    } else {
      char code[4];
      std::snprintf(code, sizeof(code), "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
      escaped += code;
    }
  }
  return escaped;
}

absl::StatusOr<std::string> Unescape(absl::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    uint32_t code = 0;
    if (text.size() - i < 3) return absl::InvalidArgumentError("a cut escape");
    if (!absl::SimpleHexAtoi(text.substr(i + 1, 2), &code)) return absl::InvalidArgumentError("a wrong escape");
    plain += static_cast<char>(code);
    i += 2;
  }
  return plain;
}

// key=value&key=value
using Fields = std::map<std::string, std::string>;

std::string Join(const Fields& fields) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : fields) parts.push_back(absl::StrCat(key, "=", Escape(value)));
  return absl::StrJoin(parts, "&");
}

absl::StatusOr<Fields> Split(const std::string& text) {
  Fields fields;
  for (absl::string_view part : absl::StrSplit(text, '&')) {
    const size_t equals = part.find('=');
    if (equals == absl::string_view::npos) return absl::InvalidArgumentError("a field without '='");
    HEDDLE_ASSIGN_OR_RETURN(std::string value, Unescape(part.substr(equals + 1)));
    fields[std::string(part.substr(0, equals))] = std::move(value);
  }
  return fields;
}

// Takes values out of fields; remembers whether one was missing or no number.
class FieldReader {
 public:
  explicit FieldReader(Fields fields) : fields_(std::move(fields)) {}

  std::string Text(const std::string& key) {
    const auto found = fields_.find(key);
    ok_ = ok_ && found != fields_.end();
    return found == fields_.end() ? "" : found->second;
  }
  uint64_t Number(const std::string& key) {
    uint64_t number = 0;
    ok_ = absl::SimpleAtoi(Text(key), &number) && ok_;
    return number;
  }
  bool Flag(const std::string& key) { return Number(key) != 0; }
  bool ok() const { return ok_; }

 private:
  Fields fields_;
  bool ok_ = true;
};

std::string Number(uint64_t value) { return absl::StrCat(value); }

}  // namespace

std::string Encode(const CaptureSettings& settings) {
  return Join({{"folder", settings.folder},
               {"kernels", settings.kernels},
               {"first_launch", Number(settings.first_launch)},
               {"last_launch", Number(settings.last_launch)},
               {"max_blocks", Number(settings.max_blocks)},
               {"block_rule", Number(settings.block_rule)},
               {"seed", Number(settings.seed)},
               {"max_instructions", Number(settings.max_instructions)},
               {"certify", Number(settings.certify)},
               {"lockstep", Number(settings.lockstep)},
               {"own_stacks", Number(settings.own_stacks)},
               {"allow_bounds", Number(settings.allow_bounds)},
               {"resident_blocks", Number(settings.resident_blocks)},
               {"architecture", settings.architecture},
               {"level", Number(static_cast<uint64_t>(settings.zstd_level))},
               {"threads", Number(settings.threads)},
               {"jobs", Number(settings.jobs)},
               {"keep_partial", Number(settings.keep_partial)},
               {"progress", Number(settings.progress)},
               {"notes", Number(settings.notes)},
               {"command_line", settings.command_line}});
}

absl::StatusOr<CaptureSettings> DecodeSettings(const std::string& text) {
  HEDDLE_ASSIGN_OR_RETURN(Fields fields, Split(text));
  FieldReader reader(std::move(fields));
  CaptureSettings settings;
  settings.folder = reader.Text("folder");
  settings.kernels = reader.Text("kernels");
  settings.first_launch = reader.Number("first_launch");
  settings.last_launch = reader.Number("last_launch");
  settings.max_blocks = reader.Number("max_blocks");
  const uint64_t rule = reader.Number("block_rule");
  settings.seed = reader.Number("seed");
  settings.max_instructions = reader.Number("max_instructions");
  settings.certify = static_cast<uint32_t>(reader.Number("certify"));
  settings.lockstep = reader.Flag("lockstep");
  settings.own_stacks = reader.Flag("own_stacks");
  settings.allow_bounds = reader.Flag("allow_bounds");
  settings.resident_blocks = static_cast<uint32_t>(reader.Number("resident_blocks"));
  settings.architecture = reader.Text("architecture");
  settings.zstd_level = static_cast<int>(reader.Number("level"));
  settings.threads = static_cast<unsigned>(reader.Number("threads"));
  settings.jobs = static_cast<unsigned>(reader.Number("jobs"));
  settings.keep_partial = reader.Flag("keep_partial");
  settings.progress = reader.Flag("progress");
  settings.notes = reader.Flag("notes");
  settings.command_line = reader.Text("command_line");
  if (!reader.ok() || rule > static_cast<uint64_t>(BlockSelection::Rule_MAX) || settings.folder.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the environment variable ", kCaptureVariable,
                                                   " was not set by `heddle capture` of this version"));
  }
  settings.block_rule = static_cast<BlockSelection::Rule>(rule);
  return settings;
}

absl::Status ReadLaunches(const std::string& text, CaptureSettings& settings) {
  const auto wrong = [&text] {
    return absl::InvalidArgumentError(
        absl::StrCat("--launches ", text, ": write A-B, A- or A, where launches count from 0"));
  };
  const std::vector<std::string> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  if (!ends[0].empty() && !absl::SimpleAtoi(ends[0], &settings.first_launch)) return wrong();
  if (ends[0].empty()) settings.first_launch = 0;
  if (ends.size() == 1) {
    if (ends[0].empty()) return wrong();
    settings.last_launch = settings.first_launch;
  } else if (ends[1].empty()) {
    if (ends[0].empty()) return wrong();
    settings.last_launch = ~uint64_t{0};
  } else if (!absl::SimpleAtoi(ends[1], &settings.last_launch)) {
    return wrong();
  }
  return settings.last_launch < settings.first_launch ? wrong() : absl::OkStatus();
}

absl::Status ReadBlockChoice(const std::string& text, CaptureSettings& settings) {
  if (text == "waves") {
    settings.block_rule = BlockSelection::WAVES;
  } else if (text == "first") {
    settings.block_rule = BlockSelection::FIRST;
  } else if (text == "even") {
    settings.block_rule = BlockSelection::EVENLY_SPACED;
  } else if (absl::string_view seed = text;
             absl::ConsumePrefix(&seed, "random:") && absl::SimpleAtoi(seed, &settings.seed)) {
    settings.block_rule = BlockSelection::RANDOM;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("--block-choice ", text, ": possible are waves, first, even and random:SEED with a number"));
  }
  return absl::OkStatus();
}

absl::Status CheckKernels(const std::string& expression) {
  const absl::Status status = trace::KernelPattern::Parse(expression).status();
  return status.ok() ? status : absl::InvalidArgumentError(absl::StrCat("--kernels ", status.message()));
}

std::string DescribeChoice(const CaptureSettings& settings) {
  std::vector<std::string> parts;
  if (!settings.kernels.empty()) parts.push_back(absl::StrCat("only kernels that match '", settings.kernels, "'"));
  if (settings.first_launch != 0 || settings.last_launch != ~uint64_t{0}) {
    parts.push_back(absl::StrCat("only launches ", settings.first_launch, "-",
                                 settings.last_launch == ~uint64_t{0} ? "" : absl::StrCat(settings.last_launch)));
  }
  if (settings.max_blocks != 0) {
    const char* rule = settings.block_rule == BlockSelection::WAVES    ? "whole waves of a full device"
                       : settings.block_rule == BlockSelection::FIRST  ? "the first"
                       : settings.block_rule == BlockSelection::RANDOM ? "drawn at random"
                                                                       : "evenly spaced";
    parts.push_back(absl::StrCat("at most ", settings.max_blocks, " blocks of a launch, ", rule));
    if (settings.block_rule == BlockSelection::RANDOM) absl::StrAppend(&parts.back(), " with seed ", settings.seed);
  }
  return absl::StrJoin(parts, "; ");
}

std::string Encode(const CaptureOutcome& outcome) {
  return Join({{"program", outcome.program},
               {"launches", Number(outcome.launches)},
               {"recorded", Number(outcome.recorded)},
               {"blocks", Number(outcome.blocks)},
               {"threads", Number(outcome.threads)},
               {"thread_instructions", Number(outcome.thread_instructions)},
               {"failure", outcome.failure},
               {"told", Number(outcome.told)},
               {"complete", Number(outcome.complete)}});
}

absl::StatusOr<CaptureOutcome> DecodeOutcome(const std::string& text) {
  HEDDLE_ASSIGN_OR_RETURN(Fields fields, Split(text));
  FieldReader reader(std::move(fields));
  CaptureOutcome outcome;
  outcome.program = reader.Text("program");
  outcome.launches = reader.Number("launches");
  outcome.recorded = reader.Number("recorded");
  outcome.blocks = reader.Number("blocks");
  outcome.threads = reader.Number("threads");
  outcome.thread_instructions = reader.Number("thread_instructions");
  outcome.failure = reader.Text("failure");
  outcome.told = reader.Flag("told");
  outcome.complete = reader.Flag("complete");
  if (!reader.ok()) return absl::InvalidArgumentError("an incomplete outcome");
  return outcome;
}

}  // namespace heddle::tracegen
