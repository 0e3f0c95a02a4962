#include "tools/study/sweep/counter_columns.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/replay_result.h"

namespace heddle::tools::sweep {
namespace {

constexpr int kMostNesting = 64;

// Those that do not add up over launches.
bool IsLargest(absl::string_view path) {
  return absl::StartsWith(path, "blocks_per_sm") || path == "registers_per_thread";
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// One text: a strict JSON parser (RFC 8259) that takes what is wanted on its way.
class ResultScanner {
 public:
  ResultScanner(absl::string_view text, bool per_launch, ResultReader& reader, ResultRows& rows)
      : begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        per_launch_(per_launch),
        reader_(reader),
        rows_(rows) {}

  bool Scan() {
    Blanks();
    if (!Value()) return false;
    Blanks();
    return at_ == end_;
  }
  uint64_t schema() const { return schema_; }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }

 private:
  // Whether numbers here are of the result or of a launch, not of a list.
  bool Wanted() const { return lists_ <= (launch_ ? 1 : 0); }

  void Blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(absl::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size() || absl::string_view(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool Value() {
    if (at_ == end_) return false;
    switch (*at_) {
      case '{':
        return Object();
      case '[':
        return List();
      case '"':
        return Text();
      case 't':
        if (!TakeWord("true")) return false;
        if (launch_ && depth_ == 2 && Wanted()) Count(1);  // launches of which it is so
        return true;
      case 'f':
        return TakeWord("false");
      case 'n':
        return TakeWord("null");
      default:
        return Number();
    }
  }

  bool Object() {
    if (depth_ + lists_ >= kMostNesting) return false;
    ++at_;
    ++depth_;
    const size_t outer = path_.size();
    if (depth_ > 2) absl::StrAppend(&path_, key_, ".");
    const bool is_launch = launch_ && depth_ == 2 && lists_ == 1;
    if (is_launch) {
      of_launch_ = CounterRow();
      reader_.position_ = 0;
    }
    Blanks();
    if (!Take('}')) {
      do {
        Blanks();
        if (!String(key_)) return false;
        Blanks();
        if (!Take(':')) return false;
        Blanks();
        if (depth_ == 1) top_ = key_;
        if (!Value()) return false;
        Blanks();
      } while (Take(','));
      if (!Take('}')) return false;
    }
    path_.resize(outer);
    if (is_launch) {
      ++rows_.launches;
      if (per_launch_) rows_.launch.push_back(std::move(of_launch_));
    }
    --depth_;
    return true;
  }

  bool List() {
    if (depth_ + lists_ >= kMostNesting) return false;
    ++at_;
    if (depth_ == 1 && lists_ == 0 && key_ == "launch") launch_ = true;
    ++lists_;
    Blanks();
    if (!Take(']')) {
      do {
        Blanks();
        if (!Value()) return false;
        Blanks();
      } while (Take(','));
      if (!Take(']')) return false;
    }
    --lists_;
    if (lists_ == 0) launch_ = false;
    return true;
  }

  // The next string, decoded.
  bool String(std::string& out) {
    if (at_ == end_ || *at_ != '"') return false;
    const char* const first = ++at_;
    bool plain = true;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (static_cast<unsigned char>(*at_) < ' ') return false;
      if (*at_ != '\\') continue;
      plain = false;
      if (++at_ == end_) return false;
    }
    if (at_ == end_) return false;
    const char* const last = at_++;
    if (plain) {
      out.assign(first, last);
      return true;
    }
    const nlohmann::json decoded = nlohmann::json::parse(first - 1, at_, nullptr, /*allow_exceptions=*/false);
    if (!decoded.is_string()) return false;
    out = decoded.get<std::string>();
    return true;
  }

  bool Text() {
    if (!String(text_)) return false;
    if (!launch_ && depth_ == 2 && lists_ == 1 && key_ == "largest") {
      reader_.declared_largest_.push_back(absl::StrCat(top_, "_counter.", text_));
    }
    if (!Wanted()) return true;
    if (depth_ == 1 && key_ == "key") rows_.key = text_;
    if (launch_ && depth_ == 2 && key_ == "kernel") of_launch_.kernel = text_;
    if (depth_ == 2 && top_ == "provenance" && key_ == "trace_digest") rows_.trace_digest = text_;
    return true;
  }

  bool Number() {
    const char* const first = at_;
    const bool negative = Take('-');
    if (at_ == end_ || !IsDigit(*at_)) return false;
    if (!Take('0')) Digits();
    bool whole = true;
    if (Take('.')) {
      whole = false;
      if (!Digits()) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      whole = false;
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!Digits()) return false;
    }
    if (!Wanted() || (whole && negative)) return true;
    if (!whole) {
      const bool of_total = !launch_ && depth_ == 2 && top_ == "total";
      CounterRow* const row = launch_ && depth_ == 2 ? &of_launch_ : of_total ? &rows_.total : nullptr;
      if (row == nullptr || (key_ != "ipc" && key_ != "lane_activity")) return true;
      double value = 0;
      if (std::from_chars(first, at_, value).ec != std::errc()) return false;
      (key_ == "ipc" ? row->ipc : row->lane_activity) = value;
      return true;
    }
    if (!launch_ && !(depth_ == 1 && key_ == "schema")) return true;
    uint64_t value = 0;
    if (std::from_chars(first, at_, value).ec != std::errc()) return false;
    if (!launch_) {
      schema_ = value;
    } else if (depth_ == 2 && key_ == "launch") {
      of_launch_.launch = value;
    } else if (depth_ >= 2) {
      Count(value);
    }
    return true;
  }
  bool Digits() {
    const char* const first = at_;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return at_ != first;
  }

  void Count(uint64_t value) {
    const size_t prefix = path_.size();
    path_ += key_;
    const uint32_t number = reader_.NumberOf(path_);
    path_.resize(prefix);
    if (!reader_.is_seen_[number]) {
      reader_.is_seen_[number] = true;
      reader_.seen_.push_back(number);
      reader_.sums_[number] = 0;
    }
    uint64_t& sum = reader_.sums_[number];
    sum = reader_.is_largest_[number] || IsDeclaredLargest(number) ? std::max(sum, value) : sum + value;
    if (per_launch_) of_launch_.counters.emplace_back(number, value);
  }

  // Whether the policies of this result say so: other policies may have counters of the same name that add up.
  bool IsDeclaredLargest(uint32_t number) const {
    const std::vector<std::string>& names = reader_.declared_largest_;
    return !names.empty() && std::find(names.begin(), names.end(), reader_.names_[number]) != names.end();
  }

  const char* const begin_;
  const char* at_;
  const char* const end_;
  const bool per_launch_;
  ResultReader& reader_;
  ResultRows& rows_;
  uint64_t schema_ = 0;
  CounterRow of_launch_;
  int depth_ = 0;        // of objects
  int lists_ = 0;        // of lists
  bool launch_ = false;  // within the list of launches
  std::string key_;      // of the member that is being read
  std::string top_;      // of the member of the result
  std::string path_;     // of the object, with a point behind each name
  std::string text_;
};

uint32_t ResultReader::NumberOf(const std::string& path) {
  if (position_ < order_.size() && names_[order_[position_]] == path) return order_[position_++];
  const auto [it, is_new] = numbers_.try_emplace(path, static_cast<uint32_t>(names_.size()));
  if (is_new) {
    names_.push_back(path);
    is_largest_.push_back(IsLargest(path));
    sums_.push_back(0);
    is_seen_.push_back(false);
  }
  // From here on the launches are in another order than before.
  order_.resize(position_);
  order_.push_back(it->second);
  ++position_;
  return it->second;
}

absl::Status ResultReader::Read(absl::string_view text, bool per_launch, ResultRows& rows) {
  rows = ResultRows();
  for (const uint32_t number : seen_) is_seen_[number] = false;
  seen_.clear();
  declared_largest_.clear();
  ResultScanner scanner(text, per_launch, *this, rows);
  if (!scanner.Scan()) {
    return absl::DataLossError(absl::StrCat("is no JSON, from byte ", scanner.position(), " on"));
  }
  if (rows.key.empty()) return absl::DataLossError("is no result of a sweep: it has no key");
  if (scanner.schema() > replay::kResultSchema) {
    return absl::FailedPreconditionError(absl::StrCat("has schema ", scanner.schema(),
                                                      " of results, this program reads ", replay::kResultSchema,
                                                      ": use a newer heddle, such as the one that wrote it"));
  }
  if (scanner.schema() != replay::kResultSchema) {
    return absl::DataLossError(
        absl::StrCat("has schema ", scanner.schema(), " of results, this program reads ", replay::kResultSchema));
  }
  rows.total.counters.reserve(seen_.size());
  for (const uint32_t number : seen_) rows.total.counters.emplace_back(number, sums_[number]);
  return absl::OkStatus();
}

}  // namespace heddle::tools::sweep
