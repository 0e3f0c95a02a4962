// What `heddle characterise --compare` prints.
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/console/json.h"
#include "tools/console/table.h"
#include "tools/show/comparison.h"
#include "traces/base/printable.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFewKernels = 3;
constexpr Table::Align kLeft = Table::Align::kLeft;

std::string Shown(std::optional<double> number, int decimals) {
  if (!number.has_value()) return "-";
  return decimals == 0 ? WithThousands(static_cast<uint64_t>(std::llround(*number))) : Decimal(*number, decimals);
}

std::string Signed(std::optional<double> number, int decimals) {
  if (!number.has_value()) return "-";
  const std::string size = Shown(std::abs(*number), decimals);
  // What rounds to nothing has no sign.
  if (size.find_first_not_of("0.") == std::string::npos) return size;
  return absl::StrCat(*number < 0 ? "-" : "+", size);
}

std::string Name(const ComparedKernel& kernel) {
  const std::string name = trace::ShortKernelName(kernel.kernel);
  return kernel.trace.empty() ? name : absl::StrCat(kernel.trace, ": ", name);
}

std::string Rendered(const Table& table, std::optional<size_t> width) {
  return width.has_value() ? table.TextWithin(*width) : table.Markdown();
}

std::string OneKernel(const ComparedKernel& kernel, std::optional<size_t> width) {
  const std::string end = width.has_value() ? "\n" : "  \n";  // two blanks: a line of its own in Markdown
  const std::string title =
      width.has_value() ? Name(kernel) : absl::StrCat("`", absl::StrReplaceAll(Name(kernel), {{"`", "'"}}), "`");
  std::string text =
      absl::StrCat("\n", width.has_value() ? "" : "## ", "Kernel ", title, "\n\n", WithThousands(kernel.launches),
                   kernel.launches == 1 ? " launch, " : " launches, ", WithThousands(kernel.blocks),
                   kernel.blocks == 1 ? " block, " : " blocks, ", WithThousands(kernel.threads), " threads", end,
                   "A: ", kernel.code_a, end, "B: ", kernel.code_b, "\n");
  if (!kernel.residency_limit_a.empty()) {
    absl::StrAppend(&text, "\nAn SM holds no more blocks for want of: ", kernel.residency_limit_a, " (A), ",
                    kernel.residency_limit_b, " (B)\n");
  }
  Table table({{"number", kLeft}, {"A"}, {"B"}, {"difference"}, {"%"}});
  for (const ComparedNumber& number : kernel.numbers) {
    table.AddRow({number.title, Shown(number.a, number.decimals), Shown(number.b, number.decimals),
                  Signed(number.Difference(), number.decimals), Signed(number.PerCent(), 1)});
  }
  return absl::StrCat(PrintableText(text), "\n", Rendered(table, width));
}

// A number of the table of many kernels: both values, or how far B is from A.
struct MainNumber {
  const char* key;
  const char* title;
  bool per_cent;
};
constexpr MainNumber kMain[] = {
    {"static_instructions", "static instr. %", true},
    {"registers", "registers", false},
    {"thread_instructions", "thread-instr. %", true},
    {"simd_efficiency", "SIMD %", false},
    {"occupancy", "occupancy %", false},
    {"split_share", "split %", false},
    {"transactions", "transactions %", true},
    {"cycles", "cycles %", true},
};

std::string ManyKernels(const Comparison& comparison, std::optional<size_t> width) {
  std::vector<Table::Column> columns = {{"kernel", kLeft}};
  std::vector<const MainNumber*> shown;
  for (const MainNumber& number : kMain) {
    if (comparison.kernels.front().Find(number.key) == nullptr) continue;  // there is no machine
    shown.push_back(&number);
    columns.push_back({number.per_cent ? number.title : absl::StrCat(number.title, " A, B")});
  }
  Table table(columns);
  std::map<std::string, std::pair<double, int>> logs;  // by key: sum, and of how many
  for (const ComparedKernel& kernel : comparison.kernels) {
    std::vector<std::string> cells = {Name(kernel)};
    for (const MainNumber* main : shown) {
      const ComparedNumber& number = *kernel.Find(main->key);
      cells.push_back(main->per_cent
                          ? Signed(number.PerCent(), 1)
                          : absl::StrCat(Shown(number.a, number.decimals), ", ", Shown(number.b, number.decimals)));
      if (!main->per_cent || !number.PerCent().has_value() || *number.b <= 0) continue;
      auto& [sum, count] = logs[main->key];
      sum += std::log(*number.b / *number.a);
      ++count;
    }
    table.AddRow(std::move(cells));
  }
  std::vector<std::string> means = {"geometric mean"};
  for (const MainNumber* main : shown) {
    const auto found = logs.find(main->key);
    means.push_back(found == logs.end() ? "" : Signed(100 * std::expm1(found->second.first / found->second.second), 1));
  }
  table.AddRow(std::move(means));
  std::set<std::string> codes[2];
  for (const ComparedKernel& kernel : comparison.kernels) {
    codes[0].insert(kernel.code_a);
    codes[1].insert(kernel.code_b);
  }
  return PrintableText(absl::StrCat("\nA: ", absl::StrJoin(codes[0], "; "), width.has_value() ? "" : "  ",
                                    "\nB: ", absl::StrJoin(codes[1], "; "), "\n\n")) +
         Rendered(table, width);
}

