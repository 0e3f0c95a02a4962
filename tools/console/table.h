// Aligned columns for the terminal.
#ifndef HEDDLE_TOOLS_CONSOLE_TABLE_H_
#define HEDDLE_TOOLS_CONSOLE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/console/with_thousands.h"

namespace heddle::tools {

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
  // As many cells as columns. A cell is one line of at most 200 characters: longer ones are cut, and what acts on a
  // terminal instead of being seen becomes escapes.
  void AddRow(std::vector<std::string> cells);
  // Title line, a rule, the rows; columns two blanks apart, every line starts with `indent` blanks, none ends with one.
  std::string Text(int indent = 0) const;
  // Text in several tables one below the other, each as wide as `width` allows and with the first column. A table
  // has at least one more column, however wide that is.
  std::string TextWithin(size_t width) const;
  // As a table of Markdown. What would act in one (| and ` and < and *) is made harmless.
  std::string Markdown() const;

 private:
  std::vector<size_t> Widths() const;
  // The columns of the numbers `shown`, in widths by number of column.
  std::string Text(int indent, const std::vector<size_t>& shown, const std::vector<size_t>& width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_TABLE_H_
