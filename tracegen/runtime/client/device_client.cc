#include "tracegen/runtime/client/device_client.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "tracegen/runtime/client/device_process.h"
#include "tracegen/runtime/protocol/messages.h"

namespace heddle::device {
namespace {

// Of this process; empty if it is not known.
std::string WorkingDirectory() {
  char* directory = getcwd(nullptr, 0);
  std::string text = directory != nullptr ? directory : "";
  std::free(directory);
  return text;
}

// The socket, for the handler that runs in the child of a fork.
std::atomic<int> open_socket = -1;
std::atomic<bool> is_fork_child = false;

// Windows of the device's memory in this process; bytes are 0 before Connect.
struct Window {
  std::atomic<uint64_t> base = 0;
  std::atomic<uint64_t> bytes = 0;
};
Window windows[2];

// The child of a fork shares the socket with its parent. It must neither use it nor keep it open: the device process
// ends when the parent does.
void AfterForkInChild() {
  is_fork_child = true;
  if (const int socket = open_socket.exchange(-1); socket >= 0) close(socket);
}

std::string ProgramName() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0) return "";
  const std::string_view text(path, static_cast<size_t>(size));
  return std::string(text.substr(text.rfind('/') + 1));
}

Result MapWindow(Window& window, int file, uint64_t base, uint64_t bytes) {
  void* wanted = reinterpret_cast<void*>(base);
  void* got = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
  if (got != wanted) {
    const int error = got == MAP_FAILED ? errno : EEXIST;
    if (got != MAP_FAILED) munmap(got, bytes);
    return {Error::kNoDevice, std::string("the device's memory cannot be placed into this program: ") +
                                  std::strerror(error) +
                                  (error == ENOMEM ? "; check `ulimit -v`, which must be unlimited" : "")};
  }
  madvise(got, bytes, MADV_DONTDUMP);
  window.base = base;
  window.bytes = bytes;
  return {};
}

}  // namespace

struct DeviceClient::State {
  std::mutex mutex;
  std::vector<std::string> programs;
  bool connected = false;
  Result sticky;                     // an error that all later calls return
  std::atomic<bool> failed = false;  // there is one
  int socket = -1;
  uint64_t sequence = 0;
  std::atomic<bool> recording = false;

  // Calls `function` with the mutex held. Not in the child of a fork: there a thread that is gone may hold it.
  template <typename Function>
  Result Locked(Function function) {
    if (Result mine = CheckProcess(); !mine.ok()) return mine;
    std::lock_guard lock(mutex);
    return function();
  }

  // These are called with the mutex held.
  void Stick(Result error);
  Result Ready();
  Result Connect();
  Result Disconnected();
  // The device answers what nobody can read.
  Result HangUp();
  // Sends a request and reads its reply: the outcome, then, as far as it is there, `reply`.
  template <typename Request, typename Reply>
  Result Call(MessageKind kind, const Request& request, Reply* reply);
  Result Receive(MessageKind kind, std::string& body, std::vector<int>* descriptors);
};

void DeviceClient::State::Stick(Result error) {
  sticky = std::move(error);
  failed = true;
}

Result DeviceClient::State::Disconnected() {
  Stick({Error::kDisconnected,
         "the device process (heddle-capture) has ended before its time: its message is above, or it was killed, "
         "perhaps because memory is short"});
  if (const int old = open_socket.exchange(-1); old >= 0) close(old);
  socket = -1;
  return sticky;
}

Result DeviceClient::State::HangUp() {
  if (socket >= 0) shutdown(socket, SHUT_RDWR);
  return Disconnected();
}

Result DeviceClient::State::Receive(MessageKind kind, std::string& body, std::vector<int>* descriptors) {
  MessageHeader header;
  if (ReceiveMessage(socket, header, body, descriptors) != ReadOutcome::kMessage) return Disconnected();
  if (header.kind != static_cast<uint16_t>(kind) || header.sequence != sequence) return HangUp();
  return {};
}

