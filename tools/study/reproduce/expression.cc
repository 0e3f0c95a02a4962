#include "tools/study/reproduce/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::tools::reproduce {

struct Expression::Node {
  enum class Kind { kNumber, kMetric, kNegative, kBinary, kFold } kind = Kind::kNumber;
  double number = 0;
  std::string path, run;             // kMetric
  char operation = 0;                // kBinary: + - * / < >
  std::string function;              // kFold
  std::vector<std::string> kernels;  // kFold: of its list; abs has none
  std::unique_ptr<Node> left, right;
};

namespace {

using Node = Expression::Node;

constexpr const char* kMeans[] = {"harmonic", "arithmetic", "geometric"};
constexpr const char* kFolds[] = {"harmonic", "arithmetic", "geometric", "sum", "largest", "smallest", "of"};

class Parser {
 public:
  Parser(std::string_view text, const Lists& lists) : text_(text), lists_(lists) {}

  absl::StatusOr<std::unique_ptr<Node>> Parse() {
    auto root = Comparison();
    Blank();
    if (root.ok() && at_ != text_.size()) return Wrong("an operator or the end");
    return root;
  }

 private:
  using Result = absl::StatusOr<std::unique_ptr<Node>>;

  absl::Status Wrong(const char* expected) const {
    const std::string rest = at_ < text_.size() ? absl::StrCat(" before \"", text_.substr(at_), "\"") : " at the end";
    return absl::InvalidArgumentError(absl::StrCat("expression \"", text_, "\": expected ", expected, rest));
  }

  void Blank() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  // Takes the next character if it is one of these, else gives 0.
  char Take(std::string_view characters) {
    Blank();
    if (at_ == text_.size() || characters.find(text_[at_]) == std::string_view::npos) return 0;
    return text_[at_++];
  }

  static std::unique_ptr<Node> Binary(char operation, std::unique_ptr<Node> left, std::unique_ptr<Node> right) {
    auto node = std::make_unique<Node>();
    node->kind = Node::Kind::kBinary;
    node->operation = operation;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  Result Comparison() {
    Result left = Sum();
    if (!left.ok()) return left;
    const char operation = Take("<>");
    if (operation == 0) return left;
    Result right = Sum();
    if (!right.ok()) return right;
    return Binary(operation, *std::move(left), *std::move(right));
  }

  Result Sum() {
    Result left = Product();
    while (left.ok()) {
      const char operation = Take("+-");
      if (operation == 0) break;
      Result right = Product();
      if (!right.ok()) return right;
      left = Binary(operation, *std::move(left), *std::move(right));
    }
    return left;
  }

  Result Product() {
    Result left = Factor();
    while (left.ok()) {
      const char operation = Take("*/");
      if (operation == 0) break;
      Result right = Factor();
      if (!right.ok()) return right;
      left = Binary(operation, *std::move(left), *std::move(right));
    }
    return left;
  }

  Result Factor() {
    if (Take("(") != 0) {
      Result inner = Comparison();
      if (inner.ok() && Take(")") == 0) return Wrong("')'");
      return inner;
    }
    auto node = std::make_unique<Node>();
    if (Take("-") != 0) {
      node->kind = Node::Kind::kNegative;
      Result inner = Factor();
      if (!inner.ok()) return inner;
      node->left = *std::move(inner);
      return node;
    }
    Blank();
    if (at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]))) {
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), node->number);
      if (error != std::errc()) return Wrong("a number");
      at_ += static_cast<size_t>(end - begin);
      return node;
    }
    const std::string name = Name();
    if (name.empty()) return Wrong("a number, a metric, a function or '('");
    if (Take("@") != 0) {
      node->kind = Node::Kind::kMetric;
      node->path = name;
      node->run = Name();
      if (node->run.empty()) return Wrong("the name of a run");
      return node;
    }
    if (Take("(") == 0) return Wrong("'@' and a run, or '('");
    return Call(name, std::move(node));
  }

  Result Call(const std::string& function, std::unique_ptr<Node> node) {
    node->kind = Node::Kind::kFold;
    node->function = function;
    if (function != "abs") {
      if (std::ranges::find(kFolds, function) == std::end(kFolds)) {
        std::vector<std::string> known(std::begin(kFolds), std::end(kFolds));
        known.emplace_back("abs");
        return absl::InvalidArgumentError(
            absl::StrCat("expression \"", text_, "\": ", UnknownNameMessage("function", function, known)));
      }
      const std::string name = Name();
      const auto list = lists_.find(name);
      if (list == lists_.end()) {
        std::vector<std::string> known;
        for (const auto& [other, kernels] : lists_) known.push_back(other);
        return absl::InvalidArgumentError(
            absl::StrCat("expression \"", text_, "\": ", UnknownNameMessage("list of kernels", name, known)));
      }
      node->kernels = list->second;
      if (Take(",") == 0) return Wrong("','");
    }
    Result inner = Comparison();
    if (!inner.ok()) return inner;
    if (Take(")") == 0) return Wrong("')'");
    node->left = *std::move(inner);
    return node;
  }

  std::string Name() {
    Blank();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  const std::string text_;
  const Lists& lists_;
  size_t at_ = 0;
};

