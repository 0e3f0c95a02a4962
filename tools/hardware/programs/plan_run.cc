#include "tools/hardware/programs/plan_run.h"

#include <chrono>
#include <cstring>

#include "tools/hardware/programs/json_line.h"

namespace heddle::hardware {
namespace {

// More than this has to be asked for.
constexpr unsigned kPlainSharedBytes = 48 << 10;

std::string FileOrEnd(const std::string& path) {
  std::string bytes;
  if (!ReadFile(path, &bytes)) Expect(CUDA_ERROR_FILE_NOT_FOUND, path);
  return bytes;
}

CUevent MakeEvent() {
  CUevent event = nullptr;
  Expect(GetDriver().cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
  return event;
}

}  // namespace

PlanRun::PlanRun(const Plan& plan, const std::string& image, const std::string& contents) : plan_(plan) {
  const Driver& driver = GetDriver();
  const std::string code = FileOrEnd(image);  // ends with a zero, as text must
  Expect(driver.cuModuleLoadData(&module_, code.c_str()), image);
  for (const PlanBuffer& buffer : plan.buffers) {
    const std::string bytes = FileOrEnd(BeforeFile(contents, buffer));
    DeviceBuffer device;
    device.bytes = bytes.size();
    // A buffer of no bytes still has an address.
    Expect(driver.cuMemAlloc(&device.work, bytes.size() + 512), buffer.name);
    if (!bytes.empty()) Expect(driver.cuMemcpyHtoD(device.work, bytes.data(), bytes.size()), buffer.name);
    if (buffer.changes() && !bytes.empty()) {
      Expect(driver.cuMemAlloc(&device.kept, bytes.size()), buffer.name);
      Expect(driver.cuMemcpyDtoD(device.kept, device.work, bytes.size()), buffer.name);
    }
    buffers_.push_back(device);
  }
  for (size_t i = 0; i < plan.symbols.size(); ++i) symbols_.push_back(FileOrEnd(SymbolFile(contents, i)));
  for (const PlanLaunch& launch : plan.launches) {
    CUfunction function = nullptr;
    Expect(driver.cuModuleGetFunction(&function, module_, launch.kernel.c_str()), launch.kernel);
    if (launch.shared_bytes > kPlainSharedBytes) {
      Expect(driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       static_cast<int>(launch.shared_bytes)),
             launch.kernel);
    }
    functions_.push_back(function);
    std::vector<std::string> arguments;
    for (const PlanArgument& argument : launch.arguments) {
      if (argument.kind == PlanArgument::Kind::kLocal) {
        Expect(CUDA_ERROR_NOT_SUPPORTED, launch.kernel + ": local memory as an argument");
      }
      std::string bytes = argument.value;
      if (argument.kind == PlanArgument::Kind::kBuffer) {
        const CUdeviceptr address = AddressOf(argument.buffer);
        bytes.assign(reinterpret_cast<const char*>(&address), sizeof(address));
      }
      arguments.push_back(bytes);
    }
    arguments_.push_back(arguments);
    launches_ += launch.repeat;
  }
}

PlanRun::~PlanRun() {
  const Driver& driver = GetDriver();
  for (const DeviceBuffer& buffer : buffers_) {
    driver.cuMemFree(buffer.work);
    if (buffer.kept != 0) driver.cuMemFree(buffer.kept);
  }
  driver.cuModuleUnload(module_);
}

CUdeviceptr PlanRun::AddressOf(const std::string& buffer) const {
  return buffers_[static_cast<size_t>(plan_.Find(buffer) - plan_.buffers.data())].work;
}

void PlanRun::PrintFunctions() const {
  std::set<std::string> told;
  for (size_t i = 0; i < functions_.size(); ++i) {
    const PlanLaunch& launch = plan_.launches[i];
    if (!told.insert(launch.kernel).second) continue;
    JsonLine line;
    line.Text("function", launch.kernel).Text("name", launch.name);
    const auto add = [&](const char* key, CUfunction_attribute attribute) {
      int value = 0;
      if (GetDriver().cuFuncGetAttribute(&value, attribute, functions_[i]) == CUDA_SUCCESS) line.Whole(key, value);
    };
    add("registers", CU_FUNC_ATTRIBUTE_NUM_REGS);
    add("static_shared_bytes", CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    add("local_bytes", CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    line.Print();
  }
}

void PlanRun::Restore() {
  for (const DeviceBuffer& buffer : buffers_) {
    if (buffer.kept != 0) Expect(GetDriver().cuMemcpyDtoD(buffer.work, buffer.kept, buffer.bytes), "cuMemcpyDtoD");
  }
}

void PlanRun::SetSymbols(const PlanLaunch& launch) {
  for (const size_t i : launch.symbols) {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    const std::string& name = plan_.symbols[i].name;
    Expect(GetDriver().cuModuleGetGlobal(&address, &bytes, module_, name.c_str()), "variable " + name);
    if (bytes != symbols_[i].size()) Expect(CUDA_ERROR_INVALID_VALUE, "variable " + name + " has another size");
    Expect(GetDriver().cuMemcpyHtoD(address, symbols_[i].data(), bytes), "variable " + name);
  }
}

void PlanRun::Launch(const PlanLaunch& launch) {
  const auto index = static_cast<size_t>(&launch - plan_.launches.data());
  std::vector<void*> pointers;
  for (const std::string& bytes : arguments_[index]) pointers.push_back(const_cast<char*>(bytes.data()));
  Expect(GetDriver().cuLaunchKernel(functions_[index], launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                                    launch.block[1], launch.block[2], launch.shared_bytes, nullptr, pointers.data(),
                                    nullptr),
         launch.name);
}

template <typename Before, typename After>
void PlanRun::ForEachLaunch(Before before, After after) {
  unsigned number = 0;
  for (const PlanLaunch& launch : plan_.launches) {
    SetSymbols(launch);
    for (unsigned i = 0; i < launch.repeat; ++i, ++number) {
      before(number);
      Launch(launch);
      after(number, launch);
    }
  }
}

void PlanRun::RunOnce() {
  Restore();
  ForEachLaunch([](unsigned) {}, [](unsigned, const PlanLaunch&) {});
  Expect(GetDriver().cuCtxSynchronize(), "the launches");
}

void PlanRun::WriteResults(const std::string& folder) const {
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    std::string bytes(buffers_[i].bytes, '\0');
    if (!bytes.empty()) {
      Expect(GetDriver().cuMemcpyDtoH(bytes.data(), buffers_[i].work, bytes.size()), plan_.buffers[i].name);
    }
    const std::string path = AfterFile(folder, plan_.buffers[i]);
    if (!WriteFile(path, bytes)) Expect(CUDA_ERROR_OPERATING_SYSTEM, path);
  }
}

void PlanRun::Time(int warm_ups, int repetitions, double seconds) {
  const Driver& driver = GetDriver();
  for (int i = 0; i < warm_ups; ++i) RunOnce();
  std::vector<CUevent> begins, ends;
  for (unsigned i = 0; i < launches_; ++i) {
    begins.push_back(MakeEvent());
    ends.push_back(MakeEvent());
  }
  std::vector<std::vector<double>> times(launches_);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) {
    Restore();
    Expect(driver.cuCtxSynchronize(), "restoring");
    ForEachLaunch([&](unsigned number) { Expect(driver.cuEventRecord(begins[number], nullptr), "cuEventRecord"); },
                  [&](unsigned number, const PlanLaunch&) {
                    Expect(driver.cuEventRecord(ends[number], nullptr), "cuEventRecord");
                  });
    Expect(driver.cuCtxSynchronize(), "the timed launches");
    for (unsigned number = 0; number < launches_; ++number) {
      float milliseconds = 0;
      Expect(driver.cuEventElapsedTime(&milliseconds, begins[number], ends[number]), "cuEventElapsedTime");
      times[number].push_back(1e3 * static_cast<double>(milliseconds));
    }
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
  }
  for (unsigned number = 0; number < launches_; ++number) {
    JsonLine().Whole("timed", number).Reals("microseconds", times[number]).Print();
    driver.cuEventDestroy(begins[number]);
    driver.cuEventDestroy(ends[number]);
  }
}

void PlanRun::Profile(const std::set<unsigned>& wanted) {
  const Driver& driver = GetDriver();
  Restore();
  Expect(driver.cuCtxSynchronize(), "restoring");
  ForEachLaunch(
      [&](unsigned number) {
        // Whether somebody listens is seen by what the profiler prints.
        if (wanted.count(number) != 0) driver.cuProfilerStart();
      },
      [&](unsigned number, const PlanLaunch& launch) {
        if (wanted.count(number) == 0) return;
        Expect(driver.cuCtxSynchronize(), launch.name);
        driver.cuProfilerStop();
        JsonLine().Whole("profiled", number).Text("function", launch.kernel).Print();
      });
  Expect(driver.cuCtxSynchronize(), "the profiled launches");
}

}  // namespace heddle::hardware