template <typename Request, typename Reply>
Result DeviceClient::State::Call(MessageKind kind, const Request& request, Reply* reply) {
  if (Result ready = Ready(); !ready.ok()) return ready;
  Writer writer;
  Write(writer, request);
  if (writer.bytes().size() > kMaxMessageBytes) {
    return {Error::kInvalidValue, "a request of more than 1 GiB to the device"};
  }
  if (!SendMessage(socket, kind, ++sequence, writer.bytes())) return Disconnected();
  std::string body;
  if (Result received = Receive(kind, body, nullptr); !received.ok()) return received;
  Reader reader(body);
  Result result;
  Read(reader, result);
  if (reply != nullptr) Read(reader, *reply);
  if (!reader.Complete()) return HangUp();
  if (result.error == Error::kKernelFault || result.error == Error::kDisconnected) Stick(result);
  return result;
}

Result DeviceClient::State::Ready() {
  if (!sticky.ok()) return sticky;
  if (connected) return {};
  Result result = Connect();
  connected = result.ok();
  return result;
}

Result DeviceClient::State::Connect() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, AfterForkInChild); });
  if (Result result = StartDeviceProcess(programs, &socket); !result.ok()) return result;
  open_socket = socket;
  HelloRequest hello;
  hello.program = ProgramName();
  Writer writer;
  Write(writer, hello);
  if (!SendMessage(socket, MessageKind::kHello, ++sequence, writer.bytes())) return Disconnected();
  std::string body;
  std::vector<int> files;
  if (Result received = Receive(MessageKind::kHello, body, &files); !received.ok()) return received;
  Reader reader(body);
  Result result;
  HelloReply reply;
  Read(reader, result);
  Read(reader, reply);
  if (!reader.Complete()) {
    result = {Error::kNoDevice, "the device program speaks another protocol: build the program and Heddle anew"};
  } else if (result.ok() && reply.version != kProtocolVersion) {
    result = {Error::kNoDevice, "the device program is of version " + std::to_string(reply.version) +
                                    ", this program was built for version " + std::to_string(kProtocolVersion) +
                                    ": build it anew"};
  } else if (result.ok() && files.size() != 2) {
    result = {Error::kNoDevice, "the device program has sent no memory"};
  }
  if (result.ok()) result = MapWindow(windows[0], files[0], reply.global_base, reply.global_bytes);
  if (result.ok()) result = MapWindow(windows[1], files[1], reply.constant_base, reply.constant_bytes);
  for (int file : files) close(file);
  if (!result.ok()) {
    Stick(result);
    if (const int old = open_socket.exchange(-1); old >= 0) close(old);
    socket = -1;
    return result;
  }
  recording = reply.recording;
  return {};
}

DeviceClient::DeviceClient() : state_(std::make_unique<State>()) {}
DeviceClient::~DeviceClient() = default;

DeviceClient& DeviceClient::Get() {
  // Never destroyed: destructors of the application's static objects still free device memory.
  static DeviceClient& client = *new DeviceClient;
  return client;
}

void DeviceClient::AddDeviceProgram(std::string path) {
  std::lock_guard lock(state_->mutex);
  state_->programs.push_back(std::move(path));
}

Result DeviceClient::CheckProcess() {
  if (!is_fork_child) return {};
  return {
      Error::kNoDevice,
      "this process is the child of a fork: the device belongs to its parent. Use the device in one of them only, or "
      "execute a program in the child"};
}

Result DeviceClient::StickyError() {
  if (!state_->failed) return CheckProcess();
  return state_->Locked([&] { return state_->sticky; });
}

Result DeviceClient::Connect() {
  return state_->Locked([&] { return state_->Ready(); });
}

Result DeviceClient::LoadModule(const std::vector<ModuleImage>& images, const ModuleOptions& options,
                                LoadPurpose purpose, ModuleInfo* module) {
  return state_->Locked(
      [&] { return state_->Call(MessageKind::kLoadModule, LoadModuleRequest{images, options, purpose}, module); });
}