double Apply(char operation, double left, double right) {
  switch (operation) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '<':
      return left < right ? 1 : 0;
    default:
      return left > right ? 1 : 0;
  }
}

// `values` is not empty.
double Fold(const std::string& function, const std::vector<double>& values) {
  const double count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) {
    sum += function == "harmonic" ? 1 / value : function == "geometric" ? std::log(value) : value;
  }
  if (function == "harmonic") return count / sum;
  if (function == "arithmetic") return sum / count;
  if (function == "geometric") return std::exp(sum / count);
  if (function == "largest") return *std::ranges::max_element(values);
  if (function == "smallest") return *std::ranges::min_element(values);
  return sum;  // sum, of
}

absl::StatusOr<double> Value(const Node& node, const MetricSource& source, const std::string& kernel,
                             Outcome& outcome) {
  switch (node.kind) {
    case Node::Kind::kNumber:
      return node.number;
    case Node::Kind::kMetric:
      return source(node.path, node.run, kernel);
    case Node::Kind::kNegative: {
      const absl::StatusOr<double> inner = Value(*node.left, source, kernel, outcome);
      if (!inner.ok()) return inner;
      return -*inner;
    }
    case Node::Kind::kBinary: {
      const absl::StatusOr<double> left = Value(*node.left, source, kernel, outcome);
      if (!left.ok()) return left;
      const absl::StatusOr<double> right = Value(*node.right, source, kernel, outcome);
      if (!right.ok()) return right;
      const double value = Apply(node.operation, *left, *right);
      if (!std::isfinite(value)) return absl::FailedPreconditionError("a division by zero");
      return value;
    }
    case Node::Kind::kFold:
      break;
  }
  if (node.function == "abs") {
    const absl::StatusOr<double> inner = Value(*node.left, source, kernel, outcome);
    if (!inner.ok()) return inner;
    return std::abs(*inner);
  }
  std::vector<double> values;
  absl::Status first;
  for (const std::string& one : node.kernels) {
    const absl::StatusOr<double> value = Value(*node.left, source, one, outcome);
    if (value.ok()) {
      values.push_back(*value);
      continue;
    }
    if (first.ok()) first = value.status();
    outcome.left_out.emplace(one, std::string(value.status().message()));
  }
  if (values.empty()) return first.ok() ? absl::FailedPreconditionError("none of the kernels is there") : first;
  const double value = Fold(node.function, values);
  if (!std::isfinite(value)) {
    return absl::FailedPreconditionError(absl::StrCat("the ", node.function, " mean of values that are not positive"));
  }
  return value;
}

void Collect(const Node& node, const std::string& kernel, std::set<Need>& needs) {
  if (node.kind == Node::Kind::kMetric) needs.insert({node.path, node.run, kernel});
  if (node.kind == Node::Kind::kFold && node.function != "abs") {
    for (const std::string& one : node.kernels) Collect(*node.left, one, needs);
    return;
  }
  if (node.left != nullptr) Collect(*node.left, kernel, needs);
  if (node.right != nullptr) Collect(*node.right, kernel, needs);
}

// Two means in one expression must be over the same kernels: a ratio of a mean over five kernels and one over six says
// nothing. So a kernel that one of them has to leave out is left out of all.
void Withdraw(Node& node, const std::map<std::string, std::string>& kernels) {
  if (std::ranges::find(kMeans, node.function) != std::end(kMeans)) {
    std::erase_if(node.kernels, [&](const std::string& kernel) { return kernels.contains(kernel); });
  }
  if (node.left != nullptr) Withdraw(*node.left, kernels);
  if (node.right != nullptr) Withdraw(*node.right, kernels);
}

std::unique_ptr<Node> Copy(const Node& node) {
  auto copy = std::make_unique<Node>();
  copy->kind = node.kind;
  copy->number = node.number;
  copy->path = node.path;
  copy->run = node.run;
  copy->operation = node.operation;
  copy->function = node.function;
  copy->kernels = node.kernels;
  if (node.left != nullptr) copy->left = Copy(*node.left);
  if (node.right != nullptr) copy->right = Copy(*node.right);
  return copy;
}

}  // namespace

Expression::Expression(std::unique_ptr<Node> root) : root_(std::move(root)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

absl::StatusOr<Expression> Expression::Parse(std::string_view text, const Lists& lists) {
  HEDDLE_ASSIGN_OR_RETURN(auto root, Parser(text, lists).Parse());
  return Expression(std::move(root));
}

absl::StatusOr<Outcome> Expression::Evaluate(const MetricSource& source, const std::string& kernel) const {
  Outcome outcome;
  absl::StatusOr<double> value = Value(*root_, source, kernel, outcome);
  if (value.ok() && !outcome.left_out.empty()) {
    const std::unique_ptr<Node> common = Copy(*root_);
    Withdraw(*common, outcome.left_out);
    Outcome again;
    value = Value(*common, source, kernel, again);
  }
  if (!value.ok()) return value.status();
  outcome.value = *value;
  return outcome;
}

std::set<Need> Expression::Needs(const std::string& kernel) const {
  std::set<Need> needs;
  Collect(*root_, kernel, needs);
  return needs;
}

}  // namespace heddle::tools::reproduce
