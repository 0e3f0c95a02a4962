#include "tracegen/runtime/cuda/graphs/executable.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/graphs/conditional.h"
#include "tracegen/runtime/cuda/graphs/memory.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/cuda/timeline.h"

namespace heddle::cuda {
namespace {

constexpr char kCall[] = "cudaGraphLaunch";

void SortUnique(std::vector<uint64_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

void Append(std::vector<uint64_t>& list, const std::vector<uint64_t>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

// Adds the steps of `graph`, the first of which depend on `before`. False: a circle.
bool AddSteps(const Graph& graph, const std::vector<size_t>& before, std::vector<Step>& steps, const Node** wrong) {
  std::map<const Node*, size_t> at;
  const std::vector<Node*> order = graph.Order();
  const std::vector<Node*> all = graph.Nodes();
  for (Node* node : order) {
    Step step;
    step.node = node;
    for (const Node* from : node->before) step.before.push_back(at[from]);
    if (node->before.empty()) step.before = before;
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      const size_t first = steps.size();
      if (!AddSteps(*child->graph, step.before, steps, wrong)) return false;
      // Behind all that nothing else waits for, and behind what came before an empty graph.
      for (size_t i = first; i < steps.size(); ++i) {
        if (steps[i].is_last) step.before.push_back(i);
      }
      step.work = EmptyWork{};
    } else {
      step.work = node->work;
    }
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const std::shared_ptr<Graph>& body : conditional->bodies) {
        std::vector<Step> inside = MakeSteps(*body, wrong);
        if (*wrong != nullptr) return false;
        step.bodies.push_back(std::make_shared<Executable>(std::move(inside), *body, 0));
      }
    }
    for (size_t from : step.before) steps[from].is_last = false;
    at[node] = steps.size();
    steps.push_back(std::move(step));
  }
  if (order.size() == all.size()) return true;
  for (const Node* node : all) {
    if (at.count(node) == 0) *wrong = node;
  }
  return false;
}

}  // namespace

std::vector<Step> MakeSteps(const Graph& graph, const Node** wrong) {
  std::vector<Step> steps;
  *wrong = nullptr;
  if (!AddSteps(graph, {}, steps, wrong)) steps.clear();
  return steps;
}

}  // namespace heddle::cuda

using heddle::cuda::AllocateWork;
using heddle::cuda::Append;
using heddle::cuda::CodeRegistry;
using heddle::cuda::ConditionalWork;
using heddle::cuda::CopyWork;
using heddle::cuda::EmptyWork;
using heddle::cuda::Explain;
using heddle::cuda::Fail;
using heddle::cuda::FillWork;
using heddle::cuda::FreeWork;
using heddle::cuda::Guard;
using heddle::cuda::HostWork;
using heddle::cuda::kCall;
using heddle::cuda::KernelWork;
using heddle::cuda::RecordWork;
using heddle::cuda::SortUnique;
using heddle::cuda::Step;
using heddle::cuda::Timeline;
using heddle::cuda::WaitWork;

CUgraphExec_st::CUgraphExec_st(std::vector<Step> steps, const CUgraph_st& graph, unsigned long long flags)
    : steps_(std::move(steps)), graph_number_(graph.number()), flags_(flags) {
  for (size_t i = 0; i < steps_.size(); ++i) by_node_[steps_[i].node] = i;
  AssignLanes();
}

std::unique_ptr<CUgraph_st> CUgraphExec_st::AsGraph() const {
  auto graph = std::make_unique<CUgraph_st>();
  std::vector<CUgraphNode_st*> nodes;
  for (const Step& step : steps_) {
    std::vector<CUgraphNode_st*> before;
    for (size_t from : step.before) before.push_back(nodes[from]);
    nodes.push_back(graph->Add(step.enabled ? step.work : EmptyWork{}, before));
  }
  return graph->HasMemoryNodes() || graph->HasConditionalNodes() ? nullptr : std::move(graph);
}

