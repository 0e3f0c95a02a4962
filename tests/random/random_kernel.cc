#include "tests/random/random_kernel.h"

#include <algorithm>
#include <utility>

#include "tests/random/random.h"
#include "tests/random/random_statement.h"
#include "traces/format/program/program.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

constexpr uint64_t kSharedBase = uint64_t{1} << 40;
constexpr uint64_t kLocalBase = uint64_t{2} << 40;
constexpr uint64_t kParamBase = uint64_t{3} << 40;
constexpr uint64_t kConstantBase = uint64_t{4} << 40;
constexpr uint64_t kWindowBytes = 1 << 16;
constexpr uint64_t kGlobalBase = 0x10000000;
constexpr uint32_t kMostRecursion = 3;
// Identifiers from here on are for counted barriers, one each: two of them with one identifier would mix their counts.
constexpr uint32_t kFirstCountedBarrier = 3;
constexpr uint32_t kBarrierIds = 16;

// Draws the statements of a kernel.
class SourceGenerator {
 public:
  explicit SourceGenerator(const KernelShape& shape, uint64_t seed)
      : shape_(shape), random_(seed), guards_(MixAll({seed, 83})) {}

  KernelSource Generate() {
    KernelSource source;
    const uint32_t functions = shape_.calls && random_.Chance(60) ? static_cast<uint32_t>(random_.In(1, 3)) : 0;
    functions_ = functions + 1;
    exits_ = shape_.early_exits && random_.Chance(40);
    for (current_function_ = 0; current_function_ < functions_; ++current_function_) {
      Context context;
      context.uniform = current_function_ == 0;
      source.functions.push_back(current_function_ == 0 ? Body(context, 0, 3, 8)
                                                        : Body(context, shape_.nesting - 1, 1, 4));
    }
    return source;
  }

 private:
  struct Context {
    bool uniform = true;   // all threads of the block that have not exited come here equally often
    bool in_loop = false;  // a divergent loop, which a break may leave
  };

  std::vector<Statement> Body(Context context, uint32_t level, uint64_t least, uint64_t most) {
    std::vector<Statement> body;
    const uint64_t count = random_.In(least, most);
    for (uint64_t i = 0; i < count; ++i) {
      body.push_back(Draw(context, level));
      while (shape_.guards && shape_.memory && guards_.Chance(40)) body.push_back(DrawGuarded());
    }
    return body;
  }

  Statement New(Statement::Kind kind) {
    Statement statement;
    statement.kind = kind;
    statement.id = ++ids_;
    return statement;
  }

  Statement Straight() {
    Statement statement = New(Statement::Kind::kStraight);
    statement.count = static_cast<uint32_t>(random_.In(1, 4));
    return statement;
  }

  Decider DrawDecider() {
    Decider decider;
    if (!shape_.divergent || random_.Chance(20)) return decider;
    switch (random_.Below(5)) {
      case 0:
        decider.kind = Decider::Kind::kThreshold;
        decider.parameter = static_cast<uint32_t>(random_.In(0, shape_.threads_per_block));
        break;
      case 1:
        decider.kind = Decider::Kind::kParity;
        break;
      case 2:
        decider.kind = Decider::Kind::kWarpParity;
        decider.parameter = static_cast<uint32_t>(random_.OneOf({2, 4, 8}));
        break;
      default:
        decider.kind = Decider::Kind::kRandom;
        decider.per_cent = static_cast<uint32_t>(random_.OneOf({10, 30, 50, 70, 90}));
        break;
    }
    return decider;
  }

