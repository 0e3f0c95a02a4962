// A correlation for programs, and for the page.
#include <utility>

#include "tools/study/correlate/correlation_report.h"

namespace heddle::tools::correlate {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
void Put(Json& object, const char* key, const std::optional<Value>& value) {
  if (value.has_value()) object[key] = *value;
}

Json ComparisonJson(const Ladder& ladder, const Comparison& comparison, const ComparisonSummary& summary) {
  Json json = {{"name", comparison.name},         {"rung", ladder.rungs[comparison.rung].name},
               {"unit", comparison.unit},         {"error", comparison.relative ? "relative" : "difference"},
               {"headline", comparison.headline}, {"meaning", comparison.meaning}};
  if (comparison.bar.has_value()) {
    json["bar"] = *comparison.bar;
    json["bar_source"] = comparison.bar_is_goal ? "goal" : "choice";
  }
  json["kernels"] = summary.kernels;
  json["left_out"] = summary.left_out;
  Put(json, "mean_absolute", summary.mean_absolute);
  Put(json, "bias", summary.bias);
  Put(json, "rank_correlation", summary.rank_correlation);
  json["judged"] = summary.judged;
  json["within"] = summary.within;
  return json;
}

Json KernelJson(const Ladder& ladder, const KernelCorrelation& kernel) {
  Json json = {{"name", kernel.name()},
               {"workload", kernel.workload},
               {"size", kernel.size},
               {"trace", kernel.trace},
               {"trace_digest", kernel.trace_digest},
               {"launches", kernel.launches},
               {"card_launches", kernel.card_launches},
               {"short", kernel.is_short}};
  Put(json, "microseconds", kernel.microseconds);
  Put(json, "log_ratio", kernel.log_ratio);
  if (!kernel.problem.empty()) json["problem"] = kernel.problem;
  if (!kernel.notes.empty()) json["notes"] = kernel.notes;
  if (kernel.first_beyond.has_value()) json["first_beyond"] = ladder.rungs[*kernel.first_beyond].name;
  Json all = Json::object();
  for (size_t i = 0; i < kernel.compared.size(); ++i) {
    const Compared& compared = kernel.compared[i];
    Json one = Json::object();
    Put(one, "ours", compared.ours);
    Put(one, "card", compared.card);
    Put(one, "error", compared.error);
    Put(one, "within", compared.within);
    if (!compared.why.empty()) one["why"] = compared.why;
    all[ladder.comparisons[i].name] = std::move(one);
  }
  json["compared"] = std::move(all);
  return json;
}

Json VisitsJson(const CardData& card) {
  Json visits = Json::array();
  for (const HardwareVisit& visit : card.visits) {
    visits.push_back({{"date", visit.visit.conditions().date()},
                      {"digest", visit.digest},
                      {"clock_control", visit.visit.conditions().clock_control()},
                      {"cache_control", visit.visit.conditions().cache_control()},
                      {"complete", visit.visit.conditions().complete()},
                      {"skipped", visit.visit.skipped_size()}});
  }
  return visits;
}

Json CardJson(const hardware::v1::Visit& visit) {
  return {{"name", visit.card().name()},
          {"compute_capability",
           std::to_string(visit.card().compute_major()) + "." + std::to_string(visit.card().compute_minor())},
          {"sms", visit.card().sms()},
          {"driver", visit.tools().driver()},
          {"nvcc", visit.tools().nvcc()},
          {"ncu", visit.tools().ncu()}};
}

Json FitJson(const hardware::v1::Fit& fit) {
  Json json = {{"card", fit.card()}, {"date", fit.date()}, {"visit_digest", fit.visit_digest()}, {"base", fit.base()}};
  json["benchmarks"] = Json::array();
  for (const std::string& name : fit.benchmark()) json["benchmarks"].push_back(name);
  json["kernels"] = Json::array();
  for (const std::string& name : fit.kernel()) json["kernels"].push_back(name);
  return json;
}

}  // namespace

