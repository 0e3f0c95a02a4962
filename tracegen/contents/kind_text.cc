#include "tracegen/contents/kind_text.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace heddle::contents {
namespace {

// Puts words behind one another.
class Writer {
 public:
  explicit Writer(const char* name) : text_(name) {}
  Writer& Natural(uint64_t value) {
    text_ += " " + std::to_string(value);
    return *this;
  }
  Writer& Real(double value) {
    char word[40];
    std::snprintf(word, sizeof(word), " %a", value);
    text_ += word;
    return *this;
  }
  Writer& Word(const char* word) {
    text_ = text_ + " " + word;
    return *this;
  }
  std::string Text() { return std::move(text_); }

 private:
  std::string text_;
};

// Takes words one after the other, and remembers whether one was missing or wrong.
class Reader {
 public:
  explicit Reader(std::string_view text) {
    std::istringstream in{std::string(text)};
    for (std::string word; in >> word;) words_.push_back(word);
  }

  std::string Word() {
    if (next_ == words_.size()) {
      bad_ = true;
      return "";
    }
    return words_[next_++];
  }
  uint64_t Natural() {
    const std::string word = Word();
    if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) {
      bad_ = true;
      return 0;
    }
    errno = 0;
    const uint64_t value = std::strtoull(word.c_str(), nullptr, 10);
    bad_ |= errno != 0;
    return value;
  }
  double Real() {
    const std::string word = Word();
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    bad_ |= word.empty() || *end != '\0';
    return value;
  }
  bool AtEnd() const { return next_ == words_.size(); }
  bool ok() const { return !bad_; }

 private:
  std::vector<std::string> words_;
  size_t next_ = 0;
  bool bad_ = false;
};

constexpr char kRows[] = "row_pointers";
constexpr char kColumns[] = "column_indices";

struct AsText {
  std::string operator()(const Zeros&) const { return "zeros"; }
  std::string operator()(const Iota& kind) const { return Writer("iota").Real(kind.start).Real(kind.step).Text(); }
  std::string operator()(const Constant& kind) const { return Writer("constant").Real(kind.value).Text(); }
  std::string operator()(const Uniform& kind) const {
    return Writer("uniform").Natural(kind.seed).Real(kind.low).Real(kind.high).Text();
  }
  std::string operator()(const Normal& kind) const {
    return Writer("normal").Natural(kind.seed).Real(kind.mean).Real(kind.deviation).Text();
  }
  std::string operator()(const Zipf& kind) const {
    return Writer("zipf").Natural(kind.seed).Real(kind.exponent).Natural(kind.n).Text();
  }
  std::string operator()(const Permutation& kind) const { return Writer("permutation").Natural(kind.seed).Text(); }
  std::string operator()(const Values& kind) const {
    Writer writer("values");
    for (double value : kind.value) writer.Real(value);
    return writer.Text();
  }
  std::string operator()(const Csr& kind) const {
    return Writer("csr")
        .Natural(kind.seed)
        .Natural(kind.rows)
        .Natural(kind.columns)
        .Real(kind.mean_degree)
        .Real(kind.skew)
        .Natural(kind.max_degree)
        .Word(kind.array == Csr::Array::kRowPointers ? kRows : kColumns)
        .Text();
  }
};

// Values that stand in braces are read in their order.
std::optional<Kind> ReadKind(Reader& reader) {
  const std::string name = reader.Word();
  if (name == "zeros") return Zeros{};
  if (name == "iota") return Iota{reader.Real(), reader.Real()};
  if (name == "constant") return Constant{reader.Real()};
  if (name == "uniform") return Uniform{reader.Natural(), reader.Real(), reader.Real()};
  if (name == "normal") return Normal{reader.Natural(), reader.Real(), reader.Real()};
  if (name == "zipf") return Zipf{reader.Natural(), reader.Real(), reader.Natural()};
  if (name == "permutation") return Permutation{reader.Natural()};
  if (name == "values") {
    Values values;
    while (!reader.AtEnd()) values.value.push_back(reader.Real());
    return values;
  }
  if (name != "csr") return std::nullopt;
  Csr csr = {.seed = reader.Natural(),
             .rows = reader.Natural(),
             .columns = reader.Natural(),
             .mean_degree = reader.Real(),
             .skew = reader.Real(),
             .max_degree = reader.Natural()};
  const std::string array = reader.Word();
  if (array != kRows && array != kColumns) return std::nullopt;
  csr.array = array == kRows ? Csr::Array::kRowPointers : Csr::Array::kColumnIndices;
  return csr;
}

}  // namespace

std::string KindAsText(const Kind& kind) { return std::visit(AsText(), kind); }

std::optional<Kind> KindFromText(std::string_view text) {
  Reader reader(text);
  std::optional<Kind> kind = ReadKind(reader);
  if (!reader.ok() || !reader.AtEnd()) return std::nullopt;
  return kind;
}

}  // namespace heddle::contents
