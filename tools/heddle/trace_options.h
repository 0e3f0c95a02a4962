// The command line of `heddle trace`.
#ifndef HEDDLE_TOOLS_HEDDLE_TRACE_OPTIONS_H_
#define HEDDLE_TOOLS_HEDDLE_TRACE_OPTIONS_H_

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace heddle::tools {

// The subcommands of `heddle trace`, from their options to their calls.
class TraceOptions {
 public:
  // Adds `trace` with its subcommands to the program's command line. The object must outlive the parsing.
  explicit TraceOptions(CLI::App& app);
  ~TraceOptions();
  TraceOptions(const TraceOptions&) = delete;
  TraceOptions& operator=(const TraceOptions&) = delete;

  // Runs the subcommand that was parsed and puts its exit status into `status`; false if it was none of these.
  bool Run(int& status) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_TRACE_OPTIONS_H_
