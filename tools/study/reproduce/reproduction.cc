#include "tools/study/reproduce/reproduction.h"

#include <algorithm>

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;
using Json = nlohmann::ordered_json;

const char* DirectionName(Direction direction) {
  switch (direction) {
    case Direction::kAgrees:
      return "agrees";
    case Direction::kOpposite:
      return "opposite";
    case Direction::kWithinNoise:
      return "within_noise";
    case Direction::kNone:
      break;
  }
  return "none";
}

const char* SizeName(Size size) {
  return size == Size::kAgrees ? "agrees" : size == Size::kDiffers ? "differs" : "none";
}

Json TermJson(const MeasuredTerm& term, bool is_row) {
  Json json = Json::object();
  if (!term.label.empty()) json["name"] = term.label;
  if (is_row) json["paper"] = term.paper;
  if (term.problem.empty() && !term.ours.seeds.empty()) {
    json["ours"] = term.ours.mean();
    json["noise"] = term.ours.noise();
  } else {
    json["not_computed"] = term.problem;
  }
  return json;
}

Json ResultJson(const ClaimResult& result) {
  const v1::Claim& claim = *result.claim;
  Json json = {{"id", claim.id()},
               {"where", claim.where()},
               {"statement", claim.statement()},
               {"kind", v1::Kind_Name(claim.kind())}};
  if (claim.has_paper()) json["paper"] = claim.paper();
  if (!claim.unit().empty()) json["unit"] = claim.unit();
  if (!result.computed()) {
    json["not_computed"] = result.problem;
    return json;
  }
  json["numbers"] = Json::array();
  for (const MeasuredTerm& term : result.terms) json["numbers"].push_back(TermJson(term, claim.row_size() != 0));
  json["direction"] = DirectionName(result.direction);
  json["size"] = SizeName(result.size);
  if (result.compared != 0) {
    json["agreeing"] = result.agreeing;
    json["compared"] = result.compared;
  }
  if (claim.row_size() != 0) json["rank_correlation"] = result.rank_correlation;
  if (!result.left_out.empty()) json["left_out"] = result.left_out;
  return json;
}

bool SameVerdict(const ClaimResult& a, const ClaimResult& b) {
  return a.computed() == b.computed() && a.direction == b.direction && a.size == b.size;
}

}  // namespace

Reproduction::Count Reproduction::structural() const {
  Count count;
  for (const ClaimResult& result : results) {
    if (!result.computed() || result.claim->kind() != v1::STRUCTURAL) continue;
    ++count.of;
    count.agree += result.comes_out();
  }
  return count;
}

Reproduction::Count Reproduction::directions() const {
  Count count;
  for (const ClaimResult& result : results) {
    if (!result.computed() || result.direction == Direction::kNone || result.claim->kind() == v1::STRUCTURAL) continue;
    ++count.of;
    count.agree += result.direction == Direction::kAgrees;
  }
  return count;
}

Reproduction::Count Reproduction::sizes() const {
  Count count;
  for (const ClaimResult& result : results) {
    if (!result.computed() || result.size == Size::kNone || result.claim->kind() == v1::STRUCTURAL) continue;
    ++count.of;
    count.agree += result.size == Size::kAgrees;
  }
  return count;
}

size_t Reproduction::not_computed() const {
  return static_cast<size_t>(std::ranges::count_if(results, [](const ClaimResult& one) { return !one.computed(); }));
}

Reproduction Reproduce(const PaperClaims& claims, const RunPlan& plan, Measurements& measurements,
                       const Reproduction* tests) {
  Reproduction all;
  all.claims = &claims;
  all.tests = tests;
  all.model_version = plan.plan().model_version;
  all.replays = plan.points();
  all.traces = plan.plan().traces;
  std::vector<MetricSource> seeds;
  for (size_t seed = 0; seed < plan.seeds(); ++seed) seeds.push_back(measurements.Source(0, seed));
  for (size_t i = 0; i < claims.claims.size(); ++i) {
    const CheckedClaim& claim = claims.claims[i];
    all.results.push_back(Evaluate(claim, seeds, tests == nullptr ? nullptr : &tests->results[i]));
    std::vector<VariedResult>& varied = all.varied.emplace_back();
    // A variation has one seed, so it is compared with that seed alone, with the noise of all.
    const ClaimResult& noisy = all.results.back();
    const ClaimResult base = seeds.size() == 1 ? noisy : Evaluate(claim, {seeds[0]}, &noisy);
    for (int v = 0; v < claims.paper.variation_size(); ++v) {
      const size_t variation = static_cast<size_t>(v) + 1;
      if (!plan.Varies(variation, *claim.claim)) continue;
      VariedResult one{static_cast<size_t>(v), Evaluate(claim, {measurements.Source(variation, 0)}, &noisy), false};
      one.flips = one.result.computed() && !SameVerdict(one.result, base);
      varied.push_back(std::move(one));
    }
  }
  return all;
}

Json JsonOf(const Reproduction& all) {
  const v1::Paper& paper = all.claims->paper;
  const auto count = [](const Reproduction::Count& one) { return Json{{"agree", one.agree}, {"of", one.of}}; };
  Json json = {{"schema", 1},
               {"paper", paper.name()},
               {"title", paper.title()},
               {"model_version", all.model_version},
               {"input_size", all.size},
               {"seeds_of_noise", all.jitter},
               {"replays", all.replays},
               {"structural", count(all.structural())},
               {"directions", count(all.directions())},
               {"sizes", count(all.sizes())},
               {"not_computed", all.not_computed()},
               {"claims", Json::array()}};
  for (size_t i = 0; i < all.results.size(); ++i) {
    Json claim = ResultJson(all.results[i]);
    for (const VariedResult& varied : all.varied[i]) {
      Json one = {{"variation", paper.variation(static_cast<int>(varied.variation)).id()}, {"flips", varied.flips}};
      Json result = ResultJson(varied.result);
      for (const char* known : {"id", "where", "statement", "kind", "paper", "unit"}) result.erase(known);
      one.update(result);
      claim["varied"].push_back(std::move(one));
    }
    json["claims"].push_back(std::move(claim));
  }
  for (const v1::Variation& variation : paper.variation()) {
    json["variations"].push_back({{"id", variation.id()},
                                  {"cause", variation.cause()},
                                  {"open", variation.open()},
                                  {"other", variation.other()},
                                  {"not_swept", variation.not_swept()}});
  }
  for (const v1::Kernel& kernel : paper.kernel()) {
    json["kernels"].push_back({{"name", kernel.name()},
                               {"trace", kernel.trace()},
                               {"kernels", kernel.kernels()},
                               {"missing", kernel.missing()},
                               {"note", kernel.note()}});
  }
  for (const sweep::PlannedTrace& trace : all.traces) {
    json["traces"].push_back(
        {{"name", trace.name}, {"digest", trace.digest}, {"thread_instructions", trace.thread_instructions}});
  }
  return json;
}

}  // namespace heddle::tools::reproduce
