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
