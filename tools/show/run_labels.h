// What the rows of a report are: which results share one, and by which policies a reader tells them apart.
#ifndef HEDDLE_TOOLS_SHOW_RUN_LABELS_H_
#define HEDDLE_TOOLS_SHOW_RUN_LABELS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "tools/console/table.h"

namespace heddle::tools {

// Runs that differ in the seed of their noise are one row: the results from `first` on, `size` of them.
struct Row {
  size_t first = 0;
  size_t size = 1;
};
std::vector<Row> GroupBySeeds(const std::vector<result::v1::Result>& results);

// By row: the names of the policies, with those parameters in which the rows differ, or that are not the policy's
// defaults.
struct Labels {
  std::vector<std::string> divergence, scheduler, dispatch, fetch, memory;
  bool show_dispatch = false;  // a row has another one than the usual
  bool show_fetch = false;
  bool show_memory = false;

  // The first columns of a table of runs, and a run's cells in them.
  std::vector<Table::Column> Columns() const {
    std::vector<Table::Column> columns = {{"divergence", Table::Align::kLeft}, {"scheduler", Table::Align::kLeft}};
    if (show_dispatch) columns.push_back({"dispatch", Table::Align::kLeft});
    if (show_fetch) columns.push_back({"fetch", Table::Align::kLeft});
    if (show_memory) columns.push_back({"memory", Table::Align::kLeft});
    return columns;
  }
  std::vector<std::string> Cells(size_t run) const {
    std::vector<std::string> cells = {divergence[run], scheduler[run]};
    if (show_dispatch) cells.push_back(dispatch[run]);
    if (show_fetch) cells.push_back(fetch[run]);
    if (show_memory) cells.push_back(memory[run]);
    return cells;
  }
};
Labels LabelRuns(const std::vector<result::v1::Result>& results, const std::vector<Row>& rows);

// The row that speed-ups refer to: the first one of policy pdom, else the first.
size_t Baseline(const std::vector<result::v1::Result>& results, const std::vector<Row>& rows);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_RUN_LABELS_H_
