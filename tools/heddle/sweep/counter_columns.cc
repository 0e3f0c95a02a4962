#include "tools/heddle/sweep/counter_columns.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "replay/engine/replay_result.h"

namespace heddle::tools::sweep {
namespace {

// Those that do not add up over launches.
bool IsLargest(std::string_view path) { return path.starts_with("blocks_per_sm") || path == "registers_per_thread"; }

// Takes what is wanted out of the stream of tokens; a tree of every result would take ten times as long.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(bool per_launch, ResultRows& rows) : per_launch_(per_launch), rows_(rows) {}

  uint64_t schema() const { return schema_; }
  const std::string& error() const { return error_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool number_unsigned(number_unsigned_t value) override {
    if (list_depth_ > (launch_ ? 1 : 0)) return true;
    if (launch_) {
      if (depth_ == 2 && key_ == "launch") {
        at_.launch = value;
        return true;
      }
      uint64_t& sum = Sum();
      sum = IsLargest(path_) ? std::max<uint64_t>(sum, value) : sum + value;
      if (per_launch_) at_.counters[path_] = value;
    } else if (depth_ == 1 && key_ == "schema") {
      schema_ = value;
    }
    return true;
  }

  bool number_float(number_float_t value, const string_t&) override {
    if (list_depth_ > (launch_ ? 1 : 0)) return true;
    CounterRow* row = launch_ && depth_ == 2 ? &at_ : total_ && depth_ == 2 ? &rows_.total : nullptr;
    if (row == nullptr) return true;
    if (key_ == "ipc") row->ipc = value;
    if (key_ == "lane_activity") row->lane_activity = value;
    return true;
  }

  bool string(string_t& value) override {
    if (list_depth_ > (launch_ ? 1 : 0)) return true;
    if (depth_ == 1 && key_ == "key") rows_.key = value;
    if (launch_ && depth_ == 2 && key_ == "kernel") at_.kernel = value;
    if (depth_ == 2 && top_ == "provenance" && key_ == "trace_digest") rows_.trace_digest = value;
    return true;
  }

  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1) {
      top_ = value;
      total_ = value == "total";
    }
    return true;
  }

  bool start_object(size_t) override {
    ++depth_;
    if (depth_ > 2) prefix_.push_back(key_);
    if (launch_ && depth_ == 2) {
      at_ = CounterRow();
      position_ = 0;
    }
    return true;
  }
  bool end_object() override {
    if (depth_ > 2) prefix_.pop_back();
    if (launch_ && depth_ == 2) {
      ++rows_.launches;
      if (per_launch_) rows_.launch.push_back(std::move(at_));
    }
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ == 1 && list_depth_ == 0 && key_ == "launch") launch_ = true;
    ++list_depth_;
    return true;
  }
  bool end_array() override {
    --list_depth_;
    if (list_depth_ == 0) launch_ = false;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    error_ = absl::StrCat("is no JSON, from byte ", position, " on");
    return false;
  }

 private:
  // The counter of the member that the reader is at. Launches have the same members in the same order, so the counter
  // is mostly the one that followed in the launch before, and nothing is searched for.
  uint64_t& Sum() {
    const std::string& path = Path();
    if (position_ < order_.size() && order_[position_]->first == path) return order_[position_++]->second;
    const auto counter = rows_.total.counters.try_emplace(path, 0).first;
    if (position_ == order_.size()) {
      order_.push_back(counter);
      ++position_;
    }
    return counter->second;
  }

  const std::string& Path() {
    path_.clear();
    for (const std::string& name : prefix_) absl::StrAppend(&path_, name, ".");
    path_ += key_;
    return path_;
  }

  const bool per_launch_;
  ResultRows& rows_;
  uint64_t schema_ = 0;
  std::string error_;
  CounterRow at_;
  std::vector<decltype(CounterRow::counters)::iterator> order_;  // counters of a launch in the order of its members
  size_t position_ = 0;                                          // in it
  size_t depth_ = 0;                                             // of objects
  size_t list_depth_ = 0;                                        // of arrays
  bool launch_ = false;                                          // within the list of launches
  bool total_ = false;
  std::string key_;
  std::string top_;  // member of the result
  std::vector<std::string> prefix_;
  std::string path_;
};

}  // namespace

absl::Status ReadResultRows(std::string_view text, bool per_launch, ResultRows& rows) {
  rows = ResultRows();
  Reader reader(per_launch, rows);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) {
    return absl::DataLossError(reader.error().empty() ? "is no JSON" : reader.error());
  }
  if (rows.key.empty()) return absl::DataLossError("is no result of a sweep: it has no key");
  if (reader.schema() != replay::kResultSchema) {
    return absl::DataLossError(absl::StrCat("has schema ", reader.schema(), " of results, this program reads ",
                                            replay::kResultSchema, "; run the sweep again with it"));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools::sweep