nlohmann::ordered_json CorrelationJson(const CorrelationReport& report) {
  Json json = {{"kind", "correlation"}, {"schema", 1}};
  if (!report.card.made_up.empty()) json["made_up"] = report.card.made_up;
  json["card"] = CardJson(report.card.visits.front().visit);
  json["visits"] = VisitsJson(report.card);
  json["code"] = CodeName(report.card.source);
  json["machine"] = report.machine.name();
  if (report.fit.has_value()) json["fit"] = FitJson(*report.fit);
  json["divergence"] = report.divergence;
  json["divergence_reason"] = report.divergence_reason;
  json["scheduler"] = report.scheduler;
  json["policies"] = {report.policies.divergence, report.policies.scheduler, report.policies.dispatch,
                      report.policies.fetch};
  json["model_version"] = report.model_version;
  json["least_microseconds"] = report.ladder.least_microseconds;
  json["sentences"] = {MadeUpSentence(report), CardSentence(report), MachineSentence(report)};
  json["rungs"] = Json::array();
  for (size_t rung = 0; rung < report.ladder.rungs.size(); ++rung) {
    const Rung& one = report.ladder.rungs[rung];
    Json entry = {{"name", one.name}, {"title", one.title}, {"question", one.question}, {"only_long", one.only_long}};
    const Explanation* best = BestExplanation(report.correlation, rung);
    if (best != nullptr) entry["explained_best_by"] = report.ladder.rungs[best->lower].name;
    json["rungs"].push_back(std::move(entry));
  }
  json["comparisons"] = Json::array();
  for (size_t i = 0; i < report.ladder.comparisons.size(); ++i) {
    json["comparisons"].push_back(
        ComparisonJson(report.ladder, report.ladder.comparisons[i], report.correlation.summary[i]));
  }
  json["kernels"] = Json::array();
  for (const KernelCorrelation& kernel : report.correlation.kernels) {
    json["kernels"].push_back(KernelJson(report.ladder, kernel));
  }
  json["explanations"] = Json::array();
  for (const Explanation& one : report.correlation.explanations) {
    if (!one.correlation.has_value()) continue;
    json["explanations"].push_back({{"rung", report.ladder.rungs[one.higher].name},
                                    {"by", report.ladder.rungs[one.lower].name},
                                    {"kernels", one.kernels},
                                    {"rank_correlation", *one.correlation},
                                    {"beyond_chance", one.beyond_chance}});
  }
  const Applications applications = ApplicationsOf(report.card);
  json["applications"] = {{"equal", applications.equal}, {"different", applications.different}};
  json["without_trace"] = report.correlation.without_trace;
  json["without_kernel"] = report.correlation.without_kernel;
  return json;
}

hardware::v1::Errors ErrorsOf(const CorrelationReport& report) {
  hardware::v1::Errors errors;
  const hardware::v1::Visit& newest = report.card.visits.front().visit;
  errors.set_card(newest.card().name());
  errors.set_date(newest.conditions().date());
  for (const HardwareVisit& visit : report.card.visits) errors.add_visit_digest(visit.digest);
  errors.set_made_up(report.card.made_up);
  errors.set_model_version(report.model_version);
  errors.set_code(report.card.source);
  errors.set_divergence(report.policies.divergence);
  errors.set_scheduler(report.policies.scheduler);
  errors.set_dispatch(report.policies.dispatch);
  errors.set_fetch(report.policies.fetch);
  errors.set_memory(report.policies.memory);
  for (const KernelCorrelation& kernel : report.correlation.kernels) {
    if (!kernel.log_ratio.has_value()) continue;
    hardware::v1::ProgramError& program = *errors.add_program();
    program.set_workload(kernel.workload);
    program.set_size(kernel.size);
    program.set_trace_digest(kernel.trace_digest);
    program.set_log_ratio(*kernel.log_ratio);
  }
  return errors;
}

}  // namespace heddle::tools::correlate
