// A paper's scores as JSON.
#include <optional>

#include "tools/study/reproduce/reproduction.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;
using Json = nlohmann::ordered_json;

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

Json JudgedJson(const JudgedClaim& judged, const ClaimResult& result) {
  Json json = {{"verdict", VerdictName(judged.judgement.verdict)}};
  if (!judged.judgement.reason.empty()) json["reason"] = judged.judgement.reason;
  const std::optional<Interval> interval = judged.influence.LeaveOneOut();
  const std::optional<double> number = NumberOf(result);
  if (!interval.has_value() || !number.has_value()) return json;
  const ProgramInfluence& most = *judged.influence.Most(*number);
  json["leave_one_out"] = {{"low", interval->low},
                           {"high", interval->high},
                           {"most_influential", most.program},
                           {"without_it", *most.without}};
  return json;
}

Json CountJson(const Reproduction::Count& count) { return {{"agree", count.agree}, {"of", count.of}}; }

Json RulesJson(const Reproduction& all) {
  Json json = {{"reproduced", CountJson(all.reproduced())}};
  for (const Verdict verdict :
       {Verdict::kContradicted, Verdict::kFragile, Verdict::kNotTested, Verdict::kFitted, Verdict::kNotComputed}) {
    json[VerdictName(verdict)] = all.with_verdict(verdict).agree;
  }
  if (!all.schedule_dependent.empty()) {
    json["reproduced_without_schedule_dependent"] = CountJson(all.reproduced_without_dependent());
  }
  json["exchanged_labels"] = {{"permutations", all.labels.permutations},
                              {"programs", all.labels.programs},
                              {"claims", all.labels.claims},
                              {"agree", all.labels.agree},
                              {"mean_agree", all.labels.mean_agree},
                              {"p", all.labels.p}};
  if (!all.audited.empty()) json["audited"] = all.audited;
  return json;
}

Json ResidencyJson(const ResidencyBySource& residency) {
  return {{"registers", residency.registers}, {"blocks_per_sm", residency.blocks_per_sm}};
}

Json KernelJson(const Reproduction& all, const v1::Kernel& kernel) {
  Json json = {{"name", kernel.name()},
               {"trace", kernel.trace()},
               {"kernels", kernel.kernels()},
               {"missing", kernel.missing()},
               {"note", kernel.note()}};
  const auto known = all.kernels.find(kernel.name());
  if (known == all.kernels.end() || !known->second.problem.empty()) return json;
  const KernelFacts& facts = known->second;
  json["program"] = all.claims->ProgramOf(kernel.name());
  json["from"] = facts.original ? "original" : "own";
  json["thread_instructions"] = facts.thread_instructions;
  if (facts.schedule_dependent.has_value()) json["schedule_dependent_per_cent"] = *facts.schedule_dependent;
  if (facts.threads_per_block != 0) {
    json["threads_per_block"] = facts.threads_per_block;
    json["residency"]["counted"] = ResidencyJson(facts.counted);
    if (facts.assembled.has_value()) json["residency"]["assembled"] = ResidencyJson(*facts.assembled);
    if (kernel.paper_blocks_per_sm() != 0)
      json["residency"]["paper"] = {{"blocks_per_sm", kernel.paper_blocks_per_sm()}};
  }
  return json;
}

Json LedgerJson(const Reproduction& all) {
  const v1::Ledger& ledger = *all.claims->ledger;
  const LedgerScores scores = ScoresOf(all, ledger);
  return {{"date", ledger.date()},
          {"command", ledger.command()},
          {"directions_then", CountJson(scores.directions_then)},
          {"directions_now", CountJson(scores.directions_now)},
          {"sizes_then", CountJson(scores.sizes_then)},
          {"sizes_now", CountJson(scores.sizes_now)}};
}

}  // namespace

Json JsonOf(const Reproduction& all) {
  const v1::Paper& paper = all.claims->paper;
  Json json = {{"schema", 1},
               {"paper", paper.name()},
               {"title", paper.title()},
               {"model_version", all.model_version},
               {"input_size", all.size},
               {"seeds_of_noise", all.jitter},
               {"seeds_of_noise_of_headlines", all.headline_jitter},
               {"registers", all.registers},
               {"residency", all.paper_residency ? "paper" : "registers"},
               {"replays", all.replays},
               {"structural", CountJson(all.structural())},
               {"directions", CountJson(all.directions())},
               {"sizes", CountJson(all.sizes())},
               {"not_computed", all.not_computed()},
               {"rules", RulesJson(all)},
               {"claims", Json::array()}};
  for (size_t i = 0; i < all.results.size(); ++i) {
    Json claim = ResultJson(all.results[i]);
    claim.update(JudgedJson(all.judged[i], all.results[i]));
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
    json["kernels"].push_back(KernelJson(all, kernel));
  }
  for (const v1::Deviation& deviation : paper.deviation()) {
    json["deviations"].push_back(
        {{"id", deviation.id()},
         {"where", deviation.where()},
         {"theirs", deviation.theirs()},
         {"ours", deviation.ours()},
         {"effect", deviation.effect()},
         {"bias", v1::Deviation::Bias_Name(deviation.bias())},
         {"claims", std::vector<std::string>(deviation.claim().begin(), deviation.claim().end())}});
  }
  for (const v1::Fit& fit : paper.fit()) {
    json["fits"].push_back({{"what", fit.what()},
                            {"claims", std::vector<std::string>(fit.claim().begin(), fit.claim().end())},
                            {"date", fit.date()}});
  }
  if (all.claims->ledger.has_value()) json["ledger"] = LedgerJson(all);
  for (const sweep::PlannedTrace& trace : all.traces) {
    json["traces"].push_back(
        {{"name", trace.name}, {"digest", trace.digest}, {"thread_instructions", trace.thread_instructions}});
  }
  return json;
}

}  // namespace heddle::tools::reproduce
