#include "tools/exchange/corpus/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace heddle::tools::corpus {
namespace {

constexpr long kConnectSeconds = 30;
constexpr long kStallSeconds = 60;  // without a byte

struct Transfer {
  CURL* curl = nullptr;
  int file = -1;
  uint64_t resumed_at = 0;  // bytes that were there
  uint64_t written = 0;     // bytes in the file
  uint64_t most_bytes = 0;
  bool begun = false;
  absl::Status status;
  const std::function<void(uint64_t, uint64_t)>* progress = nullptr;
};

size_t Write(char* bytes, size_t size, size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const size_t length = size * count;
  if (!transfer.begun) {
    transfer.begun = true;
    long code = 0;
    curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &code);
    // 206 is the rest; 200 is everything, whatever was asked for. A file:// address has no code and honours the offset.
    if (code == 200 && transfer.resumed_at != 0) {
      if (ftruncate(transfer.file, 0) != 0 || lseek(transfer.file, 0, SEEK_SET) != 0) {
        transfer.status = absl::UnavailableError(strerror(errno));
        return 0;
      }
      transfer.written = 0;
    }
  }
  if (length > transfer.most_bytes - transfer.written) {
    transfer.status = absl::ResourceExhaustedError(absl::StrCat("is larger than ", transfer.most_bytes, " bytes"));
    return 0;
  }
  for (size_t done = 0; done < length;) {
    const ssize_t written = write(transfer.file, bytes + done, length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      transfer.status = absl::UnavailableError(absl::StrCat("cannot write: ", strerror(errno)));
      return 0;
    }
    done += static_cast<size_t>(written);
  }
  transfer.written += length;
  return length;
}

int Report(void* user, curl_off_t total, curl_off_t, curl_off_t, curl_off_t) {
  const Transfer& transfer = *static_cast<Transfer*>(user);
  const uint64_t all = total <= 0 ? 0 : static_cast<uint64_t>(total) + transfer.resumed_at;
  if (*transfer.progress) (*transfer.progress)(transfer.written, all);
  return 0;
}

struct FreeCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};

}  // namespace

bool IsAddress(const std::string& source) {
  return source.starts_with("http://") || source.starts_with("https://") || source.starts_with("file://");
}

absl::Status Download(const std::string& address, const std::string& path, uint64_t most_bytes,
                      const std::function<void(uint64_t done, uint64_t total)>& progress) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, FreeCurl> curl(initialised == CURLE_OK ? curl_easy_init() : nullptr);
  if (curl == nullptr) return absl::InternalError("libcurl cannot be initialised");
  Transfer transfer;
  transfer.curl = curl.get();
  transfer.most_bytes = most_bytes;
  transfer.progress = &progress;
  transfer.file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (transfer.file < 0) {
    return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
  }
  const off_t end = lseek(transfer.file, 0, SEEK_END);
  transfer.resumed_at = transfer.written = end < 0 ? 0 : static_cast<uint64_t>(end);

  curl_easy_setopt(curl.get(), CURLOPT_URL, address.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  // A range, not CURLOPT_RESUME_FROM: that one fails where a server sends everything.
  const std::string rest = absl::StrCat(transfer.resumed_at, "-");
  if (transfer.resumed_at != 0) curl_easy_setopt(curl.get(), CURLOPT_RANGE, rest.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Write);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, &Report);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  const CURLcode code = curl_easy_perform(curl.get());
  long response = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &response);
  close(transfer.file);

  if (!transfer.status.ok()) {
    return absl::Status(transfer.status.code(), absl::StrCat(address, ": ", transfer.status.message()));
  }
  // All of it was there already: servers answer 416, and a file has nothing behind its end.
  if (transfer.resumed_at != 0 && !transfer.begun && (response == 416 || code == CURLE_OK)) return absl::OkStatus();
  if (code == CURLE_OK) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(address, ": ", curl_easy_strerror(code),
                                             response >= 400 ? absl::StrCat(" (", response, ")") : "",
                                             transfer.written != 0 ? "; run again to go on from here" : ""));
}

}  // namespace heddle::tools::corpus
