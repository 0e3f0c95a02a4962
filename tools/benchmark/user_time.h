// The clock of the benchmarks: user CPU seconds, because machines are shared and noisy.
#ifndef HEDDLE_TOOLS_BENCHMARK_USER_TIME_H_
#define HEDDLE_TOOLS_BENCHMARK_USER_TIME_H_

#include <string>
#include <vector>

namespace heddle {

// User CPU seconds of this process so far, all threads.
double UserSeconds();

// Highest resident memory of this process so far, in MB.
double PeakMegabytes();

// Processor name and core count, for the context that Google Benchmark prints.
std::string MachineName();

// Files in `directory` whose name ends in `ending`, full paths, ascending.
std::vector<std::string> FilesEndingIn(const std::string& directory, const std::string& ending);

}  // namespace heddle

#endif  // HEDDLE_TOOLS_BENCHMARK_USER_TIME_H_
