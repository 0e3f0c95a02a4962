#include "traces/format/columns/address_sampler.h"

#include <algorithm>

namespace heddle::trace {

void AddressSampler::SampleThread(size_t thread, size_t most_samples, EncoderColumns& columns) {
  constexpr uint64_t kMostAccesses = 8192;
  constexpr uint32_t kMostPerThread = 64;
  const PendingChunk& chunk = *columns.chunk;
  const PendingPath& path = chunk.paths()[chunk.path_of_thread()[thread]];
  const auto used_columns = chunk.ColumnsOf(path);
  for (const PathColumn& used : used_columns) columns.all[used.column].sampled = true;
  for (ChainTrack& chain : chains_) chain.state = 0;
  std::vector<uint32_t> taken(columns.all.size(), 0);
  const uint64_t* const address = chunk.addresses().Of(thread, room_);
  const uint16_t* sequence = chunk.sequence().data() + path.first_access;
  for (uint64_t i = 0; i < std::min(path.accesses, kMostAccesses); ++i) {
    const uint32_t c = sequence[i];
    EncoderColumn& column = columns.all[c];
    ReferenceSample& sample = column.sample;
    const bool wanted = taken[c] < kMostPerThread;
    if (wanted && !sample.references.empty() && sample.values.size() < most_samples) {
      sample.values.push_back(address[i]);
      for (uint32_t reference : sample.references) sample.latest.push_back(latest_[reference]);
    }
    for (ChainCandidate& candidate : column.candidates) {
      ChainTrack& chain = chains_[candidate.chain];
      if (wanted && candidate.sample.size() < most_samples) {
        candidate.sample.push_back({address[i], chain.latest, chain.state, chain.known});
      }
      chain.latest = address[i];
      chain.state = candidate.member + 1;
      chain.known = true;
    }
    taken[c] += wanted;
    latest_[c] = address[i];
  }
  for (const PathColumn& used : used_columns) latest_[used.column] = 0;
  if (path.accesses > kMostAccesses) {
    for (ChainTrack& chain : chains_) chain.known = false;
  }
}

void AddressSampler::Sample(EncoderColumns& columns) {
  // Runs of threads one after the other, because a chain may go on from thread to thread.
  constexpr uint64_t kRuns = 8;
  constexpr uint64_t kThreads = 64;
  constexpr uint64_t kAccesses = 16384;
  constexpr size_t kSamples = 64;  // of a column in one run
  constexpr uint64_t kMostExtra = 48;
  const PendingChunk& chunk = *columns.chunk;
  const uint64_t threads = chunk.path_of_thread().size();
  latest_.assign(columns.all.size(), 0);
  size_t chains = 0;
  for (uint32_t c : columns.used) {
    for (const ChainCandidate& candidate : columns.all[c].candidates)
      chains = std::max<size_t>(chains, candidate.chain + 1);
  }
  chains_.assign(chains, ChainTrack());
  uint64_t extra = 0;
  uint64_t run = 0;
  uint64_t run_threads = 0;
  uint64_t run_accesses = 0;
  bool followed = false;  // the thread in front was taken
  for (uint64_t t = 0; t < threads; ++t) {
    const PendingPath& path = chunk.paths()[chunk.path_of_thread()[t]];
    if (run < kRuns && t >= run * threads / kRuns) {
      ++run;
      run_threads = 0;
      run_accesses = 0;
    }
    bool take = run_threads < kThreads && run_accesses < kAccesses;
    if (take) {
      ++run_threads;
      run_accesses += path.accesses;
    } else if (extra < kMostExtra) {
      // A column that the runs miss.
      for (const PathColumn& used : chunk.ColumnsOf(path)) {
        const EncoderColumn& column = columns.all[used.column];
        if (!column.sampled && (!column.sample.references.empty() || !column.candidates.empty())) take = true;
      }
      extra += take;
    }
    if (take) {
      if (!followed) {
        for (ChainTrack& chain : chains_) chain.known = false;
      }
      SampleThread(t, kSamples * run, columns);
    }
    followed = take;
  }
}

}  // namespace heddle::trace
