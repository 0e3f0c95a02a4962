// The tables of `heddle characterise`.
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/console/table.h"
#include "tools/show/characterisation.h"
#include "traces/base/printable.h"

namespace heddle::tools {
namespace {

std::string Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : Decimal(100 * static_cast<double>(part) / static_cast<double>(whole), 1);
}

std::string Ratio(uint64_t part, uint64_t whole, int decimals) {
  return whole == 0 ? "-" : Decimal(static_cast<double>(part) / static_cast<double>(whole), decimals);
}

std::string PerCent(std::optional<double> number) { return number.has_value() ? Decimal(*number, 1) : "-"; }

// One row; the same cells in both tables, but for the separators of thousands.
std::vector<std::string> Cells(const Characterisation& one, std::string (*number)(uint64_t)) {
  std::vector<std::string> cells = {one.trace,
                                    number(one.launches),
                                    number(one.blocks),
                                    number(one.threads),
                                    number(one.static_instructions),
                                    number(one.thread_instructions),
                                    Share(one.memory, one.thread_instructions),
                                    Share(one.special, one.thread_instructions),
                                    Share(one.control, one.thread_instructions),
                                    Ratio(one.barriers, one.threads, 1)};
  for (const Characterisation::Width& width : one.widths) {
    cells.push_back(PerCent(one.SimdEfficiency(width.warp_size)));
  }
  cells.push_back(PerCent(one.LeastIssuesEfficiency(32)));
  cells.push_back(Ratio(one.bytes, one.thread_instructions, 4));
  if (one.timing.has_value()) {
    cells.push_back(Share(one.timing->splits, one.timing->branches));
    cells.push_back(Ratio(one.timing->transactions, one.timing->data_accesses, 2));
    cells.push_back(Share(one.timing->barrier_cycles, one.timing->warp_cycles));
    cells.push_back(Share(one.timing->unequal_blocks, one.timing->compared_blocks));
    cells.push_back(number(one.timing->resident_threads));
    cells.push_back(number(one.timing->cycles));
    cells.push_back(Classes(one));
  }
  return cells;
}

// What is told of machine code besides: whose it is, and a table. Nothing if no trace has any.
std::string MachineCodeText(const std::vector<Characterisation>& all, std::optional<size_t> width) {
  std::vector<MachineRow> rows;
  std::string codes;
  for (const Characterisation& one : all) {
    if (one.machine_code.empty()) continue;
    rows.push_back(one.machine);
    absl::StrAppend(&codes, width.has_value() ? "" : "* ", one.trace, ": ", one.machine_code, "\n");
  }
  if (rows.empty()) return "";
  const Table table = MachineTable("kernel", rows);
  return absl::StrCat("\nMachine code (", kMachineColumns, ")\n\n", PrintableText(codes), "\n",
                      width.has_value() ? table.TextWithin(*width) : table.Markdown());
}

std::string Plain(uint64_t number) { return absl::StrCat(number); }

}  // namespace

namespace {

// Of all tables but the values for programs.
std::vector<std::string> Titles(const Characterisation& one) {
  std::vector<std::string> titles = {"kernel",        "launches", "blocks",    "threads",   "static instr.",
                                     "thread-instr.", "memory %", "special %", "control %", "barriers / thread"};
  for (const Characterisation::Width& width : one.widths) titles.push_back(absl::StrCat("SIMD % W", width.warp_size));
  titles.insert(titles.end(), {"bound % W32", "bytes / instr."});
  if (one.timing.has_value()) {
    titles.insert(titles.end(), {"branches that split %", "transactions / access", "barrier %", "unequal blocks %",
                                 "threads / SM", "cycles", "classes"});
  }
  return titles;
}

}  // namespace

std::string CharacterisationMarkdown(const std::vector<Characterisation>& all) {
  if (all.empty()) return "";
  const std::vector<std::string> titles = Titles(all[0]);
  std::string text = absl::StrCat("| ", absl::StrJoin(titles, " | "), " |\n|---");
  for (size_t i = 1; i < titles.size(); ++i) absl::StrAppend(&text, titles[i] == "classes" ? "|---" : "|--:");
  absl::StrAppend(&text, "|\n");
  for (const Characterisation& one : all) {
    std::vector<std::string> cells = Cells(one, WithThousands);
    // A file may be called anything; within a code span only these two mean something.
    cells[0] = absl::StrCat("`", absl::StrReplaceAll(Printable(cells[0]), {{"|", "\\|"}, {"`", "'"}}), "`");
    absl::StrAppend(&text, "| ", absl::StrJoin(cells, " | "), " |\n");
  }
  return absl::StrCat(text, MachineCodeText(all, std::nullopt));
}

std::string CharacterisationText(const std::vector<Characterisation>& all, size_t width) {
  if (all.empty()) return "";
  std::vector<Table::Column> columns;
  for (const std::string& title : Titles(all[0])) {
    columns.push_back({title, title == "kernel" || title == "classes" ? Table::Align::kLeft : Table::Align::kRight});
  }
  Table table(columns);
  for (const Characterisation& one : all) table.AddRow(Cells(one, WithThousands));
  return absl::StrCat(table.TextWithin(width), MachineCodeText(all, width));
}

std::string CharacterisationCsv(const std::vector<Characterisation>& all) {
  if (all.empty()) return "";
  std::vector<std::string> titles = {"trace",
                                     "launches",
                                     "blocks",
                                     "threads",
                                     "static_instructions",
                                     "thread_instructions",
                                     "memory_per_cent",
                                     "special_per_cent",
                                     "control_per_cent",
                                     "barriers_per_thread"};
  for (const Characterisation::Width& width : all[0].widths) {
    titles.push_back(absl::StrCat("simd_efficiency_", width.warp_size));
  }
  titles.insert(titles.end(), {"bound_32", "bytes_per_instruction"});
  if (all[0].timing.has_value()) {
    titles.insert(titles.end(), {"split_branches_per_cent", "transactions_per_access", "barrier_per_cent",
                                 "unequal_blocks_per_cent", "threads_per_sm", "cycles", "classes"});
  }
  std::string text = absl::StrCat(absl::StrJoin(titles, ","), "\n");
  for (const Characterisation& one : all) {
    std::vector<std::string> cells = Cells(one, Plain);
    cells[0] = Printable(cells[0]);
    if (cells[0].find_first_of(",\"") != std::string::npos) {
      cells[0] = absl::StrCat("\"", absl::StrReplaceAll(cells[0], {{"\"", "\"\""}}), "\"");
    }
    if (one.timing.has_value()) cells.back() = absl::StrCat("\"", cells.back(), "\"");
    absl::StrAppend(&text, absl::StrJoin(cells, ","), "\n");
  }
  return text;
}

}  // namespace heddle::tools
