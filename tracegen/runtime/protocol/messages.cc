#include "tracegen/runtime/protocol/messages.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::device {
namespace {

// Most file descriptors that a message carries.
constexpr size_t kMostDescriptors = 8;
constexpr size_t kReadStep = size_t{16} << 20;

void WriteThree(Writer& to, const uint32_t* numbers) {
  for (int i = 0; i < 3; ++i) to.Number(numbers[i]);
}
void ReadThree(Reader& from, uint32_t* numbers) {
  for (int i = 0; i < 3; ++i) from.Number(numbers[i]);
}

void Write(Writer& to, const ParameterInfo& value) {
  to.Text(value.name);
  to.Text(value.type_name);
  to.Number(value.kind);
  to.Number(value.offset);
  to.Number(value.bytes);
  to.Number(value.alignment);
  to.Number(value.address_space);
  to.Text(value.access_qualifier);
  to.Text(value.type_qualifiers);
}
void Read(Reader& from, ParameterInfo& value) {
  from.Text(value.name);
  from.Text(value.type_name);
  from.Number(value.kind);
  from.Number(value.offset);
  from.Number(value.bytes);
  from.Number(value.alignment);
  from.Number(value.address_space);
  from.Text(value.access_qualifier);
  from.Text(value.type_qualifiers);
}

void Write(Writer& to, const VariableInfo& value) {
  to.Text(value.name);
  to.Text(value.shown_name);
  to.Number(value.address);
  to.Number(value.bytes);
  to.Number(uint8_t{value.constant});
}
void Read(Reader& from, VariableInfo& value) {
  from.Text(value.name);
  from.Text(value.shown_name);
  from.Number(value.address);
  from.Number(value.bytes);
  from.Flag(value.constant);
}

void Write(Writer& to, const ModuleOptions& value) {
  to.Text(value.name);
  to.Text(value.target);
  to.Text(value.optimization);
  to.Number(value.max_registers);
}
void Read(Reader& from, ModuleOptions& value) {
  from.Text(value.name);
  from.Text(value.target);
  from.Text(value.optimization);
  from.Number(value.max_registers);
}

// Sends all bytes; the first ones together with `control`.
bool SendAll(int socket, std::string_view bytes, msghdr message) {
  while (!bytes.empty()) {
    iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
    message.msg_control = nullptr;
    message.msg_controllen = 0;
  }
  return true;
}

void TakeDescriptors(msghdr& message, std::vector<int>* descriptors) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr; control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
      if (descriptors != nullptr) {
        descriptors->push_back(descriptor);
      } else {
        close(descriptor);
      }
    }
  }
}

