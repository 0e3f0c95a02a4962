// Matrix products: what the card's tensor units take, by kind of elements and by shape.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/exchange/card/fitting.h"

namespace heddle::tools {
namespace {

using machine::v1::ExecutionUnits;
using machine::v1::OperationTiming;
using machine::v1::ShapeTiming;
using machine::v1::TensorTiming;

constexpr uint32_t kMostExtent = 4096;  // of a product: far beyond any that there is

// One kind of instruction, "m16n8k16.f32.f16.f16.f32" (shape, D, A, B, C), and what it takes.
struct Product {
  TensorTiming::Elements elements = TensorTiming::ELEMENTS_UNSPECIFIED;
  uint32_t m = 0, n = 0, k = 0;
  std::optional<Measured> latency, rate;

  double multiply_adds() const { return 1.0 * m * n * k; }
  bool IsOf(const ShapeTiming& shape) const { return shape.m() == m && shape.n() == n && shape.k() == k; }
};

TensorTiming::Elements ElementsOf(const std::string& d, const std::string& a) {
  const bool into_half = d == "f16";
  if (a == "f16") return into_half ? TensorTiming::F16_INTO_F16 : TensorTiming::F16_INTO_F32;
  if (a == "e4m3" || a == "e5m2") return into_half ? TensorTiming::FP8_INTO_F16 : TensorTiming::FP8_INTO_F32;
  if (a == "bf16") return TensorTiming::BF16;
  if (a == "tf32") return TensorTiming::TF32;
  if (a == "f64") return TensorTiming::F64;
  if (a == "s8" || a == "u8") return TensorTiming::INT8;
  if (a == "s4" || a == "u4") return TensorTiming::INT4;
  if (a == "b1") return TensorTiming::B1;
  return TensorTiming::ELEMENTS_UNSPECIFIED;
}

bool IsExtent(const std::string& text, uint32_t& value) {
  return absl::SimpleAtoi(text, &value) && value >= 1 && value <= kMostExtent;
}

std::optional<Product> ProductOf(const std::string& instruction) {
  const std::vector<std::string> parts = absl::StrSplit(instruction, '.');
  if (parts.size() != 5 || !absl::StartsWith(parts[0], "m")) return std::nullopt;
  const std::vector<std::string> shape = absl::StrSplit(parts[0].substr(1), absl::ByAnyChar("nk"));
  Product product;
  product.elements = ElementsOf(parts[1], parts[2]);
  if (product.elements == TensorTiming::ELEMENTS_UNSPECIFIED || shape.size() != 3 || !IsExtent(shape[0], product.m) ||
      !IsExtent(shape[1], product.n) || !IsExtent(shape[2], product.k)) {
    return std::nullopt;
  }
  return product;
}

std::vector<Product> Products(Fitting& fitting) {
  std::vector<Product> products;
  for (const char* name : {"throughput_tensor", "latency_tensor"}) {
    for (const Measured& value : fitting.All(name)) {
      const auto instruction = value.parameter.find("instruction");
      const std::optional<Product> product =
          instruction == value.parameter.end() ? std::nullopt : ProductOf(instruction->second);
      if (!product.has_value()) {
        fitting.Note(absl::StrCat(value.text, ": not fitted: no product of matrices that a machine knows"));
        continue;
      }
      auto same = std::ranges::find_if(products, [&](const Product& one) {
        return one.elements == product->elements && one.m == product->m && one.n == product->n && one.k == product->k;
      });
      if (same == products.end()) same = products.insert(products.end(), *product);
      std::optional<Measured>& place = value.name == "latency_tensor" ? same->latency : same->rate;
      if (!place.has_value()) place = value;
    }
  }
  return products;
}

double AtInput(const Product& product, const TensorTiming& timing) {
  return std::ceil(product.multiply_adds() / timing.multiply_adds());
}

uint32_t Cycles(double cycles, double least) { return static_cast<uint32_t>(std::clamp(cycles, least, 1e5)); }

class ProductFitter {
 public:
  ProductFitter(Fitting& fitting, ExecutionUnits& units) : fitting_(fitting), units_(units) {}

