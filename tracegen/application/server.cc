#include "tracegen/application/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tracegen/application/device.h"
#include "tracegen/execute/block/fault_handler.h"
#include "tracegen/frontend/runtime_compilation.h"
#include "tracegen/runtime/protocol/messages.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using device::Error;
using device::MessageKind;
using device::Reader;
using device::Result;
using device::Writer;

// The place of this process among those of the run: folder/NUMBER, locked while the process lives.
absl::StatusOr<std::string> TakeNumber(const std::string& folder) {
  for (int number = 1; number < 100000; ++number) {
    const std::string path = absl::StrCat(folder, "/", number);
    // The descriptor stays open until the process ends: the lock is how `heddle capture` knows that it has.
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      flock(file, LOCK_EX);
      return path;
    }
    if (errno != EEXIST)
      return absl::UnavailableError(absl::StrCat("cannot write into ", folder, ": ", strerror(errno)));
  }
  return absl::ResourceExhaustedError("too many processes in one capture");
}

// While a kernel runs nobody reads the socket: an application that ends then must not wait for it.
void WatchForEnd(int socket) {
  std::thread([socket] {
    pollfd watched = {socket, POLLRDHUP, 0};
    while (poll(&watched, 1, -1) < 0 && errno == EINTR) {
    }
    RequestInterrupt();
  }).detach();
}

class Server {
 public:
  explicit Server(int socket) : socket_(socket) {}

  int Run() {
    device::MessageHeader header;
    std::string body;
    while (device::ReceiveMessage(socket_, header, body) == device::ReadOutcome::kMessage) {
      if (!Serve(header, body)) break;
    }
    return Finish();
  }

 private:
  // False if the application is gone.
  bool Serve(const device::MessageHeader& header, const std::string& body) {
    const auto kind = static_cast<MessageKind>(header.kind);
    Reader reader(body);
    Writer reply;
    std::vector<int> files;
    if (kind == MessageKind::kTransfer) {
      device::TransferNote note;
      Read(reader, note);
      if (reader.Complete() && device_ != nullptr) device_->NoteTransfer(note);
      return true;
    }
    if (kind == MessageKind::kHello) {
      Hello(reader, reply, files);
    } else if (device_ == nullptr) {
      Write(reply, Result{Error::kNoDevice, "the first message must be a greeting"});
    } else {
      Answer(kind, reader, reply);
    }
    return device::SendMessage(socket_, kind, header.sequence, reply.bytes(), files);
  }

  void Hello(Reader& reader, Writer& reply, std::vector<int>& files) {
    device::HelloRequest request;
    Read(reader, request);
    device::HelloReply answer;
    Result result;
    if (!reader.ok() || request.version != device::kProtocolVersion) {
      result = {Error::kNoDevice, "the program was built for another version of Heddle: build it anew"};
    } else if (absl::Status status = Open(request.program); !status.ok()) {
      result = {Error::kNoDevice, std::string(status.message())};
    } else {
      answer.global_base = kGlobalBase;
      answer.global_bytes = kGlobalBytes;
      answer.constant_base = kConstantBase;
      answer.constant_bytes = kConstantBytes;
      answer.recording = recording_ != nullptr;
      files = {device_->memory().global_file(), device_->memory().constant_file()};
    }
    Write(reply, result);
    Write(reply, answer);
  }

