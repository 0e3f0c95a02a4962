// Whose turn it is where several SMs share a port of the network.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_PORT_TURNS_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_PORT_TURNS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::replay {

// First come, first served, buffer by buffer: an SM that was refused waits in the buffer's line, and while somebody
// does, only the first may send, once a flit has left the port since the one before it sent. A fixed order among the
// SMs would let those that always have something to send keep the others out for ever. (Papers that let SMs share a
// port do not say who goes first.)
class PortTurns {
 public:
  PortTurns(uint32_t ports, uint32_t buffers, uint32_t sms_per_port) : buffers_(buffers), lines_(ports * buffers) {
    for (Line& line : lines_) line.sms.reserve(sms_per_port);
  }

  // Whether the SM may send to the buffer of the port, if there is room.
  bool MaySend(uint32_t port, uint32_t buffer, uint32_t sm) const {
    const Line& line = LineOf(port, buffer);
    return line.sms.empty() || (line.open && line.sms.front() == sm);
  }
  // The SM was refused, for its turn or for room; it goes on waiting where it is if it waits already.
  void Wait(uint32_t port, uint32_t buffer, uint32_t sm) {
    Line& line = LineOf(port, buffer);
    if (std::find(line.sms.begin(), line.sms.end(), sm) == line.sms.end()) line.sms.push_back(sm);
  }
  // An SM that may has sent.
  void Sent(uint32_t port, uint32_t buffer) {
    Line& line = LineOf(port, buffer);
    if (line.sms.empty()) return;
    line.sms.erase(line.sms.begin());
    line.open = false;
  }
  // A flit has left the port.
  void RoomMade(uint32_t port) {
    for (uint32_t buffer = 0; buffer < buffers_; ++buffer) {
      Line& line = LineOf(port, buffer);
      line.open = !line.sms.empty();
    }
  }
  // Nobody waits.
  void Clear() {
    for (Line& line : lines_) {
      line.sms.clear();
      line.open = false;
    }
  }

 private:
  struct Line {
    std::vector<uint32_t> sms;  // who waits, in the order in which they came
    bool open = false;          // the first one's turn has come
  };
  Line& LineOf(uint32_t port, uint32_t buffer) { return lines_[port * buffers_ + buffer]; }
  const Line& LineOf(uint32_t port, uint32_t buffer) const { return lines_[port * buffers_ + buffer]; }

  const uint32_t buffers_;
  std::vector<Line> lines_;  // by port, then buffer
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_PORT_TURNS_H_
