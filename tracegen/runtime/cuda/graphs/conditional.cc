#include "tracegen/runtime/cuda/graphs/conditional.h"

#include <map>
#include <utility>

#include "tracegen/runtime/cuda/graphs/graph.h"
#include "tracegen/runtime/cuda/graphs/parameters.h"
#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

std::map<uint64_t, std::weak_ptr<Condition>>& Conditions() {
  static auto& conditions = *new std::map<uint64_t, std::weak_ptr<Condition>>;
  return conditions;
}

// In the window that host and device share.
unsigned int* NumberAt(uint64_t address) { return reinterpret_cast<unsigned int*>(address); }

}  // namespace

cudaError_t Condition::Make(const char* call, unsigned int initial, bool at_launch, std::shared_ptr<Condition>* made) {
  uint64_t address = 0;
  if (cudaError_t error = Allocate(call, sizeof(unsigned int), MemoryKind::kInternal, &address); error != cudaSuccess) {
    return error;
  }
  *NumberAt(address) = 0;
  made->reset(new Condition(address, initial, at_launch));
  Conditions()[address] = *made;
  return cudaSuccess;
}

std::shared_ptr<Condition> Condition::Find(cudaGraphConditionalHandle handle) {
  const auto found = Conditions().find(handle);
  return found == Conditions().end() ? nullptr : found->second.lock();
}

Condition::~Condition() {
  Conditions().erase(address_);
  // Gone with everything else after cudaDeviceReset.
  if (FindAllocation(address_) != nullptr) Free("cudaGraphDestroy", address_, MemoryKind::kInternal);
}

void Condition::BeginLaunch() const {
  if (at_launch_) *NumberAt(address_) = initial_;
}

unsigned int Condition::value() const { return *NumberAt(address_); }

std::optional<size_t> NextBody(const ConditionalWork& work, uint64_t runs) {
  const unsigned int value = work.condition->value();
  switch (work.type) {
    case cudaGraphCondTypeWhile:
      return value != 0 ? std::optional<size_t>(0) : std::nullopt;
    case cudaGraphCondTypeSwitch:
      return runs == 0 && value < work.bodies.size() ? std::optional<size_t>(value) : std::nullopt;
    case cudaGraphCondTypeIf:
      break;
  }
  const size_t body = value != 0 ? 0 : 1;  // the second one is for "else"
  return runs == 0 && body < work.bodies.size() ? std::optional<size_t>(body) : std::nullopt;
}

cudaError_t MakeWork(const char* call, cudaConditionalNodeParams& parameters, Work* work) {
  ConditionalWork made;
  made.condition = Condition::Find(parameters.handle);
  made.type = parameters.type;
  constexpr unsigned int kMostGraphs = 1024;  // no program has as many cases
  const bool is_if = made.type == cudaGraphCondTypeIf, is_while = made.type == cudaGraphCondTypeWhile;
  const unsigned int most = is_while ? 1 : is_if ? 2 : made.type == cudaGraphCondTypeSwitch ? kMostGraphs : 0;
  if (made.condition == nullptr || parameters.size == 0 || parameters.size > most) {
    Explain(call,
            "a conditional node needs a handle of cudaGraphConditionalHandleCreate, and one graph (\"while\"), up "
            "to two (\"if\"), or up to 1024 (\"switch\")");
    return Fail(cudaErrorInvalidValue);
  }
  for (unsigned int i = 0; i < parameters.size; ++i) {
    auto body = std::make_shared<Graph>();
    body->MakeChild();
    made.handles.push_back(body.get());
    made.bodies.push_back(std::move(body));
  }
  *work = std::move(made);
  return cudaSuccess;
}

}  // namespace heddle::cuda

using heddle::cuda::Condition;
using heddle::cuda::Fail;

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned int initial, unsigned int flags) {
  const heddle::cuda::Guard guard;
  if (handle == nullptr || !heddle::cuda::IsGraph(graph) || (flags & ~cudaGraphCondAssignDefault) != 0) {
    return Fail(cudaErrorInvalidValue);
  }
  constexpr char kCall[] = "cudaGraphConditionalHandleCreate";
  if (cudaError_t error = heddle::cuda::ContextError(kCall); error != cudaSuccess) return Fail(error);
  std::shared_ptr<Condition> condition;
  const cudaError_t error = Condition::Make(kCall, initial, (flags & cudaGraphCondAssignDefault) != 0, &condition);
  if (error != cudaSuccess) return Fail(error);
  *handle = condition->handle();
  graph->Keep(std::move(condition));
  return cudaSuccess;
}

}  // extern "C"
