// What the policies of one mechanism share, when it has parts behind several seams: a scheduler with its fetch policy,
// a dispatcher with what it watches on each SM.
//
// The state is a type of the mechanism's own, named in a header that its files include, or in its one file:
//
//   struct Turns {
//     explicit Turns(const StateShape& shape) : by_slot(shape.max_threads) {}
//     std::vector<uint32_t> by_slot;
//   };
//   ... Turns& turns = context.shared.Of<Turns>();  // in the scheduler's constructor, and in the fetch policy's
//
// It is made when it is first asked for, by a constructor that takes a StateShape, or nothing. Which policy asks first
// must not matter. It lives for the launch; with `static constexpr bool kOutlivesLaunch = true` in the type it lives as
// long as the replay of a trace under one configuration. Then a policy of the configuration has to declare the trait
// state_outlives_launch, so that launches are run one after the other.
#ifndef HEDDLE_REPLAY_SEAMS_SHARED_STATE_H_
#define HEDDLE_REPLAY_SEAMS_SHARED_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>

namespace heddle::replay {

// What a shared object may know when it is made: all of it is of the machine, nothing of a launch.
struct StateShape {
  int warp_size = 0;
  int max_threads = 0;  // hardware threads of an SM
  int ports = 0;        // schedulers of an SM
  uint32_t sms = 0;     // of the machine
  // Of the object; kWholeMachine: it is the dispatcher's, of all SMs.
  static constexpr uint32_t kWholeMachine = ~uint32_t{0};
  uint32_t sm = kWholeMachine;
};

// Whether objects of the type live as long as the replay of a trace under a configuration.
template <typename T>
constexpr bool OutlivesLaunch() {
  if constexpr (requires { T::kOutlivesLaunch; }) {
    return T::kOutlivesLaunch;
  } else {
    return false;
  }
}

// All shared objects of a trace under a configuration. Policies see it through SmShared and MachineShared. Used by one
// thread at a time; objects are destroyed after the policies that have asked for them.
class SharedState {
 public:
  // `in_order`: launches are run one after the other, so that objects may outlive them. `machine.sm` does not count.
  SharedState(const StateShape& machine, bool in_order) : machine_(machine), in_order_(in_order) {}
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  // --- by the engine
  // Before the policies of a launch are made, and when those of the one before are gone: what lives for a launch ends.
  void BeginLaunch();
  // The policies of the SM are gone, within the launch: what they shared ends.
  void ForgetSm(uint32_t sm);
  // The dispatcher of the launch is made. Returns whether it has asked for an object of an SM. If it has not, it may
  // not any more: SMs may run ahead of one another from now on.
  bool EndOfDispatchersFactory();

  // --- through the handles below
  // The object of type T of the SM, or of the machine. Throws PolicyError where the type may not outlive the launch,
  // and where the SM does not exist.
  template <typename T>
  T& Of(uint32_t sm) {
    const Key key(typeid(T), sizeof(T), sm);
    void* const found = Find(key, OutlivesLaunch<T>());
    if (found != nullptr) return *static_cast<T*>(found);
    StateShape shape = machine_;
    shape.sm = sm;
    std::shared_ptr<T> made;
    if constexpr (std::is_constructible_v<T, const StateShape&>) {
      made = std::make_shared<T>(shape);
    } else {
      static_assert(std::is_default_constructible_v<T>, "shared state is made of a StateShape, or of nothing");
      made = std::make_shared<T>();
    }
    T& object = *made;
    Add(key, std::move(made), OutlivesLaunch<T>());
    return object;
  }
  // Notes that the dispatcher asks for an object of an SM. Throws PolicyError if it is too late for the first time.
  void DispatcherAsks();
  // How many launches of the trace were replayed before the present one; 0 if they need not be in order.
  uint64_t launch() const { return in_order_ ? begun_ - 1 : 0; }

 private:
  // Two types of one name from two libraries are told apart by their size at least.
  using Key = std::tuple<std::type_index, size_t, uint32_t>;
  using Objects = std::map<Key, std::shared_ptr<void>>;

  // The object, or null. Throws PolicyError as Of does.
  void* Find(const Key& key, bool outlives_launch) const;
  void Add(const Key& key, std::shared_ptr<void> object, bool outlives_launch);

  const StateShape machine_;
  const bool in_order_;
  uint64_t begun_ = 0;  // launches
  bool dispatcher_asks_ = false;
  bool dispatcher_may_ask_ = true;  // for the first time
  Objects of_launch_;
  Objects of_trace_;
};

// What policies of an SM share: divergence policy, schedulers of all ports, fetch policy. A handle, to be copied.
// Asking looks an object up: policies do so when they are made, and keep the reference.
class SmShared {
 public:
  // Of no run: Of throws PolicyError.
  SmShared() = default;
  SmShared(SharedState& state, uint32_t sm) : state_(&state), sm_(sm) {}

  // The SM's object of that type, which the dispatcher sees as OfSm<T>(sm). Valid as long as the policy that asks.
  template <typename T>
  T& Of() const {
    return State().template Of<T>(sm_);
  }
  // The number of the SM.
  uint32_t sm() const { return sm_; }
  // How many launches of the trace were replayed under the configuration before this one; 0 where the policies of the
  // configuration do not have the trait state_outlives_launch.
  uint64_t launch() const { return State().launch(); }

 private:
  SharedState& State() const;

  SharedState* state_ = nullptr;
  uint32_t sm_ = 0;
};

// What the dispatcher shares with the policies of each SM, and with itself from launch to launch. A handle, to be
// copied.
class MachineShared {
 public:
  // Of no run: Of and OfSm throw PolicyError.
  MachineShared() = default;
  explicit MachineShared(SharedState& state) : state_(&state) {}

  // The dispatcher's own object of that type: nobody else sees it.
  template <typename T>
  T& Of() const {
    return State().template Of<T>(StateShape::kWholeMachine);
  }
  // The object of an SM, whether or not the SM has had a block. A dispatcher that reads SMs asks for one of them when
  // it is made, at least: then no SM is ahead of the others in time. Asking for the first time later throws
  // PolicyError.
  template <typename T>
  T& OfSm(uint32_t sm) const {
    State().DispatcherAsks();
    return State().template Of<T>(sm);
  }
  // As SmShared::launch.
  uint64_t launch() const { return State().launch(); }

 private:
  SharedState& State() const;

  SharedState* state_ = nullptr;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_SHARED_STATE_H_
