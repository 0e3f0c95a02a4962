#include "traces/base/sha256.h"

#include "absl/strings/escaping.h"

namespace heddle {

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }

Sha256::Sha256(const Sha256& other) : context_(EVP_MD_CTX_new()) {
  EVP_MD_CTX_copy_ex(context_.get(), other.context_.get());
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) EVP_MD_CTX_copy_ex(context_.get(), other.context_.get());
  return *this;
}

void Sha256::Update(const void* data, size_t bytes) { EVP_DigestUpdate(context_.get(), data, bytes); }

std::string Sha256::Finish() {
  std::string digest(32, '\0');
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), &size);
  return digest;
}

std::string HexSha256(std::string_view bytes) {
  Sha256 digest;
  digest.Update(bytes.data(), bytes.size());
  return absl::BytesToHexString(digest.Finish());
}

}  // namespace heddle
