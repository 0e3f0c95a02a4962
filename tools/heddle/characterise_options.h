// The command line of `heddle characterise`.
#ifndef HEDDLE_TOOLS_HEDDLE_CHARACTERISE_OPTIONS_H_
#define HEDDLE_TOOLS_HEDDLE_CHARACTERISE_OPTIONS_H_

#include <memory>

namespace CLI {
class App;
}

namespace heddle::tools {

class CharacteriseOptions {
 public:
  // Adds `characterise` to the program's command line. The object must outlive the parsing.
  explicit CharacteriseOptions(CLI::App& app);
  ~CharacteriseOptions();
  CharacteriseOptions(const CharacteriseOptions&) = delete;
  CharacteriseOptions& operator=(const CharacteriseOptions&) = delete;

  // Runs it if it was parsed and puts its exit status into `status`; else false.
  bool Run(int& status) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_CHARACTERISE_OPTIONS_H_