Result DeviceClient::BuildOpenCl(std::string_view source, std::string_view options,
                                 const std::vector<SourceHeader>& headers, bool compile_only, ModuleInfo* module) {
  BuildOpenClRequest request;
  request.source = source;
  request.options = std::string(options);
  request.working_directory = WorkingDirectory();
  request.headers = headers;
  request.compile_only = compile_only;
  return state_->Locked([&] { return state_->Call(MessageKind::kBuildOpenCl, request, module); });
}

Result DeviceClient::CompileCuda(CompileCudaRequest request, CompiledCuda* compiled) {
  request.working_directory = WorkingDirectory();
  return state_->Locked([&] { return state_->Call(MessageKind::kCompileCuda, request, compiled); });
}

Result DeviceClient::UnloadModule(uint64_t module) {
  return state_->Locked(
      [&] { return state_->Call(MessageKind::kUnloadModule, module, static_cast<uint64_t*>(nullptr)); });
}

Result DeviceClient::DescribeKernel(uint64_t module, std::string_view kernel, KernelInfo* info) {
  return state_->Locked(
      [&] { return state_->Call(MessageKind::kDescribeKernel, KernelName{module, std::string(kernel)}, info); });
}

Result DeviceClient::Allocate(uint64_t bytes, std::string_view name, uint64_t* address) {
  return state_->Locked(
      [&] { return state_->Call(MessageKind::kAllocate, AllocateRequest{bytes, std::string(name)}, address); });
}

Result DeviceClient::Free(uint64_t address) {
  if (address == 0) return {};
  return state_->Locked([&] { return state_->Call(MessageKind::kFree, address, static_cast<uint64_t*>(nullptr)); });
}

Result DeviceClient::Reserve(uint64_t bytes, uint64_t alignment, uint64_t wanted, uint64_t* address) {
  return state_->Locked(
      [&] { return state_->Call(MessageKind::kReserve, ReserveRequest{bytes, alignment, wanted}, address); });
}

Result DeviceClient::Release(uint64_t address) {
  return state_->Locked([&] { return state_->Call(MessageKind::kRelease, address, static_cast<uint64_t*>(nullptr)); });
}

Result DeviceClient::Map(uint64_t address, uint64_t bytes, std::string_view name) {
  return state_->Locked([&] {
    return state_->Call(MessageKind::kMap, MapRequest{address, bytes, std::string(name)},
                        static_cast<uint64_t*>(nullptr));
  });
}

Result DeviceClient::Unmap(uint64_t address) {
  return state_->Locked([&] { return state_->Call(MessageKind::kUnmap, address, static_cast<uint64_t*>(nullptr)); });
}

Result DeviceClient::Launch(const LaunchRequest& request, LaunchReply* reply) {
  return state_->Locked([&] { return state_->Call(MessageKind::kLaunch, request, reply); });
}

Result DeviceClient::NoteTransfer(TransferDirection direction, uint64_t address, uint64_t bytes, uint64_t stream) {
  return state_->Locked([&] {
    if (Result ready = state_->Ready(); !ready.ok() || !state_->recording) return ready;
    Writer writer;
    Write(writer, TransferNote{direction, address, bytes, stream});
    return SendMessage(state_->socket, MessageKind::kTransfer, ++state_->sequence, writer.bytes())
               ? Result{}
               : state_->Disconnected();
  });
}

Result DeviceClient::Limits(DeviceLimits* limits) {
  return state_->Locked([&] { return state_->Call(MessageKind::kLimits, uint64_t{0}, limits); });
}

bool DeviceClient::IsDeviceAddress(uint64_t address) {
  for (const Window& window : windows) {
    if (address - window.base < window.bytes) return true;
  }
  return false;
}

bool DeviceClient::recording() const { return state_->recording; }

}  // namespace heddle::device
