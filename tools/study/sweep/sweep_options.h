// The command line of `heddle sweep`.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_SWEEP_OPTIONS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_SWEEP_OPTIONS_H_

#include <memory>

namespace CLI {
class App;
}

namespace heddle::tools::sweep {

// The subcommands of `heddle sweep`, from their options to their calls.
class SweepOptions {
 public:
  // Adds `sweep` with its subcommands to the program's command line. The object must outlive the parsing.
  explicit SweepOptions(CLI::App& app);
  ~SweepOptions();
  SweepOptions(const SweepOptions&) = delete;
  SweepOptions& operator=(const SweepOptions&) = delete;

  // Runs the subcommand that was parsed and puts its exit status into `status`; false if it was none of these.
  bool Run(int& status) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
};

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_SWEEP_OPTIONS_H_
