#include "tracegen/runtime/cuda/graphs/capture.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tracegen/runtime/cuda/graphs/memory.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

std::set<Capture*>& Captures() {
  static auto& captures = *new std::set<Capture*>;
  return captures;
}

uint64_t NextId() {
  static uint64_t id = 0;
  return ++id;
}

// Of calls that this thread makes: cudaThreadExchangeStreamCaptureMode.
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// `list` with what `more` has besides.
void Unite(std::vector<Node*>& list, const std::vector<Node*>& more) {
  for (Node* node : more) {
    if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
  }
}

}  // namespace

Capture::Capture(CUstream_st* origin, cudaStreamCaptureMode mode)
    : origin_(origin), mode_(mode), id_(NextId()), owned_(std::make_unique<Graph>()), graph_(owned_.get()) {
  owned_->MakeChild();  // the program cannot destroy it
  places_[origin] = {};
  Captures().insert(this);
}

Capture::Capture(CUstream_st* origin, cudaStreamCaptureMode mode, Graph* graph, std::vector<Node*> before)
    : origin_(origin), mode_(mode), id_(NextId()), graph_(graph) {
  places_[origin] = std::move(before);
  Captures().insert(this);
}

Capture::~Capture() { Captures().erase(this); }

cudaStreamCaptureStatus Capture::status() const {
  return invalid_ ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

bool Capture::Forbids(cudaStreamCaptureMode mode) const {
  if (mode == cudaStreamCaptureModeRelaxed || places_.empty()) return false;
  const bool mine = thread_ == std::this_thread::get_id();
  if (mine) return mode_ != cudaStreamCaptureModeRelaxed;
  return mode == cudaStreamCaptureModeGlobal && mode_ == cudaStreamCaptureModeGlobal;
}

cudaError_t Capture::Add(CUstream_st* stream, Work work) {
  if (!IsGraph(graph_)) invalid_ = true;
  if (invalid_) return cudaErrorStreamCaptureInvalidated;
  std::vector<Node*>& place = places_[stream];
  // A node may have been taken away since.
  place.erase(std::remove_if(place.begin(), place.end(), [](const Node* node) { return !IsNode(node); }), place.end());
  if (auto* kernel = std::get_if<KernelWork>(&work)) CodeRegistry::Get().AddHandle(kernel->kernel);
  Node* node = graph_->Add(std::move(work), place);
  place = {node};
  return cudaSuccess;
}

cudaError_t Capture::Allocate(CUstream_st* stream, uint64_t bytes, uint64_t* address) {
  if (invalid_) return cudaErrorStreamCaptureInvalidated;
  AllocateWork work;
  work.parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  work.parameters.poolProps.location.type = cudaMemLocationTypeDevice;
  if (cudaError_t error = ReserveGraphMemory("cudaMallocAsync", bytes, &work); error != cudaSuccess) return error;
  *address = work.place->address;
  return Add(stream, std::move(work));
}

cudaError_t Capture::Record(CUstream_st* stream, CUevent_st* event) {
  if (invalid_) return cudaErrorStreamCaptureInvalidated;
  events_[event] = places_[stream];
  event->recorder = shared_from_this();
  return cudaSuccess;
}

cudaError_t Capture::Join(CUstream_st* stream, CUevent_st* event) {
  if (stream->recorder != nullptr && event->recorder.get() != this) {
    // `this` is the stream's capture.
    invalid_ = true;
    auto* other = static_cast<Capture*>(event->recorder.get());
    if (other == nullptr || other->places_.empty()) return cudaErrorStreamCaptureIsolation;
    other->Invalidate();
    return cudaErrorStreamCaptureMerge;
  }
  if (places_.empty()) return cudaErrorCapturedEvent;  // the capture has ended
  if (invalid_) return cudaErrorStreamCaptureInvalidated;
  if (stream->recorder == nullptr) {
    if (Timeline::Get().IsDefault(stream)) {
      invalid_ = true;
      return cudaErrorStreamCaptureImplicit;
    }
    stream->recorder = shared_from_this();
  }
  Unite(places_[stream], events_[event]);
  return cudaSuccess;
}

void Capture::Forget(CUstream_st* stream) {
  if (stream == origin_) {
    // Nobody can end the capture any more: the other streams are let go.
    invalid_ = true;
    for (const auto& [other, place] : places_) {
      if (other != stream) other->recorder = nullptr;
    }
    places_.clear();
    return;
  }
  // What it has done must have been joined all the same.
  left_.insert(left_.end(), places_[stream].begin(), places_[stream].end());
  places_.erase(stream);
}

bool Capture::IsJoined() const {
  std::set<const Node*> reached;
  std::vector<const Node*> open(places_.at(origin_).begin(), places_.at(origin_).end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!IsNode(node) || !reached.insert(node).second) continue;
    open.insert(open.end(), node->before.begin(), node->before.end());
  }
  const auto is_reached = [&](const Node* node) { return !IsNode(node) || reached.contains(node); };
  return std::all_of(left_.begin(), left_.end(), is_reached) &&
         std::all_of(places_.begin(), places_.end(), [&](const auto& entry) {
           return std::all_of(entry.second.begin(), entry.second.end(), is_reached);
         });
}

