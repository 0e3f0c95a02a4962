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
#include <type_traits>
#include <vector>

#include "tracegen/runtime/protocol/device_types.h"
#include "tracegen/runtime/protocol/wire.h"

namespace heddle::device {

inline constexpr uint32_t kProtocolVersion = 4;
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
  kCompileCuda = 15,
};

// Each structure is followed by its fields, in the order in which they are sent.
struct HelloRequest {
  uint32_t version = kProtocolVersion;
  std::string program;  // base name of the application, for messages
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<HelloRequest>& value) {
  archive(value.version, value.program);
}

struct HelloReply {
  uint32_t version = kProtocolVersion;
  uint64_t global_base = 0;
  uint64_t global_bytes = 0;
  uint64_t constant_base = 0;
  uint64_t constant_bytes = 0;
  bool recording = false;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<HelloReply>& value) {
  archive(value.version, value.global_base, value.global_bytes, value.constant_base, value.constant_bytes,
          value.recording);
}

struct LoadModuleRequest {
  std::vector<ModuleImage> images;  // more than one: to be linked
  ModuleOptions options;
  LoadPurpose purpose = LoadPurpose::kUse;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<LoadModuleRequest>& value) {
  archive(value.images, value.options, value.purpose);
}

struct BuildOpenClRequest {
  std::string_view source;
  std::string options;
  std::string working_directory;
  std::vector<SourceHeader> headers;
  bool compile_only = false;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<BuildOpenClRequest>& value) {
  archive(value.source, value.options, value.working_directory, value.headers, value.compile_only);
}

struct CompileCudaRequest {
  std::string_view source;
  std::string name;                   // of the program, for messages and traces; may be empty
  std::vector<std::string> options;   // as nvrtcCompileProgram has them
  std::string working_directory;      // folders of options are relative to it
  std::vector<SourceHeader> headers;  // found before all others
  std::vector<std::string> name_expressions;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<CompileCudaRequest>& value) {
  archive(value.source, value.name, value.options, value.working_directory, value.headers, value.name_expressions);
}

struct KernelName {  // kDescribeKernel
  uint64_t module = 0;
  std::string kernel;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<KernelName>& value) {
  archive(value.module, value.kernel);
}

struct AllocateRequest {
  uint64_t bytes = 0;
  std::string name;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<AllocateRequest>& value) {
  archive(value.bytes, value.name);
}

struct ReserveRequest {
  uint64_t bytes = 0;
  uint64_t alignment = 0;
  uint64_t wanted = 0;  // address; 0 = any
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<ReserveRequest>& value) {
  archive(value.bytes, value.alignment, value.wanted);
}

struct MapRequest {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string name;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<MapRequest>& value) {
  archive(value.address, value.bytes, value.name);
}

struct TransferNote {
  TransferDirection direction = TransferDirection::kHostToDevice;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
};
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<TransferNote>& value) {
  archive(value.direction, value.address, value.bytes, value.stream);
}

// The fields of what device_types.h declares.
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<Result>& value) {
  archive(value.error, value.message);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<ParameterInfo>& value) {
  archive(value.name, value.type_name, value.kind, value.offset, value.bytes, value.alignment, value.address_space,
          value.access_qualifier, value.type_qualifiers);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<KernelInfo>& value) {
  archive(value.name, value.shown_name, value.parameters, value.parameter_bytes, value.max_threads,
          value.required_block, value.cluster, value.max_cluster_blocks, value.attributes, value.static_shared_bytes,
          value.registers, value.local_bytes, value.constant_bytes, value.live_threads, value.live_blocks);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<VariableInfo>& value) {
  archive(value.name, value.shown_name, value.address, value.bytes, value.constant, value.managed);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<ModuleImage>& value) {
  archive(value.kind, value.name, value.data);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<ModuleInfo>& value) {
  archive(value.id, value.target, value.kernels, value.variables, value.log, value.binary);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<CompiledCuda>& value) {
  archive(value.log, value.ptx, value.image, value.lowered_names);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<ModuleOptions>& value) {
  archive(value.name, value.target, value.optimization, value.max_registers, value.most_capability);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<SourceHeader>& value) {
  archive(value.name, value.text);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<LaunchRequest>& value) {
  archive(value.module, value.kernel, value.grid, value.block, value.cluster, value.dynamic_shared_bytes, value.stream,
          value.dependencies, value.graph, value.parameters, value.global_offset, value.work_dimensions,
          value.stand_in_for);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<LaunchReply>& value) {
  archive(value.launch, value.duration_ns, value.printed);
}
template <typename Archive>
void Fields(Archive& archive, typename Archive::template Field<DeviceLimits>& value) {
  archive(value.total_bytes, value.free_bytes, value.max_threads, value.max_block, value.max_grid,
          value.max_static_shared_bytes, value.max_shared_bytes, value.max_constant_bytes, value.max_parameter_bytes,
          value.warp_width);
}

// Writes a message, or a part of one.
template <typename Message>
  requires std::is_class_v<Message>
void Write(Writer& to, const Message& value) {
  Fields(to, value);
}
inline void Write(Writer& to, uint64_t value) { to.Number(value); }  // kUnloadModule, kFree ...; the reply of kAllocate

// Reads what Write has written; see Reader for bytes that nobody has.
template <typename Message>
  requires std::is_class_v<Message>
void Read(Reader& from, Message& value) {
  Fields(from, value);
}
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
