// The capture of streams: what is put into them becomes nodes of a graph.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_CAPTURE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_CAPTURE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "tracegen/runtime/cuda/graphs/graph.h"

namespace heddle::cuda {

// One capture, from its begin in one stream to its end there. Other streams take part once they wait for an event of
// it. Functions are called with the Guard held.
class Capture : public StreamRecorder, public std::enable_shared_from_this<Capture> {
 public:
  // Into a graph of its own.
  Capture(CUstream_st* origin, cudaStreamCaptureMode mode);
  // Into a graph of the program, behind some of its nodes.
  Capture(CUstream_st* origin, cudaStreamCaptureMode mode, Graph* graph, std::vector<Node*> before);
  ~Capture() override;

  // Lets the streams go. The graph is the program's from now on. Errors: those of cudaStreamEndCapture; then there is
  // no graph, or the program's own is as it is.
  cudaError_t End(CUstream_st* stream, Graph** graph);

  cudaError_t Add(CUstream_st* stream, Work work) override;
  cudaError_t Record(CUstream_st* stream, CUevent_st* event) override;
  cudaError_t Join(CUstream_st* stream, CUevent_st* event) override;
  cudaError_t Allocate(CUstream_st* stream, uint64_t bytes, uint64_t* address) override;
  void Invalidate() override { invalid_ = true; }
  void Forget(CUstream_st* stream) override;

  // What the next work of a captured stream will depend on.
  const std::vector<Node*>& Place(CUstream_st* stream) { return places_[stream]; }
  void SetPlace(CUstream_st* stream, std::vector<Node*> place) { places_[stream] = std::move(place); }
  cudaStreamCaptureStatus status() const;
  uint64_t id() const { return id_; }
  Graph* graph() const { return graph_; }
  // Whether the graph is the capture's own until it ends, and then the program's.
  bool owns_graph() const { return owned_ != nullptr; }
  // Whether a call that is not allowed in captures would disturb this one, made by the calling thread in its mode.
  bool Forbids(cudaStreamCaptureMode mode) const;

 private:
  bool IsJoined() const;

  CUstream_st* origin_;
  cudaStreamCaptureMode mode_;
  std::thread::id thread_ = std::this_thread::get_id();
  uint64_t id_;
  std::unique_ptr<Graph> owned_;
  Graph* graph_;
  std::map<CUstream_st*, std::vector<Node*>> places_;
  std::map<CUevent_st*, std::vector<Node*>> events_;
  std::vector<Node*> left_;  // the last work of streams that were destroyed
  bool invalid_ = false;
};

// The capture that a stream takes part in, or null.
Capture* CaptureOf(const CUstream_st* stream);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_GRAPHS_CAPTURE_H_
