// A program that uses the device through the client library, as the CUDA runtime and the OpenCL driver do. The first
// argument is what it shall do, the second a folder with bitcode.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tracegen/runtime/client/device_client.h"

namespace {

using namespace heddle::device;  // NOLINT: all of this program is about it

std::string folder;

DeviceClient& Client() { return DeviceClient::Get(); }

[[noreturn]] void Give(const Result& result) {
  std::printf("error %d: %s\n", static_cast<int>(result.error), result.message.c_str());
  std::fflush(stdout);
  std::exit(3);
}

void Check(const Result& result) {
  if (!result.ok()) Give(result);
}

std::string ReadFile(const std::string& name) {
  std::ifstream in(folder + "/" + name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

ModuleInfo Load(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) parts.push_back(ReadFile(name));
  std::vector<ModuleImage> images;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_ptx = names[i].ends_with(".ptx"), is_fat = names[i].ends_with(".fatbin");
    images.push_back({is_ptx   ? ImageKind::kPtx
                      : is_fat ? ImageKind::kFatBinary
                               : ImageKind::kBitcode,
                      names[i], parts[i]});
  }
  ModuleOptions options;
  options.name = names.front();
  ModuleInfo module;
  Check(Client().LoadModule(images, options, LoadPurpose::kUse, &module));
  return module;
}

template <typename T>
T* Allocate(size_t count, const char* name) {
  uint64_t address = 0;
  Check(Client().Allocate(count * sizeof(T), name, &address));
  return reinterpret_cast<T*>(address);
}

void Free(void* memory) { Check(Client().Free(reinterpret_cast<uint64_t>(memory))); }

// Parameter memory of a kernel with these arguments, in its order.
class Arguments {
 public:
  template <typename T>
  Arguments& Add(T value) {
    bytes_.resize((bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  std::string bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

LaunchRequest Request(const ModuleInfo& module, const std::string& shown_name, uint32_t grid, uint32_t block,
                      const Arguments& arguments) {
  LaunchRequest request;
  request.module = module.id;
  request.kernel = shown_name;
  for (const KernelInfo& kernel : module.kernels) {
    if (kernel.shown_name == shown_name) request.kernel = kernel.name;
  }
  request.grid[0] = grid;
  request.block[0] = block;
  request.parameters = arguments.bytes();
  return request;
}

LaunchReply Launch(const LaunchRequest& request) {
  LaunchReply reply;
  Check(Client().Launch(request, &reply));
  return reply;
}

const VariableInfo& Variable(const ModuleInfo& module, const std::string& name) {
  for (const VariableInfo& variable : module.variables) {
    if (variable.shown_name == name) return variable;
  }
  std::printf("no variable %s\n", name.c_str());
  std::exit(4);
}

// Three launches of two kernels, a constant and a variable that the host reads and writes.
void Compute() {
  const ModuleInfo module = Load({"kernels.bc"});
  constexpr int kCount = 1000;
  float* data = Allocate<float>(kCount, "data");
  for (int i = 0; i < kCount; ++i) data[i] = static_cast<float>(i);
  Check(Client().NoteTransfer(TransferDirection::kHostToDevice, reinterpret_cast<uint64_t>(data), kCount * 4, 0));
  const auto scale = [&](float factor) {
    Launch(Request(module, "Scale", 8, 128, Arguments().Add(data).Add(factor).Add(kCount)));
  };
  scale(2.0f);
  *reinterpret_cast<float*>(Variable(module, "offset").address) = 3.0f;
  Launch(Request(module, "Count", 2, 32, Arguments().Add(5)));
  scale(1.0f);
  bool right = *reinterpret_cast<int*>(Variable(module, "counter").address) == 2 * 32 * 5;
  for (int i = 0; i < kCount; ++i) right = right && data[i] == static_cast<float>(2 * i + 4);
  Free(data);
  std::printf("%s\n", right ? "right" : "wrong");
}

void Endless() {
  const ModuleInfo module = Load({"kernels.bc"});
  int* stop = Allocate<int>(1, "stop");
  Launch(Request(module, "Count", 1, 32, Arguments().Add(1)));
  std::thread([] {
    usleep(300'000);
    kill(getpid(), SIGKILL);
  }).detach();
  Launch(Request(module, "Spin", 1, 1, Arguments().Add(stop)));
}

void Fault() {
  const ModuleInfo module = Load({"kernels.bc"});
  int* data = Allocate<int>(1 << 20, "data");
  Launch(Request(module, "Write", 1, 32, Arguments().Add(data)));
  Free(data);
  LaunchReply reply;
  const Result first = Client().Launch(Request(module, "Write", 64, 256, Arguments().Add(data)), &reply);
  std::printf("first: %s\n", first.message.c_str());
  uint64_t address = 0;
  const Result second = Client().Allocate(16, "later", &address);
  std::printf("sticky: %d\n", first.error == Error::kKernelFault && second.error == Error::kKernelFault &&
                                  second.message == first.message);
}

void Refusals() {
  const ModuleInfo module = Load({"kernels.bc"});
  int* data = Allocate<int>(64, "data");
  LaunchReply reply;
  const auto show = [&](const char* what, const LaunchRequest& request) {
    const Result result = Client().Launch(request, &reply);
    std::printf("%s: %d %s\n", what, static_cast<int>(result.error), result.message.c_str());
  };
  show("size", Request(module, "Write", 1, 32, Arguments()));
  show("threads", Request(module, "Write", 1, 2048, Arguments().Add(data)));
  show("bounds", Request(module, "Bounded", 1, 128, Arguments().Add(data)));
  show("grid", Request(module, "Write", 0, 32, Arguments().Add(data)));
  show("kernel", Request(module, "NoSuchKernel", 1, 32, Arguments()));
  LaunchRequest shared = Request(module, "Reverse", 1, 64, Arguments().Add(data));
  shared.dynamic_shared_bytes = 200 << 10;
  show("shared", shared);
  const Result wrong = Client().Free(reinterpret_cast<uint64_t>(data) + 4);
  std::printf("free: %d\n", static_cast<int>(wrong.error));
  uint64_t address = 0;
  const Result large = Client().Allocate(uint64_t{1} << 40, "large", &address);
  std::printf("memory: %d\n", static_cast<int>(large.error));
  // Nothing of this has done harm.
  for (int i = 0; i < 64; ++i) data[i] = i;
  shared.dynamic_shared_bytes = 64 * 4;
  Launch(shared);
  std::printf("%s\n", data[0] == 63 && data[63] == 0 ? "right" : "wrong");
}

void Fork() {
  const ModuleInfo module = Load({"kernels.bc"});
  int* data = Allocate<int>(64, "data");
  Launch(Request(module, "Write", 2, 32, Arguments().Add(data)));
  std::fflush(stdout);
  if (fork() == 0) {
    uint64_t address = 0;
    const Result result = Client().Allocate(16, "child", &address);
    std::printf("child: %d\n", result.error == Error::kNoDevice);
    std::fflush(stdout);
    _exit(0);
  }
  // The device process is no child of this one: all children can be waited for.
  while (wait(nullptr) > 0) {
  }
  Launch(Request(module, "Write", 1, 32, Arguments().Add(data)));
  std::printf("parent: %d\n", data[63] == 7);
}

// Another process with a device of its own.
void Spawn() {
  Compute();
  std::fflush(stdout);
  if (fork() == 0) {
    execl("/proc/self/exe", "device_program", "compute", folder.c_str(), nullptr);
    _exit(9);
  }
  wait(nullptr);
}

void Linked() {
  const ModuleInfo module = Load({"part_one.bc", "part_two.bc"});
  int* data = Allocate<int>(32, "data");
  for (int i = 0; i < 32; ++i) data[i] = i;
  Launch(Request(module, "Double", 1, 32, Arguments().Add(data)));
  const int counter = *reinterpret_cast<int*>(Variable(module, "shared_counter").address);
  std::printf("%s\n", data[31] == 62 && counter == 41 ? "right" : "wrong");
}

// A grid of 4 x 4 blocks in clusters of 1 x 2, whose blocks lie a row apart.
void Clusters() {
  LaunchRequest request = Request(Load({"kernels.bc"}), "Write", 4, 32, Arguments().Add(Allocate<int>(128, "data")));
  request.grid[1] = 4;
  request.cluster[0] = 1;
  request.cluster[1] = 2;
  request.cluster[2] = 1;
  Launch(request);
  std::printf("right\n");
}

void OpenCl() {
  ModuleInfo module;
  const Result broken =
      Client().BuildOpenCl("kernel void f(global int *p) {\n  *p = nowhere;\n}\n", "", {}, false, &module);
  std::printf("build: %d\n%s", static_cast<int>(broken.error), module.log.c_str());
  const SourceHeader header = {"sums.h", "#define SUM(a, b) ((a) + (b))\n"};
  Check(
      Client().BuildOpenCl("#include \"sums.h\"\n"
                           "kernel void add(global int *data, local int *part, int step) {\n"
                           "  size_t i = get_global_id(0);\n"
                           "  part[get_local_id(0)] = data[i];\n"
                           "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                           "  data[i] = SUM(part[get_local_size(0) - 1 - get_local_id(0)], STEP * step);\n"
                           "}\n",
                           "-DSTEP=10", {header}, false, &module));
  const KernelInfo& kernel = module.kernels.front();
  std::printf("%s %s %d %s\n", kernel.name.c_str(), kernel.parameters[0].type_name.c_str(),
              kernel.parameters[1].kind == ParameterKind::kSharedPointer, kernel.parameters[2].name.c_str());
  int* data = Allocate<int>(64, "data");
  for (int i = 0; i < 64; ++i) data[i] = i;
  LaunchRequest request = Request(module, "add", 2, 32, Arguments().Add(data).Add(uint64_t{0}).Add(1));
  request.dynamic_shared_bytes = 32 * 4;
  request.work_dimensions = 1;
  Launch(request);
  std::printf("%s\n", data[0] == 41 && data[63] == 42 ? "right" : "wrong");
}

// A kernel that adds to the trace's header after launches are in it.
void LateModule() {
  const ModuleInfo first = Load({"part_one.bc", "part_two.bc"});
  int* data = Allocate<int>(32, "data");
  for (int i = 0; i < 32; ++i) data[i] = 1;
  Launch(Request(first, "Double", 1, 32, Arguments().Add(data)));
  const ModuleInfo second = Load({"kernels.bc"});
  LaunchRequest request = Request(second, "ShuffleSum", 1, 32, Arguments().Add(data));
  request.stream = 77;
  request.dependencies = {0};
  Launch(request);
  Launch(Request(first, "Double", 1, 32, Arguments().Add(data)));
  std::printf("%s\n", data[5] == 128 ? "right" : "wrong");
}

// The device processes of this test, whatever started them: they have its mark in their environment.
std::vector<pid_t> DeviceProcesses() {
  const std::string mark = std::string("HEDDLE_TEST_TAG=") + folder + '\0';
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string digits = entry.path().filename();
    char* end = nullptr;
    const auto process = static_cast<pid_t>(std::strtol(digits.c_str(), &end, 10));
    if (process <= 0 || *end != '\0') continue;
    const auto contents = [&](const char* name) {
      std::ifstream in(entry.path() / name, std::ios::binary);
      std::stringstream text;
      text << in.rdbuf();
      return text.str();
    };
    if (contents("environ").find(mark) == std::string::npos) continue;
    if (contents("cmdline").find(std::string("heddle-capture") + '\0' + "--device") == std::string::npos) continue;
    found.push_back(process);
  }
  return found;
}

void KillDevice() {
  Compute();
  for (pid_t process : DeviceProcesses()) kill(process, SIGKILL);
  uint64_t address = 0;
  const Result result = Client().Allocate(16, "later", &address);
  std::printf("later: %d %s\n", static_cast<int>(result.error), result.message.c_str());
}

// Launches of many blocks, and many launches: tells the most memory that the device process has had, in megabytes.
void Large() {
  const ModuleInfo module = Load({"kernels.bc"});
  Launch(Request(module, "Count", 300'000, 32, Arguments().Add(1)));
  for (int i = 0; i < 2000; ++i) Launch(Request(module, "Count", 1, 32, Arguments().Add(1)));
  const bool right = *reinterpret_cast<int*>(Variable(module, "counter").address) == 32 * (300'000 + 2000);
  for (pid_t process : DeviceProcesses()) {
    std::ifstream in("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("VmHWM:", 0) == 0) std::printf("%ld\n", std::strtol(line.c_str() + 6, nullptr, 10) / 1024);
    }
  }
  std::printf("%s\n", right ? "right" : "wrong");
}

// The device process may write no larger file.
void FullDisk() {
  const ModuleInfo module = Load({"kernels.bc"});
  for (pid_t process : DeviceProcesses()) {
    const rlimit limit = {1000, 1000};
    if (prlimit(process, RLIMIT_FSIZE, &limit, nullptr) != 0) std::perror("prlimit");
  }
  int* data = Allocate<int>(1 << 16, "data");
  LaunchReply reply;
  Result result;
  for (int i = 0; i < 1000 && result.ok(); ++i) {
    result = Client().Launch(Request(module, "Write", 16, 1024, Arguments().Add(data)), &reply);
  }
  std::printf("%d %s\n", static_cast<int>(result.error), result.message.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  folder = argc > 2 ? argv[2] : ".";
  const std::map<std::string, std::function<void()>> actions = {
      {"compute", Compute},
      {"none", [] { std::printf("nothing\n"); }},
      {"exit", [] { Compute(), std::fflush(stdout), _exit(5); }},
      {"killed", [] { Compute(), std::fflush(stdout), kill(getpid(), SIGKILL); }},
      {"end-group", [] { Compute(), std::fflush(stdout), kill(0, SIGTERM); }},
      {"endless", Endless},
      {"grid-barrier", [] { Launch(Request(Load({"kernels.bc"}), "MeetGrid", 4, 32, Arguments())); }},
      {"fault", Fault},
      {"refusals", Refusals},
      {"fork", Fork},
      {"spawn", Spawn},
      {"linked", Linked},
      {"clusters", Clusters},
      {"opencl", OpenCl},
      {"late", LateModule},
      {"kill-device", KillDevice},
      {"full-disk", FullDisk},
      {"large", Large},
  };
  const auto action = actions.find(what);
  if (action == actions.end()) return 2;
  action->second();
  return 0;
}
