// Random PTX kernels, and what they compute: each instruction is made together with a plain C++ function of its
// operands, so that a kernel can be run here, thread by thread, without any part of the product.
#ifndef HEDDLE_TESTS_TRACEGEN_PROGRAM_PTX_SOURCE_RANDOM_PROGRAM_H_
#define HEDDLE_TESTS_TRACEGEN_PROGRAM_PTX_SOURCE_RANDOM_PROGRAM_H_

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace heddle::tracegen {

inline constexpr unsigned kRandomThreads = 64;
inline constexpr unsigned kRandomRegisters = 6;  // of each kind

// The registers of one thread.
struct RandomState {
  std::array<uint32_t, kRandomRegisters> r = {};
  std::array<uint64_t, kRandomRegisters> rd = {};
  std::array<float, kRandomRegisters> f = {};
  std::array<double, kRandomRegisters> fd = {};
  std::array<uint16_t, kRandomRegisters> h = {};  // half precision
  std::array<bool, kRandomRegisters> p = {};
  bool carry = false;
  uint32_t tid = 0;
};

// Words that a thread leaves: r, rd (two each), f, fd (two each), h, p.
inline constexpr unsigned kRandomWords = kRandomRegisters * 8;

class RandomProgram {
 public:
  // As a module of PTX, the same without floating-point numbers, or as a kernel of CUDA whose body is one asm statement
  // (without calls). kWarps: integers, and threads of a warp exchange values wherever some of them are, with masks in
  // registers; threads leave loops one after the other.
  enum class Form { kModule, kIntegers, kStatement, kWarps };
  explicit RandomProgram(uint64_t seed, Form form = Form::kModule);

  // The kernel `k`, whose parameter is the address `out`; launched as one block of kRandomThreads threads.
  const std::string& text() const { return text_; }
  // What the kernel leaves in `out`: kRandomWords of each thread.
  std::vector<uint32_t> Run() const;

 private:
  using Effect = std::function<void(RandomState&)>;
  // A statement, a choice with two bodies, a loop, or a step in which threads exchange values.
  struct Node {
    enum class Kind { kEffect, kIf, kLoop, kExchange, kWarp };
    Kind kind = Kind::kEffect;
    Effect effect;
    unsigned predicate = 0;  // kIf
    bool negated = false;
    unsigned count = 0;   // kLoop: how often
    int shift = -1;       // kLoop: if not -1, thread t goes round once more for each of (t >> shift) % 4
    unsigned source = 0;  // kExchange, kWarp: register that is given, and the one that is taken
    unsigned target = 0;
    unsigned distance = 0;   // from thread t to t + distance
    bool shuffle = false;    // within the warp, without memory
    unsigned operation = 0;  // kWarp
    std::vector<Node> first, second;
  };

  unsigned Pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  unsigned Register() { return Pick(kRandomRegisters); }
  template <typename T>
  T Of(std::initializer_list<T> choices) {
    return *(choices.begin() + Pick(static_cast<unsigned>(choices.size())));
  }

  std::vector<Node> Body(unsigned length, unsigned depth, bool common);
  Node Statement(unsigned depth, bool common);
  Node Choice(unsigned depth, bool common);
  Node Loop(unsigned depth, bool common);
  Node Exchange();
  // Of the threads of a warp that are here.
  Node WarpExchange(unsigned depth);
  // Adds the instruction, perhaps under a guard.
  Node Emit(const std::string& opcode, const std::string& operands, Effect effect);
  Node Integer();
  Node Wide();
  Node Bits();
  Node Carry();
  Node Single();
  Node Double();
  Node Half();
  Node Compare();
  Node Convert();
  Node Call();
  void Line(const std::string& line);
  std::string Label() { return "L" + std::to_string(labels_++); }
  void ModuleHeader();
  void Header();
  void Footer();
  bool is_integer() const { return form_ == Form::kIntegers || form_ == Form::kWarps; }
  static void RunWarpExchange(const Node& node, std::vector<RandomState>& threads, const std::vector<bool>& active);
  static void RunAll(const std::vector<Node>& nodes, std::vector<RandomState>& threads,
                     const std::vector<bool>& active);

  const Form form_;
  std::mt19937_64 random_;
  std::vector<Effect> start_;
  std::vector<Node> body_;
  std::string text_;
  unsigned labels_ = 0;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_PROGRAM_PTX_SOURCE_RANDOM_PROGRAM_H_
