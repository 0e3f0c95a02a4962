#include "tools/drawing/thread_progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "tools/console/xml_text.h"
#include "tools/drawing/drawing_style.h"

namespace heddle::tools {
namespace {

constexpr char kLightProgress[] = R"svg(.all{fill:#56b4e9;fill-opacity:.35}.most{fill:#56b4e9;fill-opacity:.75}
.median{stroke:#1a1a1a;stroke-width:1.5;fill:none}
)svg";
constexpr char kDarkProgress[] = R"svg(.median{stroke:#ececec}
)svg";
constexpr int kLeft = 96;
constexpr int kTop = 56;
constexpr int kWidth = 720;
constexpr int kHeight = 260;

}  // namespace

void ThreadProgress::Issued(const replay::IssueEvent& event) {
  if (event.sm != sm_) return;
  if (launch_.has_value() ? *launch_ != event.launch : wanted_.value_or(event.launch) != event.launch) return;
  launch_ = event.launch;
  for (; next_ <= event.cycle; next_ += step_) {
    if (samples_.size() == kMostSamples) {
      for (size_t i = 0; 2 * i + 1 < samples_.size(); ++i) samples_[i] = samples_[2 * i + 1];
      samples_.resize(kMostSamples / 2);
      step_ *= 2;
      next_ = samples_.back().cycle + step_;
      if (next_ > event.cycle) break;
    }
    samples_.push_back(Now(next_));
  }
  for (const replay::IssueEvent::Lane& lane : event.lanes) ++instructions_[{lane.block, lane.thread}];
  last_issue_ = event.cycle;
}

ThreadProgress::Sample ThreadProgress::Now(replay::Cycle cycle) const {
  Sample sample;
  sample.cycle = cycle;
  std::vector<uint64_t> sorted;
  for (const auto& [thread, count] : instructions_) sorted.push_back(count);
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < kQuantiles && !sorted.empty(); ++i) {
    sample.instructions[i] = sorted[i * (sorted.size() - 1) / (kQuantiles - 1)];
  }
  return sample;
}

std::vector<ThreadProgress::Sample> ThreadProgress::Samples() const {
  std::vector<Sample> samples = samples_;
  if (launch_.has_value()) samples.push_back(Now(last_issue_ + 1));
  return samples;
}

std::string DrawThreadProgress(const ThreadProgress& progress, const std::string& title) {
  const std::vector<ThreadProgress::Sample> samples = progress.Samples();
  const uint64_t cycles = std::max<uint64_t>(progress.last_issue() + 1, 1);
  uint64_t most = 1;
  for (const ThreadProgress::Sample& sample : samples) most = std::max(most, sample.instructions.back());
  const auto point = [&](const ThreadProgress::Sample& sample, size_t quantile) {
    const uint64_t x = kLeft + sample.cycle * kWidth / cycles;
    const uint64_t y = kTop + kHeight - sample.instructions[quantile] * kHeight / most;
    return absl::StrCat(x, ",", y, " ");
  };
  const auto band = [&](const char* style, size_t low, size_t high) {
    std::string points = absl::StrCat(kLeft, ",", kTop + kHeight, " ");
    for (const auto& sample : samples) points += point(sample, high);
    for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) points += point(*sample, low);
    return absl::StrCat("<polygon class=\"", style, "\" points=\"", points, "\"/>\n");
  };
  std::string median = absl::StrCat(kLeft, ",", kTop + kHeight, " ");
  for (const auto& sample : samples) median += point(sample, ThreadProgress::kQuantiles / 2);
  const std::string name = XmlText(title);
  const auto text = [](int x, int y, const char* style, const std::string& words) {
    return absl::StrCat("<text x=\"", x, "\" y=\"", y, "\" class=\"", style, "\">", words, "</text>\n");
  };
  const int width = std::max(kLeft + kWidth + 40, 24 + 9 * static_cast<int>(title.size()));
  const int height = kTop + kHeight + 66;
  const int legend = kTop + kHeight + 44;
  return absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ", height, "\" width=\"", width,
      "\" height=\"", height, "\" role=\"img\">\n<title>", name, "</title>\n",
      DrawingStyle(kLightProgress, kDarkProgress), "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
      text(12, 26, "t", name), text(12, 46, "s", "instructions executed, by thread"),
      band("all", 0, ThreadProgress::kQuantiles - 1), band("most", 1, ThreadProgress::kQuantiles - 2),
      "<polyline class=\"median\" points=\"", median, "\"/>\n", "<path class=\"l\" d=\"M", kLeft, " ", kTop, "v",
      kHeight, "h", kWidth, "\"/>\n", text(kLeft - 8, kTop + 10, "s e", WithThousands(most)),
      text(kLeft - 8, kTop + kHeight, "s e", "0"), text(kLeft, kTop + kHeight + 18, "s m", "0"),
      text(kLeft + kWidth, kTop + kHeight + 18, "s m", WithThousands(cycles)),
      text(kLeft + kWidth / 2, kTop + kHeight + 18, "s m", "cycle"), "<rect class=\"all\" x=\"12\" y=\"", legend - 9,
      "\" width=\"16\" height=\"10\"/>\n", text(34, legend, "s", "all threads that have begun"),
      "<rect class=\"most\" x=\"252\" y=\"", legend - 9, "\" width=\"16\" height=\"10\"/>\n",
      text(274, legend, "s", "without the first and last tenth"), "<path class=\"median\" d=\"M530 ", legend - 4,
      "h16\"/>\n", text(552, legend, "s", "median"), "</svg>\n");
}

}  // namespace heddle::tools