void CUgraphExec_st::AssignLanes() {
  std::vector<size_t> tail;  // the last step of each lane
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    const auto found = std::find_if(step.before.begin(), step.before.end(),
                                    [&](size_t from) { return tail[steps_[from].lane] == from; });
    if (found != step.before.end()) {
      step.lane = steps_[*found].lane;
      tail[step.lane] = i;
    } else {
      step.lane = tail.size();
      tail.push_back(i);
    }
  }
  lanes_.resize(std::max<size_t>(tail.size(), 1));
  for (size_t lane = 1; lane < lanes_.size(); ++lane) lanes_[lane] = Timeline::Get().NewStreamNumber();
}

Step* CUgraphExec_st::Find(const CUgraphNode_st* node) {
  const auto found = by_node_.find(node);
  if (found != by_node_.end()) return &steps_[found->second];
  for (const Step& step : steps_) {
    for (const std::shared_ptr<CUgraphExec_st>& body : step.bodies) {
      if (Step* inside = body->Find(node); inside != nullptr) return inside;
    }
  }
  return nullptr;
}

// What one launch has done so far.
struct CUgraphExec_st::Progress {
  uint64_t stream = 0;  // number
  uint32_t number = 0;
  uint64_t start_ns = 0;
  std::vector<uint64_t> first;                 // launches that the whole must wait for
  std::vector<uint64_t> end_ns;                // by step
  std::vector<std::vector<uint64_t>> waiting;  // by step: who waits for it, waits for these launches
  // Afterwards: when the whole has ended, and for which launches who comes next must wait.
  uint64_t last_end_ns = 0;
  std::vector<uint64_t> last;
};

void CUgraphExec_st::Start(const Step& step, const Progress& progress, uint64_t* start_ns,
                           std::vector<uint64_t>* dependencies) const {
  *start_ns = progress.start_ns;
  for (size_t from : step.before) {
    *start_ns = std::max(*start_ns, progress.end_ns[from]);
    Append(*dependencies, progress.waiting[from]);
  }
  if (step.before.empty()) *dependencies = progress.first;
  SortUnique(*dependencies);
}

cudaError_t CUgraphExec_st::Do(Step& step, Progress& progress, size_t index) {
  uint64_t start_ns = 0;
  std::vector<uint64_t> dependencies;
  Start(step, progress, &start_ns, &dependencies);
  const uint64_t stream = step.lane == 0 ? progress.stream : lanes_[step.lane];
  uint64_t duration_ns = 0;
  std::optional<uint64_t> launch;
  cudaError_t error = cudaSuccess;
  if (!step.enabled) {
    // As if it were empty.
  } else if (const auto* kernel = std::get_if<KernelWork>(&step.work)) {
    if (CodeRegistry::Get().FindHandle(kernel->kernel) == nullptr) {
      Explain(kCall, "the code of a kernel node has been unloaded; destroy the graph first");
      return Fail(cudaErrorInvalidResourceHandle);
    }
    heddle::device::LaunchReply reply;
    error = heddle::cuda::Perform(kCall, *kernel, {stream, dependencies, progress.number}, &reply);
    duration_ns = reply.duration_ns;
    launch = reply.launch;
  } else if (const auto* copy = std::get_if<CopyWork>(&step.work)) {
    CodeRegistry::Get().PushManaged();
    error = heddle::cuda::Perform(kCall, *copy, stream, &duration_ns);
    CodeRegistry::Get().PullManaged();
  } else if (const auto* fill = std::get_if<FillWork>(&step.work)) {
    error = heddle::cuda::Perform(kCall, *fill, stream, &duration_ns);
  } else if (const auto* allocation = std::get_if<AllocateWork>(&step.work)) {
    error = heddle::cuda::Perform(kCall, *allocation);
  } else if (const auto* freed = std::get_if<FreeWork>(&step.work)) {
    error = heddle::cuda::Perform(kCall, *freed);
  } else if (const auto* record = std::get_if<RecordWork>(&step.work)) {
    if (!Timeline::Get().IsEvent(record->event)) return Fail(cudaErrorInvalidResourceHandle);
    Timeline::RecordAt(record->event, start_ns, dependencies, stream);
  } else if (const auto* wait = std::get_if<WaitWork>(&step.work)) {
    if (!Timeline::Get().IsEvent(wait->event)) return Fail(cudaErrorInvalidResourceHandle);
    start_ns = std::max(start_ns, wait->event->time_ns);
    Append(dependencies, wait->event->last_launches);
    SortUnique(dependencies);
  }
  if (error != cudaSuccess) return error;
  progress.end_ns[index] = start_ns + duration_ns;
  progress.waiting[index] = launch.has_value() ? std::vector<uint64_t>{*launch} : std::move(dependencies);
  return cudaSuccess;
}

