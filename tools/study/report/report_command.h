// What `heddle report` does.
#ifndef HEDDLE_TOOLS_STUDY_REPORT_REPORT_COMMAND_H_
#define HEDDLE_TOOLS_STUDY_REPORT_REPORT_COMMAND_H_

#include <string>
#include <vector>

namespace heddle::tools {

struct ReportArguments {
  std::vector<std::string> results;  // files and folders
  std::string output;                // -o: "-" = standard output
  std::string title;
  std::vector<std::string> sources;  // folders with the kernels' source files
  std::string figure;                // instead of the page, by name
  bool json = false;                 // instead of the page, what it shows
};

// The names that --figure takes; tools/python/heddle/figures.py draws them.
std::vector<std::string> FigureNames();

// Reads results and writes the page, its data, or a figure. Returns the exit status of the program.
int ReportCommand(const ReportArguments& arguments);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_REPORT_REPORT_COMMAND_H_