  Statement Draw(Context context, uint32_t level) {
    const bool nests = level < shape_.nesting;
    switch (random_.Below(12)) {
      case 0:
      case 1:
        if (nests) return DrawIf(context, level);
        break;
      case 2:
      case 3:
        if (nests) return DrawLoop(context, level);
        break;
      case 4:
        if (nests) return DrawSwitch(context, level);
        break;
      case 5:
      case 6:
        if (context.uniform && shape_.barriers) return DrawBarrier();
        break;
      case 7:
        if (functions_ > current_function_ + 1) return DrawCall();
        if (current_function_ > 0 && shape_.calls && random_.Chance(50)) {
          Statement recursion = New(Statement::Kind::kRecursion);
          recursion.decider = DrawDecider();
          return recursion;
        }
        break;
      case 8:
        if (nests && exits_ && current_function_ == 0) return DrawLeaving(context, level, Statement::Kind::kExit);
        break;
      case 9:
        if (nests && context.in_loop) return DrawLeaving(context, level, Statement::Kind::kBreak);
        break;
      default:
        break;
    }
    return Straight();
  }

  Statement DrawGuarded() {
    Statement statement;
    statement.kind = Statement::Kind::kGuarded;
    statement.id = kFirstGuarded + guarded_++;
    statement.exits = exits_ && current_function_ == 0 && guards_.Chance(20);
    statement.count = static_cast<uint32_t>(guards_.In(statement.exits ? 0 : 1, 3));
    statement.decider.kind =
        shape_.divergent ? guards_.OneOf({Decider::Kind::kRandom, Decider::Kind::kParity}) : Decider::Kind::kUniform;
    return statement;
  }

  Statement DrawIf(Context context, uint32_t level) {
    Statement statement = New(Statement::Kind::kIf);
    statement.decider = DrawDecider();
    Context inner = context;
    inner.uniform = context.uniform && statement.decider.kind == Decider::Kind::kUniform;
    statement.bodies.push_back(Body(inner, level + 1, 1, 3));
    if (random_.Chance(50)) statement.bodies.push_back(Body(inner, level + 1, 1, 3));
    return statement;
  }

  // if (decider) { ...; exit or break; }
  Statement DrawLeaving(Context context, uint32_t level, Statement::Kind how) {
    Statement statement = New(Statement::Kind::kIf);
    statement.decider = DrawDecider();
    context.uniform = false;
    statement.bodies.push_back(Body(context, level + 1, 0, 1));
    statement.bodies[0].push_back(New(how));
    return statement;
  }

  Statement DrawLoop(Context context, uint32_t level) {
    Statement statement = New(random_.Chance(50) ? Statement::Kind::kDoWhile : Statement::Kind::kWhile);
    statement.count = static_cast<uint32_t>(random_.In(1, 5));
    if (shape_.divergent && !random_.Chance(40)) {
      statement.decider.kind = Decider::Kind::kRandom;
      statement.decider.per_cent = 60;
    }
    Context inner = context;
    const bool uniform = statement.decider.kind == Decider::Kind::kUniform;
    inner.uniform = context.uniform && uniform;
    inner.in_loop = !uniform;
    statement.bodies.push_back(Body(inner, level + 1, 1, 3));
    return statement;
  }

  Statement DrawSwitch(Context context, uint32_t level) {
    Statement statement = New(Statement::Kind::kSwitch);
    statement.decider = DrawDecider();
    Context inner = context;
    inner.uniform = context.uniform && statement.decider.kind == Decider::Kind::kUniform;
    const uint64_t cases = random_.In(2, 5);
    for (uint64_t i = 0; i < cases; ++i) statement.bodies.push_back(Body(inner, level + 1, 1, 2));
    return statement;
  }

  Statement DrawBarrier() {
    Statement barrier = New(Statement::Kind::kBarrier);
    barrier.barrier_id = static_cast<uint32_t>(random_.Below(kFirstCountedBarrier));
    const bool counted = shape_.counted_barriers && !exits_ && counted_barriers_ + kFirstCountedBarrier < kBarrierIds;
    if (!counted || random_.Chance(50)) return barrier;
    barrier.barrier_id = kFirstCountedBarrier + counted_barriers_++;
    if (!shape_.divergent || random_.Chance(40)) {
      barrier.barrier_threads = shape_.threads_per_block;
      return barrier;
    }
    // Only the first threads of the block come to this one.
    Statement statement = New(Statement::Kind::kIf);
    statement.decider.kind = Decider::Kind::kThreshold;
    statement.decider.parameter = static_cast<uint32_t>(random_.In(1, shape_.threads_per_block));
    barrier.barrier_threads = statement.decider.parameter;
    statement.bodies.push_back({Straight(), barrier});
    return statement;
  }

