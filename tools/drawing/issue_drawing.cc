#include "tools/drawing/issue_drawing.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/xml_text.h"
#include "tools/drawing/drawing_style.h"

namespace heddle::tools {
namespace {

using replay::Cycle;
using replay::Pc;
using replay::WaitEvent;
using Thread = replay::IssueEvent::Lane;

constexpr uint32_t kUsualColours = 8;
constexpr uint32_t kColours = 16;
constexpr int kMargin = 12;
constexpr int kCharacter = 7;  // width of a character of 12 pixels
constexpr int kLine = 18;      // height of a line of text
constexpr int kAxis = 22;      // height of the labels below a panel

// Fills of Okabe and Ito's palette, made lighter where black text would be hard to read on them. They do in light as in
// dark; only paper, ink and lines change.
constexpr char kLight[] = R"svg(.c{fill:#111111;font-size:11px;text-anchor:middle}
.n{fill:#f3f3f3;stroke:#d0d0d0;stroke-width:.5}
.a{fill:none;stroke:#8c8c8c;stroke-width:1.5}
.w{fill:#ffffff;stroke:#5c5c5c;stroke-width:1.5}.h{fill:#ffffff;stroke:#5c5c5c;stroke-width:1.5;stroke-dasharray:2 2}
.b{fill:url(#bar);stroke:#5c5c5c;stroke-width:.5}.bar{stroke:#5c5c5c;stroke-width:2.5}
.k0{fill:#56b4e9}.k1{fill:#e69f00}.k2{fill:#35b894}.k3{fill:#f0e442}.k4{fill:#5b9bd5}.k5{fill:#e8804a}.k6{fill:#d9a0c1}.k7{fill:#b5b5b5}
)svg";
// Of drawings with more blocks than that.
constexpr char kFurther[] =
    R"svg(.k8{fill:#a6d854}.k9{fill:#b39ddb}.k10{fill:#c8a27a}.k11{fill:#9be3dd}.k12{fill:#f4a6a0}.k13{fill:#b8b04a}.k14{fill:#8fa9a0}.k15{fill:#dccdf2}
)svg";
constexpr char kDark[] = R"svg(.c{fill:#111111}
.n{fill:#20242a;stroke:#3c4147}
.a{stroke:#7d858e}
.w,.h{fill:#15181c;stroke:#b9bec4}
.b,.bar{stroke:#a8adb3}
)svg";
constexpr char kHatching[] =
    R"svg(<defs><pattern id="bar" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="bar" d="M0 0V5"/></pattern></defs>
)svg";

std::string BlockName(uint32_t block) {
  return block < 26 ? std::string(1, static_cast<char>('A' + block)) : absl::StrCat(block);
}

// The elements of a document, as they are drawn.
class SvgBody {
 public:
  void Write(int x, int y, const char* style, const std::string& text) {
    absl::StrAppend(&text_, "<text x=\"", x, "\" y=\"", y, "\" class=\"", style, "\">", XmlText(text), "</text>\n");
  }
  void Rectangle(int x, int y, int width, int height, const std::string& style) {
    absl::StrAppend(&text_, "<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height, "\" class=\"",
                    style, "\"/>\n");
  }
  // Of a warp that has begun.
  void Line(int from, int to, int y) {
    absl::StrAppend(&text_, "<path class=\"a\" d=\"M", from, " ", y, "H", to, "\"/>\n");
  }
  // On the axis, at a cycle.
  void Tick(int x, int y) { absl::StrAppend(&text_, "<path class=\"l\" d=\"M", x, " ", y, "v4\"/>\n"); }
  // Something reaches to here.
  void Widen(int x) { widest_ = std::max(widest_, x); }

  const std::string& text() const { return text_; }
  int widest() const { return widest_; }

 private:
  std::string text_;
  int widest_ = 0;
};

// A colour of its own for every block as long as there are some.
class BlockColours {
 public:
  // The style of the block's colour.
  std::string StyleOf(uint32_t block) {
    const auto [colour, is_new] = colours_.emplace(block, block % kUsualColours);
    if (is_new) {
      std::set<uint32_t> taken;
      for (const auto& [other, its] : colours_) {
        if (other != block) taken.insert(its);
      }
      if (taken.contains(colour->second) && taken.size() < kColours) {
        // The usual ones are left for the blocks that they belong to.
        colour->second = kUsualColours;
        while (taken.contains(colour->second)) colour->second = (colour->second + 1) % kColours;
      }
      further_ |= colour->second >= kUsualColours;
    }
    return absl::StrCat("k", colour->second);
  }

  // By block that was drawn.
  const std::map<uint32_t, uint32_t>& colours() const { return colours_; }
  // Whether there are some beyond the usual ones.
  bool further() const { return further_; }

 private:
  std::map<uint32_t, uint32_t> colours_;
  bool further_ = false;
};

// What was drawn that the legend has to explain.
struct DrawnMarks {
  bool lower_boxes = false;  // of warps that did not issue with all threads
  bool passed_over = false;
  bool held = false;
  bool barriers = false;
  bool under_way = false;
};

// Draws one document from top to bottom.
class Drawing {
 public:
  Drawing(const IssueRecording& recording, const trace::Program& program, const DrawingOptions& options)
      : recording_(recording), program_(program), options_(options) {
    end_ = std::min(recording.last(), recording.last_issue()) + 1;
    if (end_ <= recording.first()) end_ = recording.first() + 1;
    const uint64_t cycles = end_ - recording.first();
    width_of_cycle_ = cycles <= 64 ? 24 : cycles <= 160 ? 10 : cycles <= 480 ? 4 : 2;
    for (const auto& issue : recording.issues()) {
      for (const Thread& thread : issue.lanes) warps_.insert(WarpOf(thread));
    }
    for (const auto& wait : recording.waits()) {
      for (const Thread& thread : wait.threads) warps_.insert(WarpOf(thread));
    }
    // Some that have begun do nothing but wait in these cycles.
    for (const auto& [warp, life] : recording.lives()) {
      if (life.first < end_ && life.last >= recording.first()) warps_.insert(warp);
    }
    size_t label = 6;
    if (options.warps) {
      for (const WarpId& warp : warps_) label = std::max(label, WarpName(warp).size());
    }
    left_ = kMargin + static_cast<int>(label) * kCharacter + 8;
    top_ = kMargin;
  }

  std::string Text() {
    Title();
    if (options_.lanes) {
      for (uint32_t port = 0; port < options_.ports; ++port) LanePanel(port);
    }
    if (options_.warps) WarpPanel();
    Legend();
    const int width = std::max(static_cast<int>(X(end_)), body_.widest()) + kMargin;
    const int height = top_ + kMargin;
    return absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ", height, "\" width=\"",
                        width, "\" height=\"", height, "\" role=\"img\">\n<title>", XmlText(options_.title),
                        "</title>\n", DrawingStyle(absl::StrCat(kLight, colours_.further() ? kFurther : ""), kDark),
                        kHatching, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", body_.text(),
                        "</svg>\n");
  }

 private:
  using WarpId = IssueRecording::WarpId;

  WarpId WarpOf(const Thread& thread) const { return {thread.block, thread.thread / options_.warp_size}; }
  std::string WarpName(const WarpId& warp) const {
    return several_blocks() ? absl::StrCat("block ", warp.first, " warp ", warp.second)
                            : absl::StrCat("warp ", warp.second);
  }
  bool several_blocks() const { return !warps_.empty() && warps_.begin()->first != warps_.rbegin()->first; }
  bool detailed() const { return width_of_cycle_ >= 20; }
  uint64_t X(Cycle cycle) const {
    return static_cast<uint64_t>(left_) + (cycle - recording_.first()) * static_cast<uint64_t>(width_of_cycle_);
  }

  std::string Colour(Pc pc) { return colours_.StyleOf(program_.block_of(pc)); }
  std::string Name(Pc pc) const {
    const uint32_t block = program_.block_of(pc);
    if (program_.block(block).count == 1) return BlockName(block);
    const uint32_t index = pc - program_.block(block).first;
    return absl::StrCat(BlockName(block), block < 26 ? "" : ".", index);
  }

  // What stands above an issue: its instruction, or the blocks if there are several.
  std::string Names(const std::set<Pc>& places) const {
    if (places.size() == 1) return Name(*places.begin());
    std::string names;
    for (const Pc pc : places) names += BlockName(program_.block_of(pc));
    return names.size() <= 3 ? names : "...";
  }

  void Title() {
    body_.Write(kMargin, top_ + 14, "t", options_.title);
    body_.Widen(kMargin + static_cast<int>(options_.title.size()) * 9);
    uint64_t issues = 0;
    uint64_t threads = 0;
    for (const auto& issue : recording_.issues()) {
      ++issues;
      threads += issue.lanes.size();
    }
    const uint64_t share = issues == 0 ? 0 : (threads * 2000 / (issues * options_.warp_size) + 1) / 2;  // of 1000
    const std::string text =
        absl::StrCat(issues, issues == 1 ? " issue" : " issues", " in cycles ", recording_.first(), " to ", end_ - 1,
                     end_ <= recording_.last_issue() ? absl::StrCat(" of ", recording_.last_issue() + 1) : "",
                     ", lane activity ", share / 10, ".", share % 10, " %");
    body_.Write(kMargin, top_ + 14 + kLine, "s", text);
    body_.Widen(kMargin + static_cast<int>(text.size()) * kCharacter);
    top_ += 2 * kLine + 10;
  }

  // Cycle numbers below a panel that ends at top_.
  void Axis() {
    const uint64_t step = detailed() ? 1 : width_of_cycle_ >= 10 ? 10 : width_of_cycle_ >= 4 ? 20 : 50;
    for (Cycle cycle = (recording_.first() + step - 1) / step * step; cycle < end_; cycle += step) {
      const int x = static_cast<int>(X(cycle)) + width_of_cycle_ / 2;
      body_.Tick(x, top_);
      body_.Write(x, top_ + 16, "s m", absl::StrCat(cycle));
    }
    body_.Write(left_ - 20, top_ + 16, "s e", "cycle");
    top_ += kAxis;
  }

  // One row per lane, one column per cycle. What issued stands above the column.
  void LanePanel(uint32_t port) {
    const int height = detailed() ? 18 : options_.warp_size <= 8 ? 12 : 6;
    const int rows = static_cast<int>(options_.warp_size);
    body_.Write(kMargin, top_ + 12, "",
                options_.ports == 1 ? "issue slots by lane; numbers are threads"
                                    : absl::StrCat("issue slots of scheduler ", port, " by lane"));
    top_ += kLine;
    const int head = detailed() ? 16 : 4;
    const int first = top_ + head;
    for (int lane = 0; lane < rows; ++lane) {
      if (height < 12 && lane % 8 != 0) continue;
      body_.Write(left_ - 8, first + lane * height + std::min(height, 14) - 1, "s e",
                  lane == 0 ? "lane 0" : absl::StrCat(lane));
    }
    body_.Rectangle(left_, first, static_cast<int>(X(end_)) - left_, rows * height, "n");
    for (const auto& issue : recording_.issues()) {
      if (issue.port != port) continue;
      const int x = static_cast<int>(X(issue.cycle));
      std::set<Pc> places;
      for (size_t i = 0; i < issue.lanes.size();) {  // neighbours at one PC are one box if nothing is written into it
        const Thread& thread = issue.lanes[i];
        size_t next = i + 1;
        while (!detailed() && next < issue.lanes.size() && issue.lanes[next].pc == thread.pc &&
               issue.lanes[next].lane == issue.lanes[next - 1].lane + 1) {
          ++next;
        }
        places.insert(thread.pc);
        const int y = first + static_cast<int>(thread.lane) * height;
        body_.Rectangle(x, y, width_of_cycle_ - 1, static_cast<int>(next - i) * height - 1, Colour(thread.pc));
        if (detailed()) body_.Write(x + width_of_cycle_ / 2, y + 13, "c", absl::StrCat(thread.thread));
        i = next;
      }
      if (!detailed()) continue;
      body_.Write(x + width_of_cycle_ / 2, top_ + 11, "m", Names(places));
    }
    top_ = first + rows * height;
    Axis();
    top_ += 8;
  }

  // One row per static warp. A box as high as the warp's share of threads that issued; hatched from its arrival at a
  // barrier on; an outline where it could have issued and another warp did; a line wherever it has begun and is not at
  // its end, which shows where it waits for anything else.
  void WarpPanel() {
    constexpr int kRow = 20;
    body_.Write(kMargin, top_ + 12, "", "warps over time");
    top_ += kLine;
    std::map<WarpId, int> row_of;
    std::map<WarpId, Life> lives;
    for (const WarpId& warp : warps_) {
      const int y = top_ + static_cast<int>(row_of.size()) * kRow;
      row_of[warp] = y;
      body_.Write(left_ - 8, y + 14, "s e", WarpName(warp));
    }
    for (const auto& issue : recording_.issues()) {
      std::map<WarpId, std::pair<int, Pc>> shares;
      for (const Thread& thread : issue.lanes) {
        std::pair<int, Pc>& share = shares[WarpOf(thread)];
        ++share.first;
        share.second = thread.pc;
      }
      for (const auto& [warp, share] : shares) {
        lives[warp].issued.insert(issue.cycle);
        if (program_.instruction(share.second).op() == trace::v1::OP_BARRIER)
          lives[warp].arrived.push_back(issue.cycle);
      }
    }
    for (const auto& [warp, life] : recording_.lives()) {
      const Cycle born = std::max(life.first, recording_.first());
      const Cycle died = std::min(life.last + 1, end_);
      if (born >= died) continue;
      body_.Line(static_cast<int>(X(born)), static_cast<int>(X(died)), row_of[warp] + 10);
      marks_.under_way = true;
    }
    Barriers(row_of, lives, kRow);
    Waits(row_of, lives, kRow);
    for (const auto& issue : recording_.issues()) Boxes(issue, row_of, kRow);
    top_ += static_cast<int>(row_of.size()) * kRow;
    Axis();
    top_ += 8;
  }

  struct Life {
    std::set<Cycle> issued;
    std::vector<Cycle> arrived;  // at barriers
  };

  void Boxes(const IssueRecording::Issue& issue, std::map<WarpId, int>& row_of, int row) {
    std::map<WarpId, std::pair<uint32_t, Pc>> shares;
    for (const Thread& thread : issue.lanes) {
      std::pair<uint32_t, Pc>& share = shares[WarpOf(thread)];
      ++share.first;
      share.second = thread.pc;
    }
    for (const auto& [warp, share] : shares) {
      const int full = row - 3;
      const int height = std::max<int>(5, full * static_cast<int>(share.first) / static_cast<int>(options_.warp_size));
      marks_.lower_boxes |= share.first < options_.warp_size;
      const int x = static_cast<int>(X(issue.cycle));
      const int y = row_of[warp] + 1 + full - height;
      body_.Rectangle(x, y, width_of_cycle_ - 1, height, Colour(share.second));
      if (!detailed()) continue;
      body_.Write(x + width_of_cycle_ / 2, row_of[warp] + 14, height >= 12 ? "c" : "m", Name(share.second));
    }
  }

  void Barriers(std::map<WarpId, int>& row_of, const std::map<WarpId, Life>& lives, int row) {
    for (const auto& [warp, life] : lives) {
      for (const Cycle arrival : life.arrived) {
        Cycle until = end_;
        for (const auto& wait : recording_.waits()) {
          if (wait.kind != WaitEvent::Kind::kBarrierOpened || wait.block != warp.first || wait.cycle <= arrival)
            continue;
          until = std::min(until, wait.cycle);
        }
        if (until <= arrival + 1) continue;
        const int x = static_cast<int>(X(arrival + 1));
        const int width = static_cast<int>(X(until)) - x - 1;
        body_.Rectangle(x, row_of[warp] + 4, width, row - 9, "paper");  // over the line
        body_.Rectangle(x, row_of[warp] + 4, width, row - 9, "b");
        marks_.barriers = true;
      }
    }
  }

  void Waits(std::map<WarpId, int>& row_of, const std::map<WarpId, Life>& lives, int row) {
    for (const auto& wait : recording_.waits()) {
      if (wait.kind == WaitEvent::Kind::kBarrierOpened || wait.cycle >= end_) continue;
      const bool held = wait.kind == WaitEvent::Kind::kHeldBack;
      std::set<WarpId> warps;
      for (const Thread& thread : wait.threads) warps.insert(WarpOf(thread));
      for (const WarpId& warp : warps) {
        const auto life = lives.find(warp);
        if (life != lives.end() && life->second.issued.contains(wait.cycle)) continue;
        body_.Rectangle(static_cast<int>(X(wait.cycle)) + 2, row_of[warp] + 6, std::max(1, width_of_cycle_ - 5),
                        row - 13, held ? "h" : "w");
        (held ? marks_.held : marks_.passed_over) = true;
      }
    }
  }

  void Legend() {
    int x = kMargin;
    const auto entry = [&](const std::string& style, const std::string& text) {
      const int width = 24 + static_cast<int>(text.size()) * kCharacter + 14;
      if (x > kMargin && x + width > std::max(static_cast<int>(X(end_)), 640)) {
        x = kMargin;
        top_ += kLine;
      }
      if (style == "a") {
        body_.Line(x, x + 16, top_ + 8);
      } else {
        body_.Rectangle(x, top_ + 3, 16, 10, style);
      }
      body_.Write(x + 22, top_ + 12, "s", text);
      x += width;
      body_.Widen(x);
    };
    if (colours_.colours().size() <= kColours) {
      for (const auto& [block, colour] : colours_.colours())
        entry(absl::StrCat("k", colour), "block " + BlockName(block));
    } else {
      entry("n", absl::StrCat(colours_.colours().size(), " blocks, of which some share a colour"));
    }
    if (marks_.lower_boxes) entry("n", "height of a box: share of the warp's threads that issue");
    if (marks_.passed_over) entry("w", "could issue, another warp does");
    if (marks_.held) entry("h", "could issue, scheduler lets none");
    if (marks_.barriers) entry("b", "at a barrier");
    if (marks_.under_way) entry("a", "waits, cannot issue");
    if (x > kMargin) top_ += kLine;
  }

  const IssueRecording& recording_;
  const trace::Program& program_;
  const DrawingOptions& options_;
  Cycle end_ = 0;  // the first cycle that is not drawn
  int width_of_cycle_ = 0;
  std::set<WarpId> warps_;
  int left_ = 0;  // where cycles begin
  int top_ = 0;   // where the next part goes
  BlockColours colours_;
  DrawnMarks marks_;
  SvgBody body_;
};

}  // namespace

std::string DrawIssues(const IssueRecording& recording, const trace::Program& program, const DrawingOptions& options) {
  return Drawing(recording, program, options).Text();
}

}  // namespace heddle::tools
