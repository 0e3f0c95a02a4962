// Aligned columns for the terminal.
#ifndef HEDDLE_TOOLS_HEDDLE_TABLE_H_
#define HEDDLE_TOOLS_HEDDLE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::tools {

// 1234567 -> "1,234,567".
std::string WithThousands(uint64_t number);
// Bytes in the largest unit that leaves a number of at least 1: "982 B", "1.4 MB" (1 kB = 1000 B).
std::string WithUnit(uint64_t bytes);
// Fixed number of decimals.
std::string Decimal(double number, int decimals);

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns.
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Title line, a rule, the rows; columns two blanks apart, every line starts with `indent` blanks, none ends with one.
  std::string Text(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_TABLE_H_