  Statement DrawCall() {
    Statement statement = New(Statement::Kind::kCall);
    const uint32_t first = current_function_ + 1;
    statement.callees = {static_cast<uint32_t>(random_.In(first, functions_ - 1))};
    if (random_.Chance(40)) {
      statement.callees.push_back(static_cast<uint32_t>(random_.In(first, functions_ - 1)));
      statement.decider = DrawDecider();
    }
    return statement;
  }

  const KernelShape& shape_;
  static constexpr uint32_t kFirstGuarded = 1'000'000;  // id

  Random random_;
  Random guards_;  // its own, so that a seed's other statements do not depend on them
  uint32_t ids_ = 0;
  uint32_t guarded_ = 0;
  uint32_t functions_ = 1;
  uint32_t current_function_ = 0;
  uint32_t counted_barriers_ = 0;
  bool exits_ = false;
};

// Runs the statements for one thread.
class ThreadRunner {
 public:
  ThreadRunner(const KernelSource& source, const v1::KernelProgram& program, const KernelShape& shape, uint64_t block,
               uint32_t thread)
      : source_(source), program_(program), shape_(shape), block_(block), thread_(thread) {}

  // False if the thread is longer than the shape allows.
  bool Run(ThreadScript& out) {
    out_ = &out;
    RunFunction(0);
    return out.steps.size() <= shape_.max_steps;
  }

 private:
  enum class Leave { kNo, kLoop, kThread };

  bool TooLong() const { return out_->steps.size() > shape_.max_steps; }

  void Enter(uint32_t block) {
    const v1::BasicBlock& b = program_.block(static_cast<int>(block));
    for (uint32_t pc = b.first_instruction(); pc < b.first_instruction() + b.instruction_count(); ++pc) {
      ScriptStep step{pc, depth_, false, 0, false};
      const v1::Instruction& instruction = program_.instruction(static_cast<int>(pc));
      if (trace::Program::HasAddress(instruction)) {
        step.has_address = true;
        step.address = Address(instruction, pc);
        out_->addresses.push_back(step.address);
      }
      for (const v1::Operand& operand : instruction.operand()) {
        if (operand.kind() != v1::Operand::UNIFORM || operand.constant()) continue;
        step.uniform.push_back(UniformValue(pc, step.uniform.size()));
        out_->addresses.push_back(step.uniform.back());
      }
      out_->steps.push_back(step);
    }
  }

  // Some are the same for all threads of a block, of some neighbours, or for those that have come as far.
  uint64_t UniformValue(uint32_t pc, size_t number) const {
    const uint64_t of = (pc + number) % 4;
    return of == 0   ? 7 * block_
           : of == 1 ? thread_ / 8 % 3
           : of == 2 ? out_->steps.size() / 16 % 3
                     : MixAll({shape_.seed, block_, thread_ / 16}) << 8 | (thread_ + out_->steps.size()) % 2;
  }