cudaError_t Capture::End(CUstream_st* stream, Graph** graph) {
  const std::shared_ptr<Capture> self = shared_from_this();
  if (stream != origin_) {
    invalid_ = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (mode_ != cudaStreamCaptureModeRelaxed && thread_ != std::this_thread::get_id()) {
    invalid_ = true;
    return cudaErrorStreamCaptureWrongThread;
  }
  cudaError_t error = invalid_ || !IsGraph(graph_) ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  if (error == cudaSuccess && !IsJoined()) error = cudaErrorStreamCaptureUnjoined;
  for (const auto& [other, place] : places_) other->recorder = nullptr;
  places_.clear();
  if (error != cudaSuccess) return error;
  *graph = graph_;
  if (owned_ != nullptr) {
    owned_->GiveToProgram();
    static_cast<void>(owned_.release());
  }
  return cudaSuccess;
}

Capture* CaptureOf(const CUstream_st* stream) { return static_cast<Capture*>(stream->recorder.get()); }

cudaError_t CheckUnsafe(const char* call) {
  bool forbidden = false;
  for (Capture* capture : Captures()) {
    if (!capture->Forbids(thread_mode)) continue;
    capture->Invalidate();
    forbidden = true;
  }
  if (!forbidden) return cudaSuccess;
  Explain(call, "not allowed while a stream is captured; call it before or after, or capture in relaxed mode");
  return Fail(cudaErrorStreamCaptureUnsupported);
}

namespace {

cudaError_t Begin(const char* call, cudaStream_t handle, cudaStreamCaptureMode mode, CUstream_st** stream) {
  *stream = Timeline::Get().Find(handle);
  if (*stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
  if (Timeline::Get().IsDefault(*stream)) {
    Explain(call, "the default stream cannot be captured; make one with cudaStreamCreate");
    return cudaErrorStreamCaptureUnsupported;
  }
  return (*stream)->recorder != nullptr ? cudaErrorIllegalState : cudaSuccess;
}

// What is to be known of a stream's capture. Where the default stream's state would depend on a capture, that is ended.
cudaError_t Look(cudaStream_t handle, Capture** capture) {
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(handle, &error);
  if (stream == nullptr) return error;
  *capture = CaptureOf(stream);
  return cudaSuccess;
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::Capture;
using heddle::cuda::CaptureOf;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::Node;
using heddle::cuda::Timeline;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode) {
  const Guard guard;
  CUstream_st* stream = nullptr;
  const cudaError_t error = heddle::cuda::Begin("cudaStreamBeginCapture", handle, mode, &stream);
  if (error == cudaSuccess) stream->recorder = std::make_shared<Capture>(stream, mode);
  return Fail(error);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, size_t count, enum cudaStreamCaptureMode mode) {
  const Guard guard;
  CUstream_st* stream = nullptr;
  cudaError_t error = heddle::cuda::Begin("cudaStreamBeginCaptureToGraph", handle, mode, &stream);
  if (error != cudaSuccess) return Fail(error);
  std::vector<Node*> before;
  if (!heddle::cuda::IsGraph(graph) || !heddle::cuda::ReadNodes(graph, dependencies, count, &before)) {
    return Fail(cudaErrorInvalidValue);
  }
  stream->recorder = std::make_shared<Capture>(stream, mode, graph, std::move(before));
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  const Guard guard;
  CUstream_st* stream = Timeline::Get().Find(handle);
  Capture* capture = stream == nullptr ? nullptr : CaptureOf(stream);
  // Who captures into a graph of the program has it already.
  cudaGraph_t known = nullptr;
  if (graph == nullptr && (capture == nullptr || capture->owns_graph())) return Fail(cudaErrorInvalidValue);
  if (graph == nullptr) graph = &known;
  *graph = nullptr;
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  return Fail(capture == nullptr ? cudaErrorIllegalState : capture->End(stream, graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status) {
  const Guard guard;
  if (status == nullptr) return Fail(cudaErrorInvalidValue);
  Capture* capture = nullptr;
  if (cudaError_t error = heddle::cuda::Look(stream, &capture); error != cudaSuccess) return Fail(error);
  *status = capture == nullptr ? cudaStreamCaptureStatusNone : capture->status();
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies, size_t* count) {
  const Guard guard;
  if (status == nullptr) return Fail(cudaErrorInvalidValue);
  Capture* capture = nullptr;
  if (cudaError_t error = heddle::cuda::Look(stream, &capture); error != cudaSuccess) return Fail(error);
  *status = capture == nullptr ? cudaStreamCaptureStatusNone : capture->status();
  if (capture == nullptr || *status != cudaStreamCaptureStatusActive) return cudaSuccess;
  if (id != nullptr) *id = capture->id();
  if (graph != nullptr) *graph = capture->graph();
  const std::vector<Node*>& place = capture->Place(stream);
  if (dependencies != nullptr) *dependencies = place.data();
  if (count != nullptr) *count = place.size();
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** data,
                                        size_t* count) {
  if (data != nullptr) *data = nullptr;  // all edges are plain
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies, size_t count,
                                                unsigned int flags) {
  const Guard guard;
  CUstream_st* stream = Timeline::Get().Find(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  Capture* capture = CaptureOf(stream);
  if (capture == nullptr) return Fail(cudaErrorIllegalState);
  if (capture->status() != cudaStreamCaptureStatusActive) return Fail(cudaErrorStreamCaptureInvalidated);
  std::vector<Node*> place;
  if (!heddle::cuda::ReadNodes(capture->graph(), dependencies, count, &place) ||
      flags > cudaStreamSetCaptureDependencies) {
    return Fail(cudaErrorInvalidValue);
  }
  if (flags == cudaStreamAddCaptureDependencies) heddle::cuda::Unite(place, capture->Place(stream));
  capture->SetPlace(stream, std::move(place));
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode) {
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) {
    return Fail(cudaErrorInvalidValue);
  }
  std::swap(*mode, heddle::cuda::thread_mode);
  return cudaSuccess;
}

}  // extern "C"