std::string Missing(const Comparison& comparison) {
  std::string text;
  for (const MissingPart& part : comparison.missing) {
    const std::string what = part.kernel.empty() ? absl::StrCat("trace ", part.trace)
                                                 : absl::StrCat("kernel ", trace::ShortKernelName(part.kernel),
                                                                part.trace.empty() ? "" : " of ", part.trace);
    absl::StrAppend(&text, "\nOnly ", part.in_a ? "A" : "B", " has ", what, ".\n");
  }
  return PrintableText(text);
}

}  // namespace

std::string ComparisonText(const Comparison& comparison, const ComparedSides& sides, std::optional<size_t> width) {
  const std::string end = width.has_value() ? "\n" : "  \n";
  std::string text = PrintableText(absl::StrCat(
      "A: ", sides.a, end, "B: ", sides.b,
      sides.machine.empty() ? "" : absl::StrCat(end, "Machine ", sides.machine, ", with pdom and lrr"), "\n"));
  if (comparison.kernels.size() > kFewKernels) {
    text += ManyKernels(comparison, width);
  } else {
    for (const ComparedKernel& kernel : comparison.kernels) text += OneKernel(kernel, width);
  }
  return text + Missing(comparison);
}

std::string ComparisonCsv(const Comparison& comparison) {
  const auto quoted = [](const std::string& text) {
    return absl::StrCat("\"", absl::StrReplaceAll(Printable(text), {{"\"", "\"\""}}), "\"");
  };
  const auto plain = [](std::optional<double> number, int decimals) {
    return number.has_value() ? Decimal(*number, decimals) : std::string();
  };
  std::string text = "trace,kernel,number,a,b,difference,per_cent\n";
  for (const ComparedKernel& kernel : comparison.kernels) {
    for (const ComparedNumber& number : kernel.numbers) {
      const int decimals = number.decimals == 0 ? 0 : number.decimals + 2;
      absl::StrAppend(&text, quoted(kernel.trace), ",", quoted(kernel.kernel), ",", number.key, ",",
                      plain(number.a, decimals), ",", plain(number.b, decimals), ",",
                      plain(number.Difference(), decimals), ",", plain(number.PerCent(), 3), "\n");
    }
  }
  return text;
}

std::string ComparisonJson(const Comparison& comparison, const ComparedSides& sides) {
  Json json = {{"schema", 1}, {"a", sides.a}, {"b", sides.b}};
  if (!sides.machine.empty()) json["machine"] = sides.machine;
  json["kernel"] = Json::array();
  for (const ComparedKernel& kernel : comparison.kernels) {
    Json one = Json::object();
    if (!kernel.trace.empty()) one["trace"] = kernel.trace;
    one["kernel"] = kernel.kernel;
    one["launches"] = kernel.launches;
    one["blocks"] = kernel.blocks;
    one["threads"] = kernel.threads;
    one["code"] = {{"a", kernel.code_a}, {"b", kernel.code_b}};
    if (!kernel.residency_limit_a.empty()) {
      one["residency_limit"] = {{"a", kernel.residency_limit_a}, {"b", kernel.residency_limit_b}};
    }
    for (const ComparedNumber& number : kernel.numbers) {
      Json& values = one["number"][number.key] = Json::object();
      const auto put = [&values](const char* key, std::optional<double> value, bool is_count) {
        if (!value.has_value()) return;
        if (is_count) {
          values[key] = static_cast<int64_t>(std::llround(*value));
        } else {
          values[key] = *value;
        }
      };
      put("a", number.a, number.decimals == 0);
      put("b", number.b, number.decimals == 0);
      put("difference", number.Difference(), number.decimals == 0);
      put("per_cent", number.PerCent(), false);
    }
    json["kernel"].push_back(std::move(one));
  }
  json["missing"] = Json::array();
  for (const MissingPart& part : comparison.missing) {
    Json one = {{"only_in", part.in_a ? "a" : "b"}};
    if (!part.trace.empty()) one["trace"] = part.trace;
    if (!part.kernel.empty()) one["kernel"] = part.kernel;
    json["missing"].push_back(std::move(one));
  }
  return JsonLine(json) + "\n";
}

}  // namespace heddle::tools
