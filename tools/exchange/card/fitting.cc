#include "tools/exchange/card/fitting.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {

Fitting::Fitting(const machine::v1::Machine& base, const std::string& name, const HardwareVisit& visit)
    : visit_(visit.visit) {
  fitted_.machine = base;
  fitted_.machine.set_name(name);
  fitted_.fit.set_card(visit_.card().name());
  fitted_.fit.set_date(visit_.conditions().date());
  fitted_.fit.set_visit_digest(visit.digest);
  fitted_.fit.set_made_up(visit_.made_up());
  fitted_.fit.set_base(base.name());
  fitted_.machine.set_description(absl::StrCat("Fitted to micro-benchmarks on ", visit_.card().name(), " of ",
                                               visit_.conditions().date(), ", the rest as ", base.name()));
}

std::string Fitting::Card() const { return absl::StrCat(visit_.card().name(), ", ", visit_.conditions().date(), ": "); }

void Fitting::Use(const std::string& path, const Measured& value) {
  std::string& source = fitted_.sources[path];
  absl::StrAppend(&source, source.empty() ? Card() : "; ", value.text);
  const auto& known = fitted_.fit.benchmark();
  if (std::ranges::find(known, value.name) == known.end()) fitted_.fit.add_benchmark(value.name);
}

void Fitting::UseCard(const std::string& path, const std::string& what) {
  fitted_.sources[path] = absl::StrCat(Card(), what);
}

absl::Status Fitting::Adjust(const Measured& value, const Field& field, const absl::StatusOr<Chain>& chain) {
  if (!chain.ok()) {
    Note(absl::StrCat(value.text, ": not fitted: ", chain.status().message()));
    return absl::OkStatus();
  }
  HEDDLE_ASSIGN_OR_RETURN(const double before, CyclesPerLink(machine(), *chain));
  const double wanted = field.present + std::round((value.median - before) / field.times);
  field.set(static_cast<uint32_t>(std::clamp(wanted, static_cast<double>(field.least), 1e6)));
  Use(field.path, value);
  HEDDLE_ASSIGN_OR_RETURN(const double after, CyclesPerLink(machine(), *chain));
  Note(absl::StrFormat("%s: %.1f cycles on the machine, %.1f before, %.1f on the card", value.name, after, before,
                       value.median));
  return absl::OkStatus();
}

}  // namespace heddle::tools
