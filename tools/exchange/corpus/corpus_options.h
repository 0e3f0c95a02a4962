// The command line of `heddle corpus`.
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_CORPUS_OPTIONS_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_CORPUS_OPTIONS_H_

#include <memory>

namespace CLI {
class App;
}

namespace heddle::tools::corpus {

// The subcommands of `heddle corpus`, from their options to their calls.
class CorpusOptions {
 public:
  // Adds `corpus` with its subcommands to the program's command line. The object must outlive the parsing.
  explicit CorpusOptions(CLI::App& app);
  ~CorpusOptions();
  CorpusOptions(const CorpusOptions&) = delete;
  CorpusOptions& operator=(const CorpusOptions&) = delete;

  // Runs the subcommand that was parsed and puts its exit status into `status`; false if it was none of these.
  bool Run(int& status) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
};

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_CORPUS_OPTIONS_H_
