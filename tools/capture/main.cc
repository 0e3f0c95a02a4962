// heddle-capture: records kernels, those of a recipe or those of a program that it runs, and is the device of such
// programs.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "tools/capture/commands.h"
#include "tracegen/application/server.h"
#include "tracegen/runtime/protocol/messages.h"

int main(int argc, char** argv) {
  using heddle::tracegen::CaptureApplicationCommand;
  using heddle::tracegen::CaptureRecipeCommand;
  if (argc == 2 && std::strcmp(argv[1], "--device") == 0) {
    return heddle::tracegen::ServeApplication(heddle::device::kDeviceDescriptor);
  }
  if (argc == 3 && std::strcmp(argv[1], "--constants") == 0) return heddle::tracegen::ConstantsCommand(argv[2]);
  if (argc > 1 && std::strcmp(argv[1], "--virtual-blocks") == 0) {
    return heddle::tracegen::VirtualBlocksCommand(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], "--emit-ptx") == 0) {
    return heddle::tracegen::EmitPtxCommand(argc - 1, argv + 1);
  }
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    return CaptureApplicationCommand(i, argv, std::vector<std::string>(argv + i + 1, argv + argc));
  }
  return CaptureRecipeCommand(argc, argv);
}