// Receives `size` bytes. False at the end of the stream; `received` tells how many came before it.
bool ReceiveAll(int socket, char* to, size_t size, size_t& received, std::vector<int>* descriptors) {
  received = 0;
  while (received < size) {
    iovec part = {to + received, size - received};
    alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    TakeDescriptors(message, descriptors);
    received += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

void Write(Writer& to, const Result& value) {
  to.Number(value.error);
  to.Text(value.message);
}
void Read(Reader& from, Result& value) {
  from.Number(value.error);
  from.Text(value.message);
}

void Write(Writer& to, const HelloRequest& value) {
  to.Number(value.version);
  to.Text(value.program);
}
void Read(Reader& from, HelloRequest& value) {
  from.Number(value.version);
  from.Text(value.program);
}

void Write(Writer& to, const HelloReply& value) {
  to.Number(value.version);
  to.Number(value.global_base);
  to.Number(value.global_bytes);
  to.Number(value.constant_base);
  to.Number(value.constant_bytes);
  to.Number(uint8_t{value.recording});
}
void Read(Reader& from, HelloReply& value) {
  from.Number(value.version);
  from.Number(value.global_base);
  from.Number(value.global_bytes);
  from.Number(value.constant_base);
  from.Number(value.constant_bytes);
  from.Flag(value.recording);
}

void Write(Writer& to, const LoadModuleRequest& value) {
  to.List(value.bitcode, [](Writer& list, std::string_view part) { list.Text(part); });
  Write(to, value.options);
}
void Read(Reader& from, LoadModuleRequest& value) {
  from.List(value.bitcode, [](Reader& list, std::string_view& part) { list.View(part); });
  Read(from, value.options);
}

void Write(Writer& to, const BuildOpenClRequest& value) {
  to.Text(value.source);
  to.Text(value.options);
  to.Text(value.working_directory);
  to.List(value.headers, [](Writer& list, const SourceHeader& header) {
    list.Text(header.name);
    list.Text(header.text);
  });
  to.Number(uint8_t{value.compile_only});
}
void Read(Reader& from, BuildOpenClRequest& value) {
  from.View(value.source);
  from.Text(value.options);
  from.Text(value.working_directory);
  from.List(value.headers, [](Reader& list, SourceHeader& header) {
    list.Text(header.name);
    list.Text(header.text);
  });
  from.Flag(value.compile_only);
}

void Write(Writer& to, const ModuleInfo& value) {
  to.Number(value.id);
  to.List(value.kernels, [](Writer& list, const KernelInfo& kernel) { Write(list, kernel); });
  to.List(value.variables, [](Writer& list, const VariableInfo& variable) { Write(list, variable); });
  to.Text(value.log);
  to.Text(value.binary);
}
void Read(Reader& from, ModuleInfo& value) {
  from.Number(value.id);
  from.List(value.kernels, [](Reader& list, KernelInfo& kernel) { Read(list, kernel); });
  from.List(value.variables, [](Reader& list, VariableInfo& variable) { Read(list, variable); });
  from.Text(value.log);
  from.Text(value.binary);
}

void Write(Writer& to, const KernelName& value) {
  to.Number(value.module);
  to.Text(value.kernel);
}
void Read(Reader& from, KernelName& value) {
  from.Number(value.module);
  from.Text(value.kernel);
}

void Write(Writer& to, const KernelInfo& value) {
  to.Text(value.name);
  to.Text(value.shown_name);
  to.List(value.parameters, [](Writer& list, const ParameterInfo& parameter) { Write(list, parameter); });
  to.Number(value.parameter_bytes);
  to.Number(value.max_threads);
  WriteThree(to, value.required_block);
  to.Text(value.attributes);
  to.Number(value.static_shared_bytes);
  to.Number(value.registers);
  to.Number(value.local_bytes);
}
void Read(Reader& from, KernelInfo& value) {
  from.Text(value.name);
  from.Text(value.shown_name);
  from.List(value.parameters, [](Reader& list, ParameterInfo& parameter) { Read(list, parameter); });
  from.Number(value.parameter_bytes);
  from.Number(value.max_threads);
  ReadThree(from, value.required_block);
  from.Text(value.attributes);
  from.Number(value.static_shared_bytes);
  from.Number(value.registers);
  from.Number(value.local_bytes);
}

void Write(Writer& to, const AllocateRequest& value) {
  to.Number(value.bytes);
  to.Text(value.name);
}
void Read(Reader& from, AllocateRequest& value) {
  from.Number(value.bytes);
  from.Text(value.name);
}

void Write(Writer& to, const ReserveRequest& value) {
  to.Number(value.bytes);
  to.Number(value.alignment);
  to.Number(value.wanted);
}
void Read(Reader& from, ReserveRequest& value) {
  from.Number(value.bytes);
  from.Number(value.alignment);
  from.Number(value.wanted);
}

void Write(Writer& to, const MapRequest& value) {
  to.Number(value.address);
  to.Number(value.bytes);
  to.Text(value.name);
}
void Read(Reader& from, MapRequest& value) {
  from.Number(value.address);
  from.Number(value.bytes);
  from.Text(value.name);
}

void Write(Writer& to, const LaunchRequest& value) {
  to.Number(value.module);
  to.Text(value.kernel);
  WriteThree(to, value.grid);
  WriteThree(to, value.block);
  to.Number(value.dynamic_shared_bytes);
  to.Number(value.stream);
  to.List(value.dependencies, [](Writer& list, uint64_t launch) { list.Number(launch); });
  to.Text(value.parameters);
  for (uint64_t offset : value.global_offset) to.Number(offset);
  to.Number(value.work_dimensions);
}
void Read(Reader& from, LaunchRequest& value) {
  from.Number(value.module);
  from.Text(value.kernel);
  ReadThree(from, value.grid);
  ReadThree(from, value.block);
  from.Number(value.dynamic_shared_bytes);
  from.Number(value.stream);
  from.List(value.dependencies, [](Reader& list, uint64_t& launch) { list.Number(launch); });
  from.Text(value.parameters);
  for (uint64_t& offset : value.global_offset) from.Number(offset);
  from.Number(value.work_dimensions);
}

void Write(Writer& to, const LaunchReply& value) {
  to.Number(value.launch);
  to.Number(value.duration_ns);
  to.Text(value.printed);
}
void Read(Reader& from, LaunchReply& value) {
  from.Number(value.launch);
  from.Number(value.duration_ns);
  from.Text(value.printed);
}

void Write(Writer& to, const TransferNote& value) {
  to.Number(value.direction);
  to.Number(value.address);
  to.Number(value.bytes);
  to.Number(value.stream);
}
void Read(Reader& from, TransferNote& value) {
  from.Number(value.direction);
  from.Number(value.address);
  from.Number(value.bytes);
  from.Number(value.stream);
}

void Write(Writer& to, const DeviceLimits& value) {
  to.Number(value.total_bytes);
  to.Number(value.free_bytes);
  to.Number(value.max_threads);
  WriteThree(to, value.max_block);
  WriteThree(to, value.max_grid);
  to.Number(value.max_static_shared_bytes);
  to.Number(value.max_shared_bytes);
  to.Number(value.max_constant_bytes);
  to.Number(value.max_parameter_bytes);
  to.Number(value.warp_width);
}
void Read(Reader& from, DeviceLimits& value) {
  from.Number(value.total_bytes);
  from.Number(value.free_bytes);
  from.Number(value.max_threads);
  ReadThree(from, value.max_block);
  ReadThree(from, value.max_grid);
  from.Number(value.max_static_shared_bytes);
  from.Number(value.max_shared_bytes);
  from.Number(value.max_constant_bytes);
  from.Number(value.max_parameter_bytes);
  from.Number(value.warp_width);
}

bool SendMessage(int socket, MessageKind kind, uint64_t sequence, std::string_view body,
                 const std::vector<int>& descriptors) {
  if (body.size() > kMaxMessageBytes || descriptors.size() > kMostDescriptors) return false;
  MessageHeader header;
  header.length = static_cast<uint32_t>(body.size());
  header.kind = static_cast<uint16_t>(kind);
  header.sequence = sequence;
  msghdr message = {};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  if (!descriptors.empty()) {
    const size_t bytes = descriptors.size() * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  // Small messages go in one piece, so that the other process wakes up once.
  if (body.size() <= 4096) {
    std::string whole(reinterpret_cast<const char*>(&header), sizeof(header));
    whole.append(body);
    return SendAll(socket, whole, message);
  }
  return SendAll(socket, std::string_view(reinterpret_cast<const char*>(&header), sizeof(header)), message) &&
         SendAll(socket, body, msghdr{});
}

ReadOutcome ReceiveMessage(int socket, MessageHeader& header, std::string& body, std::vector<int>* descriptors) {
  size_t received = 0;
  if (!ReceiveAll(socket, reinterpret_cast<char*>(&header), sizeof(header), received, descriptors)) {
    return received == 0 ? ReadOutcome::kEnd : ReadOutcome::kBroken;
  }
  if (header.length > kMaxMessageBytes) return ReadOutcome::kBroken;
  body.clear();
  // Step by step: what the header promises may never come.
  while (body.size() < header.length) {
    const size_t at = body.size();
    const size_t step = std::min(kReadStep, header.length - at);
    body.resize(at + step);
    if (!ReceiveAll(socket, body.data() + at, step, received, descriptors)) return ReadOutcome::kBroken;
  }
  return ReadOutcome::kMessage;
}

}  // namespace heddle::device
