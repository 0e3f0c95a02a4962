// Which input buffers of a crossbar send to which outputs at an edge.
#ifndef HEDDLE_REPLAY_MEMORY_CROSSBAR_ALLOCATOR_H_
#define HEDDLE_REPLAY_MEMORY_CROSSBAR_ALLOCATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/bit_matrix.h"

namespace heddle::replay {

struct CrossbarGrant {
  uint32_t buffer = 0;
  uint32_t output = 0;
};

// Finds a matching between input buffers and outputs: at most one grant per buffer and per output, each of them
// requested.
class CrossbarAllocator {
 public:
  virtual ~CrossbarAllocator() = default;
  // Whether the rows of its requests are the buffers (columns: outputs), or the other way round.
  virtual bool rows_are_buffers() const = 0;
  // Whether buffers ask for outputs that have no room at all, not knowing it. A grant of such an output is lost.
  virtual bool asks_blindly() const = 0;
  // Appends the grants of network edge `edge`. With no request that could be granted nothing changes, so that edges may
  // be left out.
  virtual void Allocate(uint64_t edge, const BitMatrix& requests, std::vector<CrossbarGrant>& grants) = 0;
};

// The random numbers of parallel iterative matching: a stream of its own for every pass of every edge, in which every
// buffer and every output has one number. They depend on the seed only, not on which were drawn before.
class PimNumbers {
 public:
  explicit PimNumbers(uint64_t seed) : seed_(Spread(seed)) {}
  // Pass `pass` of all passes of all edges.
  void Begin(uint64_t pass) { stream_ = Spread(seed_ ^ Spread(pass)); }
  // Uniform in 0 to count - 1.
  uint32_t OfBuffer(uint32_t buffer, uint32_t count) const { return Below(count, stream_ + 2 * uint64_t{buffer}); }
  uint32_t OfOutput(uint32_t output, uint32_t count) const { return Below(count, stream_ + 2 * uint64_t{output} + 1); }

 private:
  // The finalizer of SplitMix64 (Steele, Lea and Flood, 2014): spreads every bit over all bits.
  static uint64_t Spread(uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }
  static uint32_t Below(uint32_t count, uint64_t draw) {
    return static_cast<uint32_t>((Spread(draw) >> 32) * count >> 32);
  }

  uint64_t seed_;
  uint64_t stream_ = 0;
};

// Parallel iterative matching: every buffer picks one of the outputs that it requests, then every output picks one of
// its bidders, both uniformly at random; repeated `iterations` times on what is left (Fung's thesis, section 5.1.2).
// The numbers depend on the seed, the edge and who draws, not on earlier draws.
std::unique_ptr<CrossbarAllocator> MakePimAllocator(uint32_t buffers, uint32_t outputs, uint32_t iterations,
                                                    uint64_t seed);

// iSLIP (McKeown, 1999): every output grants the first requesting buffer at or after its pointer, every buffer accepts
// the first granting output at or after its own; both pointers move one beyond the accepted one, in the first iteration
// only.
std::unique_ptr<CrossbarAllocator> MakeIslipAllocator(uint32_t buffers, uint32_t outputs, uint32_t iterations);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_CROSSBAR_ALLOCATOR_H_