  uint64_t Address(const v1::Instruction& instruction, uint32_t pc) {
    const uint64_t hash = MixAll({shape_.seed, pc, block_, thread_, out_->steps.size()});
    const uint64_t offset = pc % 3 == 0 ? hash % kWindowBytes & ~uint64_t{3} : thread_ * 4 + pc * 64 % kWindowBytes / 2;
    switch (instruction.space()) {
      case v1::SPACE_SHARED:
        return kSharedBase + offset;
      case v1::SPACE_LOCAL:
        return kLocalBase + offset;
      case v1::SPACE_PARAM:
        return kParamBase + offset;
      case v1::SPACE_CONSTANT:
        return kConstantBase + offset;
      case v1::SPACE_GENERIC: {
        const uint64_t bases[] = {kGlobalBase, kSharedBase, kLocalBase, kParamBase, kConstantBase};
        // Some generic accesses go to one space, some to several at once.
        return bases[(pc % 2 == 0 ? hash >> 40 : Mix(pc)) % 5] + offset;
      }
      default:
        return kGlobalBase + offset + (pc % 5 == 0 ? (hash >> 20 << 8) % (uint64_t{1} << 34) : 0);
    }
  }

  // One of `choices`, by the statement's decider.
  uint32_t Choose(const Statement& statement, uint32_t choices) {
    const Decider& decider = statement.decider;
    switch (decider.kind) {
      case Decider::Kind::kUniform:
        return MixAll({shape_.seed, statement.id, block_}) % choices;
      case Decider::Kind::kRandom: {
        const uint64_t hash = MixAll({shape_.seed, statement.id, block_, thread_, out_->decisions.size()});
        if (choices > 2) return hash % choices;
        return hash % 100 < decider.per_cent ? 1 : 0;
      }
      case Decider::Kind::kThreshold:
        return thread_ < decider.parameter ? 0 : 1;
      case Decider::Kind::kParity:
        return choices > 2 ? thread_ % choices : thread_ % 2;
      case Decider::Kind::kWarpParity:
        return thread_ / decider.parameter % choices;
    }
    return 0;
  }

  void Decide(uint32_t decision) {
    out_->decisions.push_back(static_cast<uint8_t>(decision));
    out_->addresses_before.push_back(out_->addresses.size());
  }

  Leave RunFunction(uint32_t function) {
    Enter(program_.function(static_cast<int>(function)).first_block());
    const uint32_t caller = function_;
    function_ = function;
    const Leave leave = RunBody(source_.functions[function]);
    function_ = caller;
    return leave;
  }

