// Messages between an application and its device process: what is written is read, and no bytes do harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <string>
#include <thread>

#include "tracegen/runtime/protocol/messages.h"

namespace heddle::device {
namespace {

template <typename T>
std::string Bytes(const T& value) {
  Writer writer;
  Write(writer, value);
  return writer.bytes();
}

// Reading what was written and writing it again gives the same bytes; every shorter message is noticed.
template <typename T>
void ExpectRoundTrip(const T& value) {
  const std::string bytes = Bytes(value);
  {
    Reader reader(bytes);
    T read;
    Read(reader, read);
    EXPECT_TRUE(reader.Complete());
    EXPECT_EQ(Bytes(read), bytes);
  }
  for (size_t length = 0; length < bytes.size(); ++length) {
    Reader reader(std::string_view(bytes).substr(0, length));
    T read;
    Read(reader, read);
    EXPECT_FALSE(reader.Complete()) << length << " of " << bytes.size();
  }
}

ModuleInfo SomeModule() {
  ModuleInfo module;
  module.id = 3;
  module.log = "warning";
  module.binary = std::string("BC\0\1", 4);
  KernelInfo& kernel = module.kernels.emplace_back();
  kernel.name = "_Z1kPf";
  kernel.shown_name = "k";
  kernel.required_block[2] = 4;
  ParameterInfo& parameter = kernel.parameters.emplace_back();
  parameter.name = "data";
  parameter.type_name = "float*";
  parameter.kind = ParameterKind::kGlobalPointer;
  parameter.bytes = 8;
  parameter.type_qualifiers = "const restrict";
  module.variables.push_back({"v", "ns::v", 0x1000, 16, true});
  return module;
}

TEST(ProtocolTest, EveryMessageIsReadAsItWasWritten) {
  ExpectRoundTrip(Result{Error::kKernelFault, "kernel 'k': fault"});
  ExpectRoundTrip(HelloRequest{1, "bfs"});
  ExpectRoundTrip(HelloReply{1, 2, 3, 4, 5, true});
  ExpectRoundTrip(LoadModuleRequest{{{ImageKind::kPtx, "a.ptx", "one"}, {ImageKind::kBitcode, "", "two"}},
                                    {"a.cu", "sm_70", "-O2", 32, 75},
                                    LoadPurpose::kLink});
  ExpectRoundTrip(BuildOpenClRequest{"kernel", "-DA", "/", {{"h", "text"}}, true});
  ExpectRoundTrip(SomeModule());
  ExpectRoundTrip(KernelName{7, "k"});
  ExpectRoundTrip(SomeModule().kernels.front());
  ExpectRoundTrip(AllocateRequest{100, "cudaMalloc"});
  LaunchRequest launch;
  launch.dependencies = {1, 2};
  launch.graph = 3;
  launch.parameters = std::string(12, '\0');
  launch.global_offset[1] = 9;
  ExpectRoundTrip(launch);
  ExpectRoundTrip(LaunchReply{1, 2, "hello\n"});
  ExpectRoundTrip(TransferNote{TransferDirection::kFill, 1, 2, 3});
  ExpectRoundTrip(DeviceLimits{});
}

TEST(ProtocolTest, FieldsFollowOneAnotherWithoutGaps) {
  Writer numbers;
  numbers.Number(uint32_t{1});
  for (uint64_t number : {2, 3, 4, 5}) numbers.Number(number);
  numbers.Number(uint8_t{1});
  EXPECT_EQ(Bytes(HelloReply{1, 2, 3, 4, 5, true}), numbers.bytes());

  // Texts and lists begin with their length, arrays of known length do not.
  EXPECT_EQ(Bytes(KernelName{0, "ab"}), std::string(8, '\0') + '\2' + std::string(7, '\0') + "ab");
  EXPECT_EQ(Bytes(LaunchRequest{}).size(), 8 + 8 + 12 + 12 + 12 + 4 + 8 + 8 + 4 + 8 + 24 + 4 + 8);
}

TEST(ProtocolTest, AListThatClaimsToBeLongerThanTheMessageIsRefusedBeforeRoomIsMade) {
  Writer writer;
  writer.Number(uint64_t{1});   // id
  writer.Number(~uint64_t{0});  // kernels
  Reader reader(writer.bytes());
  ModuleInfo module;
  Read(reader, module);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(module.kernels.empty());
}

TEST(ProtocolTest, ChangedBytesNeverDoHarm) {
  std::mt19937 random(1);
  const std::string whole = Bytes(SomeModule());
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string bytes = whole;
    for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    Reader reader(bytes);
    ModuleInfo module;
    Read(reader, module);  // the sanitizers watch
    EXPECT_LE(module.kernels.size(), bytes.size());
  }
}

class SocketTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  int ends_[2];
  MessageHeader header_;
  std::string body_;
};

TEST_F(SocketTest, MessagesOfAnySizeArriveWhole) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, size_t{40} << 20}) {
    const std::string sent(size, 'x');
    std::thread sender([&] { EXPECT_TRUE(SendMessage(ends_[0], MessageKind::kLaunch, size, sent)); });
    ASSERT_EQ(ReceiveMessage(ends_[1], header_, body_), ReadOutcome::kMessage);
    sender.join();
    EXPECT_EQ(header_.kind, static_cast<uint16_t>(MessageKind::kLaunch));
    EXPECT_EQ(header_.sequence, size);
    EXPECT_EQ(body_, sent);
  }
}

TEST_F(SocketTest, DescriptorsTravelWithAMessage) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  ASSERT_TRUE(SendMessage(ends_[0], MessageKind::kHello, 1, "hello", {pipe_ends[1]}));
  std::vector<int> received;
  ASSERT_EQ(ReceiveMessage(ends_[1], header_, body_, &received), ReadOutcome::kMessage);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(write(received[0], "!", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, '!');
  for (int file : {pipe_ends[0], pipe_ends[1], received[0]}) close(file);
}

TEST_F(SocketTest, TheEndIsToldApartFromABreak) {
  MessageHeader promise;
  promise.length = 100;
  ASSERT_EQ(write(ends_[0], &promise, sizeof(promise)), static_cast<ssize_t>(sizeof(promise)));
  ASSERT_EQ(write(ends_[0], "short", 5), 5);
  shutdown(ends_[0], SHUT_WR);
  EXPECT_EQ(ReceiveMessage(ends_[1], header_, body_), ReadOutcome::kBroken);
  EXPECT_EQ(ReceiveMessage(ends_[1], header_, body_), ReadOutcome::kEnd);
}

TEST_F(SocketTest, ALengthBeyondTheLimitIsABreak) {
  MessageHeader promise;
  promise.length = kMaxMessageBytes + 1;
  ASSERT_EQ(write(ends_[0], &promise, sizeof(promise)), static_cast<ssize_t>(sizeof(promise)));
  EXPECT_EQ(ReceiveMessage(ends_[1], header_, body_), ReadOutcome::kBroken);
}

TEST_F(SocketTest, SendingToNobodyFailsWithoutASignal) {
  shutdown(ends_[1], SHUT_RDWR);
  EXPECT_FALSE(SendMessage(ends_[0], MessageKind::kFree, 1, "x"));
}

}  // namespace
}  // namespace heddle::device