cudaError_t CUgraphExec_st::FreeMemory() {
  for (const Step& step : steps_) {
    const auto* allocation = std::get_if<AllocateWork>(&step.work);
    if (allocation == nullptr || !heddle::cuda::IsAllocated(*allocation->place)) continue;
    const cudaError_t error = heddle::cuda::Perform(kCall, FreeWork{allocation->place->address});
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// Graphs run as often as their kernels say. What waits for the step waits for the last of them.
cudaError_t CUgraphExec_st::Decide(const Step& step, Progress& progress, size_t index) {
  const auto& work = std::get<ConditionalWork>(step.work);
  Progress inner;
  inner.number = progress.number;
  inner.stream = step.lane == 0 ? progress.stream : lanes_[step.lane];
  Start(step, progress, &inner.start_ns, &inner.first);
  for (uint64_t runs = 0;; ++runs) {
    std::optional<size_t> next;
    {
      const Guard guard;
      next = heddle::cuda::NextBody(work, runs);
    }
    if (!next) break;
    CUgraphExec_st& body = *step.bodies[*next];
    if (work.type == cudaGraphCondTypeWhile && body.steps_.empty()) {
      Explain(kCall,
              "a conditional node repeats a graph without nodes for ever; fill its graph before it is instantiated");
      return Fail(cudaErrorInvalidValue);
    }
    if (cudaError_t error = body.Run(inner); error != cudaSuccess) return error;
    inner.start_ns = inner.last_end_ns;
    inner.first = inner.last;
  }
  progress.end_ns[index] = inner.start_ns;
  progress.waiting[index] = inner.first;
  return cudaSuccess;
}

cudaError_t CUgraphExec_st::Run(Progress& progress) {
  progress.end_ns.assign(steps_.size(), 0);
  progress.waiting.assign(steps_.size(), {});
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    cudaError_t error = cudaSuccess;
    if (std::holds_alternative<ConditionalWork>(step.work)) {
      error = Decide(step, progress, i);
    } else {
      if (const auto* host = std::get_if<HostWork>(&step.work); host != nullptr && step.enabled) {
        host->function(host->data);
      }
      const Guard guard;
      error = Do(step, progress, i);
    }
    if (error != cudaSuccess) return error;
  }
  progress.last_end_ns = progress.start_ns;
  progress.last.clear();
  for (size_t i = 0; i < steps_.size(); ++i) {
    progress.last_end_ns = std::max(progress.last_end_ns, progress.end_ns[i]);
    if (steps_[i].is_last) Append(progress.last, progress.waiting[i]);
  }
  if (steps_.empty()) progress.last = progress.first;
  SortUnique(progress.last);
  return cudaSuccess;
}

void CUgraphExec_st::BeginLaunch() const {
  for (const Step& step : steps_) {
    const auto* conditional = std::get_if<ConditionalWork>(&step.work);
    if (conditional == nullptr) continue;
    conditional->condition->BeginLaunch();
    for (const std::shared_ptr<CUgraphExec_st>& body : step.bodies) body->BeginLaunch();
  }
}

cudaError_t CUgraphExec_st::Launch(CUstream_st* stream) {
  static uint32_t launches = 0;
  Progress progress;
  progress.stream = stream->id;
  {
    const Guard guard;
    if ((flags_ & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0) {
      if (cudaError_t error = FreeMemory(); error != cudaSuccess) return error;
    }
    BeginLaunch();
    progress.number = ++launches;
    progress.start_ns = Timeline::Get().Begin(stream);
    progress.first = Timeline::Get().Dependencies(stream);
    Append(progress.first, stream->last_launches);
    Append(progress.first, last_launches_);
    SortUnique(progress.first);
  }
  if (cudaError_t error = Run(progress); error != cudaSuccess) return error;
  const Guard guard;
  last_launches_ = progress.last;
  // The program may have destroyed the stream meanwhile.
  if (Timeline::Get().Find(stream) != nullptr || Timeline::Get().IsDefault(stream)) {
    Timeline::Get().Finish(stream, progress.last_end_ns, std::move(progress.last));
  }
  return cudaSuccess;
}

cudaError_t CUgraphExec_st::TakeOver(std::vector<Step> steps, size_t first, size_t count,
                                     cudaGraphExecUpdateResultInfo* info) {
  const auto fail = [&](cudaGraphExecUpdateResult result, CUgraphNode_st* node, CUgraphNode_st* from) {
    *info = {result, node, from};
    return Fail(cudaErrorGraphExecUpdateFailure);
  };
  if (steps.size() != count) return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr);
  for (size_t i = 0; i < count; ++i) {
    const Step& old = steps_[first + i];
    Step& step = steps[i];
    if (old.work.index() != step.work.index()) {
      return fail(cudaGraphExecUpdateErrorNodeTypeChanged, step.node, old.node);
    }
    // Steps before the first are those that a child graph waits for.
    std::vector<size_t> before;
    for (size_t from : step.before) before.push_back(first + from);
    std::vector<size_t> inside;
    std::copy_if(old.before.begin(), old.before.end(), std::back_inserter(inside),
                 [&](size_t from) { return from >= first; });
    if (before != inside) return fail(cudaGraphExecUpdateErrorTopologyChanged, step.node, old.node);
    const auto* place = std::get_if<AllocateWork>(&step.work);
    if (place != nullptr && place->parameters.bytesize != std::get<AllocateWork>(old.work).parameters.bytesize) {
      return fail(cudaGraphExecUpdateErrorParametersChanged, step.node, old.node);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    steps_[first + i].work = std::move(steps[i].work);
    steps_[first + i].bodies = std::move(steps[i].bodies);
  }
  *info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return cudaSuccess;
}

cudaError_t CUgraphExec_st::Update(const CUgraph_st& graph, cudaGraphExecUpdateResultInfo* info) {
  const CUgraphNode_st* wrong = nullptr;
  std::vector<Step> steps = heddle::cuda::MakeSteps(graph, &wrong);
  if (wrong != nullptr) {
    *info = {cudaGraphExecUpdateError, const_cast<CUgraphNode_st*>(wrong), nullptr};
    return Fail(cudaErrorGraphExecUpdateFailure);
  }
  return TakeOver(std::move(steps), 0, steps_.size(), info);
}

cudaError_t CUgraphExec_st::UpdateChild(const CUgraphNode_st* node, const CUgraph_st& graph) {
  const auto found = by_node_.find(node);
  const CUgraphNode_st* wrong = nullptr;
  std::vector<Step> steps = heddle::cuda::MakeSteps(graph, &wrong);
  // A child node is an empty step behind those of its graph.
  if (found == by_node_.end() || wrong != nullptr || steps.size() > found->second ||
      !std::holds_alternative<EmptyWork>(steps_[found->second].work)) {
    return Fail(cudaErrorInvalidValue);
  }
  const size_t count = steps.size();
  cudaGraphExecUpdateResultInfo info;
  return TakeOver(std::move(steps), found->second - count, count, &info);
}
