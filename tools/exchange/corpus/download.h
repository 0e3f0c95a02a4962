// Files from elsewhere.
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_DOWNLOAD_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_DOWNLOAD_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace heddle::tools::corpus {

// Whether a source is an address that Download takes: http://, https:// or file://.
bool IsAddress(const std::string& source);

// Fetches an address into the file `path`. What an earlier attempt left there is kept, and only the rest is asked for;
// a server that cannot do that sends everything anew. Redirections stay with http and https. Refuses more than
// `most_bytes`. After an error the file holds what came, for the next attempt. `progress` gets bytes so far and in all
// (0 = unknown).
absl::Status Download(const std::string& address, const std::string& path, uint64_t most_bytes,
                      const std::function<void(uint64_t done, uint64_t total)>& progress);

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_DOWNLOAD_H_
