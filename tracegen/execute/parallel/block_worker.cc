#include "tracegen/execute/parallel/block_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/parallel/footprint_marker.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr int kPollMilliseconds = 100;  // between two looks whether the capture is interrupted

absl::Status Gone(const char* what) {
  return absl::UnavailableError(absl::StrCat("a process that runs blocks is gone (", what, ")"));
}

bool SendAll(int socket, const void* data, size_t bytes) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(socket, next, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    next += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

bool ReceiveAll(int socket, void* data, size_t bytes) {
  auto* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(socket, next, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

// Notes what blocks do to memory, and keeps their records.
class BlockWorker::Sink final : public BlockSink {
 public:
  Sink(const Setting& setting, Footprint& footprint)
      : marker_(setting.program, setting.threads, setting.uses_local, footprint) {}

  void Begin(RecordArena& arena) {
    arena_ = &arena;
    marker_.StartOver();
  }
  absl::Status AddBlock(uint64_t block, BlockRecords& threads, uint64_t expected) override {
    absl::Status status = marker_.AddBlock(threads.joined());
    return status.ok() ? arena_->PutBlock(block, threads.joined(), expected) : status;
  }
  absl::Status AddBlockPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed) override {
    absl::Status status = marker_.AddBlockPart(threads, last, consumed);
    return status.ok() ? arena_->PutPart(block, threads, last) : status;
  }

 private:
  FootprintMarker marker_;
  RecordArena* arena_ = nullptr;
};

// The last to see a block: ends the range when the next block might find no room.
class BlockWorker::Observer final : public BlockObserver {
 public:
  Observer(BlockObserver* inner, uint64_t largest_block) : inner_(inner), largest_block_(largest_block) {}

  void Begin(const RecordArena& arena, uint64_t first) {
    arena_ = &arena;
    end_ = first;
    full_ = false;
    if (inner_ != nullptr) (void)inner_->TakeFindings();
  }
  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) override {
    if (inner_ != nullptr) {
      HEDDLE_RETURN_IF_ERROR(inner_->AddBlock(block, records, consumed, last));
    }
    if (!last) return absl::OkStatus();
    end_ = block + 1;
    full_ = arena_->bytes_left() < largest_block_;
    return full_ ? absl::ResourceExhaustedError("no room for another block") : absl::OkStatus();
  }
  // Whether the range has ended behind a whole block.
  bool full() const { return full_; }
  uint64_t end() const { return end_; }
  std::string Findings() { return inner_ != nullptr ? inner_->TakeFindings() : ""; }

 private:
  BlockObserver* const inner_;
  const uint64_t largest_block_;
  const RecordArena* arena_ = nullptr;
  uint64_t end_ = 0;
  bool full_ = false;
};

absl::StatusOr<std::unique_ptr<BlockWorker>> BlockWorker::Start(BlockRunner& runner, const trace::Program& program,
                                                                bool uses_local, uint32_t threads, DeviceMemory& memory,
                                                                uint64_t arena_bytes) {
  std::unique_ptr<BlockWorker> worker(new BlockWorker);
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<Footprint> footprint,
                          Footprint::Create(kGlobalBase, memory.accessible_end() - kGlobalBase));
  worker->footprint_ = std::move(footprint);
  for (std::unique_ptr<RecordArena>& arena : worker->arenas_) {
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<RecordArena> made,
                            RecordArena::Create(arena_bytes + runner.LargestBlock()));
    arena = std::move(made);
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("no connection to a process: ", strerror(errno)));
  }
  const pid_t parent = getpid();
  worker->process_ = fork();
  if (worker->process_ < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return absl::ResourceExhaustedError(absl::StrCat("no process for blocks: ", strerror(error)));
  }
  if (worker->process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    worker->socket_ = ends[1];
    worker->Serve({runner, program, uses_local, threads, memory});
  }
  close(ends[1]);
  worker->socket_ = ends[0];
  return worker;
}

BlockWorker::~BlockWorker() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (socket_ >= 0) close(socket_);
}

absl::Status BlockWorker::Send(const Command& command) {
  return SendAll(socket_, &command, sizeof(command)) ? absl::OkStatus() : Gone("it takes no command");
}

absl::Status BlockWorker::Receive(Outcome* outcome) {
  pollfd watched = {socket_, POLLIN, 0};
  for (;;) {
    const int ready = poll(&watched, 1, kPollMilliseconds);
    if (InterruptRequested()) return absl::CancelledError("interrupted");
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return Gone("it cannot be heard");
  }
  return ReceiveAll(socket_, outcome, sizeof(*outcome)) ? absl::OkStatus() : Gone("it has ended");
}

absl::Status BlockWorker::Run(uint64_t first, uint64_t end, uint64_t instructions, int arena) {
  return Send({Command::Kind::kRun, arena, first, end, instructions});
}

absl::StatusOr<BlockWorker::Outcome> BlockWorker::Wait() {
  Outcome outcome;
  HEDDLE_RETURN_IF_ERROR(Receive(&outcome));
  return outcome;
}

absl::Status BlockWorker::Commit() {
  HEDDLE_RETURN_IF_ERROR(Send({Command::Kind::kCommit, 0, 0, 0, 0}));
  Outcome done;
  absl::Status status = Receive(&done);
  if (!absl::IsUnavailable(status)) return status;
  return absl::InternalError("a process has ended while it put into memory what its blocks have written");
}

void BlockWorker::Serve(const Setting& setting) {
  // All ends by _exit: what the other process has is not to be destroyed or flushed here.
  absl::StatusOr<std::unique_ptr<DeviceMemory::Scratch>> scratch = setting.memory.MakeScratch();
  absl::StatusOr<char*> common = setting.memory.MapAgain();
  if (!scratch.ok() || !common.ok()) _exit(1);
  // A kernel that writes to constant memory fails here, and is run again where it may.
  mprotect(reinterpret_cast<void*>(kConstantBase), kConstantBytes, PROT_READ);
  BlockRunner& runner = setting.runner;
  Sink sink(setting, *footprint_);
  Observer observer(runner.observer(), runner.LargestBlock());
  bool printed = false;
  runner.Redirect(&sink, &observer, [&printed](const std::string&) { printed = true; });
  Command command;
  while (ReceiveAll(socket_, &command, sizeof(command))) {
    Outcome outcome;
    if (command.kind == Command::Kind::kCommit) {
      footprint_->CopyWritten(reinterpret_cast<const char*>(kGlobalBase), *common);
    } else {
      RecordArena& arena = *arenas_[static_cast<size_t>(command.arena)];
      (*scratch)->Reset();
      footprint_->Clear();
      arena.Clear();
      sink.Begin(arena);
      observer.Begin(arena, command.first);
      printed = false;
      runner.CountFrom(command.instructions);
      runner.waits().Reset();
      const uint64_t clock = runner.clock();
      const size_t warnings = runner.warnings().size();
      const absl::Status ran = runner.RunBlocks(command.first, command.end);
      trace::v1::LaunchEnd waits;
      runner.waits().Store(waits);
      outcome.valid = (ran.ok() || observer.full()) && !printed && runner.clock() == clock &&
                      runner.warnings().size() == warnings && waits.wait().empty() && waits.waits_not_listed() == 0 &&
                      arena.PutText(observer.Findings()).ok();
      outcome.end = observer.end();
      outcome.thread_instructions = runner.instructions() - command.instructions;
      outcome.division_by_zero = runner.division_by_zero();
    }
    if (!SendAll(socket_, &outcome, sizeof(outcome))) break;
  }
  _exit(0);
}

}  // namespace heddle::tracegen
