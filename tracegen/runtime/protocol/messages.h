// The messages between an application and its device process, and their bytes. A request is answered by one reply of
// the same kind and sequence, except kTransfer, which has none. The application sends one request at a time.
//
// Start: the application makes a socket pair, starts `heddle-capture --device` with one end as descriptor 3, and sends
// kHello. With the reply come two file descriptors (SCM_RIGHTS): the memory files of the global and of the constant
// window, to be mapped shared at the addresses that the reply names. End of file ends the device process.
#ifndef HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_MESSAGES_H_
#define HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/runtime/protocol/device_types.h"
#include "tracegen/runtime/protocol/wire.h"

namespace heddle::device {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr int kDeviceDescriptor = 3;  // the device process's end of the socket

enum class MessageKind : uint16_t {
  kHello = 1,
  kLoadModule = 2,
  kBuildOpenCl = 3,
  kUnloadModule = 4,
  kDescribeKernel = 5,
  kAllocate = 6,
  kFree = 7,
  kLaunch = 8,
  kTransfer = 9,
  kLimits = 10,
  kReserve = 11,
  kRelease = 12,
  kMap = 13,
  kUnmap = 14,
};

// One field after the other, by overloads of Write and Read for each structure below.
struct HelloRequest {
  uint32_t version = kProtocolVersion;
  std::string program;  // base name of the application, for messages
};
struct HelloReply {
  uint32_t version = kProtocolVersion;
  uint64_t global_base = 0;
  uint64_t global_bytes = 0;
  uint64_t constant_base = 0;
  uint64_t constant_bytes = 0;
  bool recording = false;
};
struct LoadModuleRequest {
  std::vector<std::string_view> bitcode;
  ModuleOptions options;
};
struct BuildOpenClRequest {
  std::string_view source;
  std::string options;
  std::string working_directory;
  std::vector<SourceHeader> headers;
  bool compile_only = false;
};
struct KernelName {  // kDescribeKernel
  uint64_t module = 0;
  std::string kernel;
};
struct AllocateRequest {
  uint64_t bytes = 0;
  std::string name;
};
struct ReserveRequest {
  uint64_t bytes = 0;
  uint64_t alignment = 0;
  uint64_t wanted = 0;  // address; 0 = any
};
struct MapRequest {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string name;
};
struct TransferNote {
  TransferDirection direction = TransferDirection::kHostToDevice;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
};

void Write(Writer& to, const Result& value);
void Write(Writer& to, const HelloRequest& value);
void Write(Writer& to, const HelloReply& value);
void Write(Writer& to, const LoadModuleRequest& value);
void Write(Writer& to, const BuildOpenClRequest& value);
void Write(Writer& to, const ModuleInfo& value);
void Write(Writer& to, const KernelName& value);
void Write(Writer& to, const KernelInfo& value);
void Write(Writer& to, const AllocateRequest& value);
void Write(Writer& to, const ReserveRequest& value);
void Write(Writer& to, const MapRequest& value);
void Write(Writer& to, const LaunchRequest& value);
void Write(Writer& to, const LaunchReply& value);
void Write(Writer& to, const TransferNote& value);
void Write(Writer& to, const DeviceLimits& value);
inline void Write(Writer& to, uint64_t value) { to.Number(value); }  // kUnloadModule, kFree ...; the reply of kAllocate

void Read(Reader& from, Result& value);
void Read(Reader& from, HelloRequest& value);
void Read(Reader& from, HelloReply& value);
void Read(Reader& from, LoadModuleRequest& value);
void Read(Reader& from, BuildOpenClRequest& value);
void Read(Reader& from, ModuleInfo& value);
void Read(Reader& from, KernelName& value);
void Read(Reader& from, KernelInfo& value);
void Read(Reader& from, AllocateRequest& value);
void Read(Reader& from, ReserveRequest& value);
void Read(Reader& from, MapRequest& value);
void Read(Reader& from, LaunchRequest& value);
void Read(Reader& from, LaunchReply& value);
void Read(Reader& from, TransferNote& value);
void Read(Reader& from, DeviceLimits& value);
inline void Read(Reader& from, uint64_t& value) { from.Number(value); }

// The outcome of reading a socket.
enum class ReadOutcome : uint8_t {
  kMessage,  // a whole message
  kEnd,      // the other side has closed its end between two messages
  kBroken,   // an error, or an end in the middle of a message, or a message longer than allowed
};

// Sends a message whole. False if the other side is gone. `descriptors` travel with it (SCM_RIGHTS).
bool SendMessage(int socket, MessageKind kind, uint64_t sequence, std::string_view body,
                 const std::vector<int>& descriptors = {});

// Receives a message whole. `descriptors`, unless null, gets the file descriptors that came with it, closed on exec;
// others are closed.
ReadOutcome ReceiveMessage(int socket, MessageHeader& header, std::string& body,
                           std::vector<int>* descriptors = nullptr);

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_MESSAGES_H_
