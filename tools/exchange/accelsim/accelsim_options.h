// The command line of `heddle trace import` and `heddle trace export`.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_ACCELSIM_OPTIONS_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_ACCELSIM_OPTIONS_H_

#include <memory>

namespace CLI {
class App;
}

namespace heddle::tools::accelsim {

class AccelSimOptions {
 public:
  // Adds `import` and `export` to the command line's `trace`, which must be there. The object must outlive the parsing.
  explicit AccelSimOptions(CLI::App& app);
  ~AccelSimOptions();
  AccelSimOptions(const AccelSimOptions&) = delete;
  AccelSimOptions& operator=(const AccelSimOptions&) = delete;

  // Runs the subcommand that was parsed and puts its exit status into `status`; false if it was none of these.
  bool Run(int& status) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
};

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_ACCELSIM_OPTIONS_H_