  Leave RunBody(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (TooLong()) return Leave::kThread;
      const Leave leave = RunStatement(statement);
      if (leave != Leave::kNo) return leave;
    }
    return Leave::kNo;
  }

  Leave RunStatement(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kStraight:
      case Statement::Kind::kBarrier:
        return Leave::kNo;
      case Statement::Kind::kGuarded: {
        const uint32_t decision = Choose(statement, 2);
        Decide(decision);
        if (decision == 0) Enter(statement.body_block[0]);
        if (decision == 0 && statement.exits) return Leave::kThread;
        Enter(statement.next_block);
        return Leave::kNo;
      }
      case Statement::Kind::kBreak:
        return Leave::kLoop;
      case Statement::Kind::kExit:
        return Leave::kThread;
      case Statement::Kind::kIf: {
        const uint32_t decision = Choose(statement, 2);
        Decide(decision);
        if (decision < statement.bodies.size()) {
          Enter(statement.body_block[decision]);
          const Leave leave = RunBody(statement.bodies[decision]);
          if (leave != Leave::kNo) return leave;
        }
        Enter(statement.next_block);
        return Leave::kNo;
      }
      case Statement::Kind::kRecursion: {
        const uint32_t decision = depth_ >= kMostRecursion ? 1 : Choose(statement, 2);
        Decide(decision);
        if (decision == 0) {
          Enter(statement.body_block[0]);
          if (Call(function_) == Leave::kThread) return Leave::kThread;
          Enter(statement.test_block);
        }
        Enter(statement.next_block);
        return Leave::kNo;
      }
      case Statement::Kind::kDoWhile:
      case Statement::Kind::kWhile:
        return RunLoop(statement);
      case Statement::Kind::kSwitch: {
        const uint32_t decision = Choose(statement, static_cast<uint32_t>(statement.bodies.size()));
        Decide(decision);
        Enter(statement.body_block[decision]);
        const Leave leave = RunBody(statement.bodies[decision]);
        if (leave != Leave::kNo) return leave;
        Enter(statement.next_block);
        return Leave::kNo;
      }
      case Statement::Kind::kCall: {
        uint32_t callee = 0;
        if (statement.callees.size() > 1) {
          callee = Choose(statement, static_cast<uint32_t>(statement.callees.size()));
          Decide(callee);
        }
        if (Call(statement.callees[callee]) == Leave::kThread) return Leave::kThread;
        Enter(statement.next_block);
        return Leave::kNo;
      }
    }
    return Leave::kNo;
  }

  Leave Call(uint32_t function) {
    ++depth_;
    const Leave leave = RunFunction(function);
    --depth_;
    return leave;
  }

  Leave RunLoop(const Statement& statement) {
    const bool uniform = statement.decider.kind == Decider::Kind::kUniform;
    const uint32_t trips =
        uniform ? MixAll({shape_.seed, statement.id, block_, 7}) % statement.count + 1
                : MixAll({shape_.seed, statement.id, block_, thread_, out_->steps.size()}) % statement.count + 1;
    for (uint32_t trip = 0;; ++trip) {
      if (TooLong()) return Leave::kThread;
      if (statement.kind == Statement::Kind::kWhile) {
        // Trips count from 1 for a do-while and from 0 for a while.
        Enter(statement.test_block);
        const bool leaves = trip + 1 >= trips;
        Decide(leaves);
        if (leaves) break;
      }
      Enter(statement.body_block[0]);
      const Leave leave = RunBody(statement.bodies[0]);
      if (leave == Leave::kThread) return leave;
      if (leave == Leave::kLoop) break;
      if (statement.kind == Statement::Kind::kDoWhile) {
        Enter(statement.test_block);
        const bool again = trip + 1 < trips;
        Decide(again);
        if (!again) break;
      }
    }
    Enter(statement.next_block);
    return Leave::kNo;
  }

  const KernelSource& source_;
  const v1::KernelProgram& program_;
  const KernelShape& shape_;
  const uint64_t block_;
  const uint32_t thread_;
  uint32_t depth_ = 0;
  uint32_t function_ = 0;
  ThreadScript* out_ = nullptr;
};

}  // namespace

RandomKernel MakeRandomKernel(const KernelShape& shape) {
  for (uint64_t attempt = 0;; ++attempt) {
    const uint64_t seed = MixAll({shape.seed, attempt});
    RandomKernel kernel;
    kernel.shape = shape;
    KernelSource source = SourceGenerator(shape, seed).Generate();
    kernel.program = Translate(source, Mix(seed), shape.memory, shape.uniform_values);
    bool fits = true;
    size_t longest = 0;
    for (uint64_t block = 0; fits && block < shape.blocks; ++block) {
      for (uint32_t thread = 0; fits && thread < shape.threads_per_block; ++thread) {
        ThreadScript& script = kernel.threads.emplace_back();
        fits = ThreadRunner(source, kernel.program, shape, block, thread).Run(script);
        longest = std::max(longest, script.steps.size());
      }
    }
    if (fits && longest >= shape.least_steps) return kernel;
  }
}

std::vector<trace::v1::AddressWindow> RandomKernelWindows() {
  std::vector<trace::v1::AddressWindow> windows;
  for (const auto& [space, base] :
       {std::pair(v1::SPACE_SHARED, kSharedBase), std::pair(v1::SPACE_LOCAL, kLocalBase),
        std::pair(v1::SPACE_PARAM, kParamBase), std::pair(v1::SPACE_CONSTANT, kConstantBase)}) {
    v1::AddressWindow& window = windows.emplace_back();
    window.set_space(space);
    window.set_base(base);
    window.set_bytes(kWindowBytes);
  }
  return windows;
}

}  // namespace heddle::replay