  absl::Status Open(const std::string& program) {
    if (device_ != nullptr) return absl::FailedPreconditionError("greeted twice");
    if (const char* text = std::getenv(kCaptureVariable); text != nullptr && *text != '\0') {
      HEDDLE_ASSIGN_OR_RETURN(CaptureSettings settings, DecodeSettings(text));
      HEDDLE_ASSIGN_OR_RETURN(std::string place, TakeNumber(settings.folder));
      place_ = std::move(place);
      recording_ = std::make_unique<Recording>(std::move(settings), absl::StrCat(place_, ".htrace"));
      recording_->SetProgram(program);
    }
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, Device::Create(recording_.get()));
    device_ = std::move(device);
    WatchForEnd(socket_);
    return absl::OkStatus();
  }

  // Reads a request, calls `serve` with it and the reply to fill in, writes the outcome and the reply.
  template <typename Request, typename Reply, typename Function>
  void Call(Reader& reader, Writer& reply, Function serve) {
    Request request{};
    Read(reader, request);
    Reply answer{};
    Result result = reader.Complete() ? serve(request, &answer) : Result{Error::kInvalidValue, "a broken request"};
    Write(reply, result);
    Write(reply, answer);
  }
  template <typename Request, typename Function>
  void Call(Reader& reader, Writer& reply, Function serve) {
    Request request{};
    Read(reader, request);
    Write(reply, reader.Complete() ? serve(request) : Result{Error::kInvalidValue, "a broken request"});
  }

  void Answer(MessageKind kind, Reader& reader, Writer& reply) {
    switch (kind) {
      case MessageKind::kLoadModule:
        return Call<device::LoadModuleRequest, device::ModuleInfo>(reader, reply, [&](auto& request, auto* answer) {
          return device_->LoadModule(request.images, request.options, request.purpose, answer);
        });
      case MessageKind::kBuildOpenCl:
        return Call<device::BuildOpenClRequest, device::ModuleInfo>(
            reader, reply, [&](auto& request, auto* answer) { return device_->BuildOpenCl(request, answer); });
      case MessageKind::kCompileCuda:
        return Call<device::CompileCudaRequest, device::CompiledCuda>(reader, reply, [](auto& request, auto* answer) {
          return CompileCudaText(request, kRuntimeCompilationLimits, answer);
        });
      case MessageKind::kUnloadModule:
        return Call<uint64_t>(reader, reply, [&](uint64_t module) { return device_->UnloadModule(module); });
      case MessageKind::kDescribeKernel:
        return Call<device::KernelName, device::KernelInfo>(
            reader, reply, [&](auto& request, auto* answer) { return device_->DescribeKernel(request, answer); });
      case MessageKind::kAllocate:
        return Call<device::AllocateRequest, uint64_t>(
            reader, reply, [&](auto& request, auto* answer) { return device_->Allocate(request, answer); });
      case MessageKind::kFree:
        return Call<uint64_t>(reader, reply, [&](uint64_t address) { return device_->Free(address); });
      case MessageKind::kReserve:
        return Call<device::ReserveRequest, uint64_t>(
            reader, reply, [&](auto& request, auto* answer) { return device_->Reserve(request, answer); });
      case MessageKind::kRelease:
        return Call<uint64_t>(reader, reply, [&](uint64_t address) { return device_->Release(address); });
      case MessageKind::kMap:
        return Call<device::MapRequest>(reader, reply, [&](auto& request) { return device_->Map(request); });
      case MessageKind::kUnmap:
        return Call<uint64_t>(reader, reply, [&](uint64_t address) { return device_->Unmap(address); });
      case MessageKind::kLaunch:
        return Call<device::LaunchRequest, device::LaunchReply>(
            reader, reply, [&](auto& request, auto* answer) { return device_->Launch(request, answer); });
      case MessageKind::kLimits:
        return Call<uint64_t, device::DeviceLimits>(reader, reply, [&](uint64_t, device::DeviceLimits* answer) {
          *answer = device_->Limits();
          return Result{};
        });
      case MessageKind::kHello:
      case MessageKind::kTransfer:
        break;
    }
    Write(reply, Result{Error::kInvalidValue, "an unknown request"});
  }

  int Finish() {
    if (recording_ == nullptr) return 0;
    const CaptureOutcome outcome = recording_->Finish();
    std::ofstream out(absl::StrCat(place_, ".outcome"), std::ios::binary);
    out << Encode(outcome);
    out.close();
    // What is kept of the trace can have taken all of the disk.
    if (!out && !outcome.failure.empty()) absl::FPrintF(stderr, "heddle-capture: %s\n", outcome.failure);
    return outcome.complete && out ? 0 : 1;
  }

  const int socket_;
  std::string place_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<Device> device_;
};

}  // namespace

int ServeApplication(int socket) {
  // The application's end tells us when to go, not what is sent to its terminal or to all processes of its group
  // (timeout, scancel): what it has launched is still to be put into the trace.
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  // The application must not wait for this process as a child of its own.
  if (const pid_t child = fork(); child != 0) {
    if (child < 0) absl::FPrintF(stderr, "heddle-capture: cannot start the device process: %s\n", strerror(errno));
    _exit(child < 0 ? 1 : 0);
  }
  return Server(socket).Run();
}

}  // namespace heddle::tracegen
