// SHA-256, by OpenSSL.
#ifndef HEDDLE_TRACES_BASE_SHA256_H_
#define HEDDLE_TRACES_BASE_SHA256_H_

#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace heddle {

// SHA-256 over a stream of bytes.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256& other);
  Sha256& operator=(const Sha256& other);
  void Update(const void* data, size_t bytes);
  std::string Finish();  // 32 bytes; call once

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

// The digest of all bytes in hexadecimal, as files and results show it.
std::string HexSha256(std::string_view bytes);

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_SHA256_H_