  // `products` of one kind. The one with the most multiply-adds says rate and pipeline; shapes that then take another
  // time have an entry of their own.
  void Fit(std::vector<Product> products) {
    std::ranges::stable_sort(products, std::greater<>(), &Product::multiply_adds);
    const auto first = std::ranges::find_if(products, [](const Product& one) { return one.rate && one.latency; });
    if (first == products.end()) return NoteAll(products, "its other half, latency or rate, was not measured");
    TensorTiming& timing = EntryOf(first->elements);
    const double input = InputCycles(*first);
    timing.set_multiply_adds(Cycles(std::ceil(first->multiply_adds() / input), 1));
    timing.set_pipeline_cycles(Cycles(std::round(first->latency->median) - input, 0));
    for (const Product& product : products) SetShape(product, timing);
    UseAll(products, TensorTiming::Elements_Name(first->elements));
    if (first->elements == TensorTiming::F16_INTO_F32) SetUsual(*first, input);
  }

 private:
  // Whole cycles that a product keeps the input of its unit, and at least one.
  double InputCycles(const Product& product) const {
    return std::max(1.0, std::round(product.multiply_adds() * units_.tensor() / product.rate->median));
  }

  TensorTiming& EntryOf(TensorTiming::Elements elements) {
    for (TensorTiming& timing : *units_.mutable_tensor_timing()) {
      if (timing.elements() == elements) return timing;
    }
    TensorTiming& added = *units_.add_tensor_timing();
    added.set_elements(elements);
    return added;
  }

  void SetShape(const Product& product, TensorTiming& timing) {
    auto& shapes = *timing.mutable_shape();
    shapes.erase(std::remove_if(shapes.begin(), shapes.end(), [&](const auto& one) { return product.IsOf(one); }),
                 shapes.end());
    const double by_rate = AtInput(product, timing);
    const double input = product.rate ? InputCycles(product) : by_rate;
    const double latency = product.latency ? std::round(product.latency->median) : input + timing.pipeline_cycles();
    if (input == by_rate && latency == by_rate + timing.pipeline_cycles()) return;
    ShapeTiming& shape = *shapes.Add();
    shape.set_m(product.m);
    shape.set_n(product.n);
    shape.set_k(product.k);
    shape.set_latency(Cycles(latency, 1));
    shape.set_initiation_interval(Cycles(input, 1));
  }

  // Products that a trace gives no shape and type are taken for those in half precision.
  void SetUsual(const Product& product, double input) {
    for (OperationTiming& timing : *units_.mutable_timing()) {
      if (timing.operation() != OperationTiming::TENSOR) continue;
      timing.set_latency(Cycles(std::round(product.latency->median), 1));
      timing.set_initiation_interval(Cycles(input, 1));
      fitting_.Use("core.units.timing[TENSOR]", *product.rate);
      fitting_.Use("core.units.timing[TENSOR]", *product.latency);
    }
  }

  void UseAll(const std::vector<Product>& products, const std::string& elements) {
    for (const Product& product : products) {
      for (const std::optional<Measured>& value : {product.rate, product.latency}) {
        if (value.has_value()) fitting_.Use(absl::StrCat("core.units.tensor_timing[", elements, "]"), *value);
      }
    }
  }

  void NoteAll(const std::vector<Product>& products, const std::string& why) {
    for (const Product& product : products) {
      const Measured& value = product.rate ? *product.rate : *product.latency;
      fitting_.Note(absl::StrCat(value.text, ": not fitted: ", why));
    }
  }

  Fitting& fitting_;
  ExecutionUnits& units_;
};

}  // namespace

void FitProducts(Fitting& fitting) {
  std::vector<Product> products = Products(fitting);
  if (products.empty()) return;
  ExecutionUnits& units = *fitting.machine().mutable_core()->mutable_units();
  if (units.tensor() == 0 || units.tensor_timing().empty()) {
    return fitting.Note("products of matrices: measured, and the base has no rates by kind of elements");
  }
  ProductFitter fitter(fitting, units);
  while (!products.empty()) {
    const TensorTiming::Elements elements = products.front().elements;
    std::vector<Product> kind;
    std::ranges::copy_if(products, std::back_inserter(kind),
                         [elements](const Product& one) { return one.elements == elements; });
    std::erase_if(products, [elements](const Product& one) { return one.elements == elements; });
    fitter.Fit(std::move(kind));
  }
}

}  // namespace heddle::tools
