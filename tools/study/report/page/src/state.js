// As many runs as there are colours.
const MOST_BARS = 8;

// The runs whose bars are shown at first: all if colours suffice, else one of each policy of the first kind in which
// the runs differ, divergence before scheduler.
function firstBars(study, runs) {
  if (runs.length <= MOST_BARS) return [...runs];
  const policies = (kind) => new Set(runs.map((run) => study.runs[run][kind]));
  const differs = ['divergence', 'scheduler', 'dispatch', 'fetch', 'memory'].find((kind) => policies(kind).size > 1);
  return [...policies(differs)]
      .map((policy) => runs.find((run) => study.runs[run][differs] === policy))
      .slice(0, MOST_BARS);
}

// What is chosen in the page. Views subscribe and draw themselves again when something they show has changed.
export class State {
  constructor(study) {
    this.study = study;
    this.listeners = [];
    this.machine = 0;
    this.metric = 'speedup';
    this.kernelFilter = '';
    this.runFilter = '';
    this.sort = {by: 'given', down: false};
    this.enter(0);
  }

  subscribe(listener) {
    this.listeners.push(listener);
  }

  // Sets fields, then tells everybody.
  change(fields) {
    if (fields.machine !== undefined && fields.machine !== this.machine) this.enter(fields.machine);
    Object.assign(this, fields);
    for (const listener of this.listeners) listener();
  }

  // Choices that make sense on a machine: its baseline, the run that gains most, a handful of bars.
  enter(machine) {
    const {study} = this;
    this.machine = machine;
    this.base = study.machines[machine].baseline;
    const runs = study.runsOf[machine];
    this.a = this.base;
    // First seen is the largest speed-up that there is.
    let best = -Infinity;
    for (const cell of study.cells) {
      const speedup = runs.includes(cell.r) && cell.r !== this.base ? study.speedup(cell, this.base) : undefined;
      if (speedup > best) [best, this.kernel, this.b] = [speedup, cell.k, cell.r];
    }
    if (best === -Infinity) {
      this.kernel = study.cells.find((cell) => runs.includes(cell.r)).k;
      this.b = runs.find((run) => run !== this.a && study.cell(this.kernel, run)) ?? this.a;
    }
    this.bars = firstBars(study, runs);
    if (!study.metricsOf(machine).some((metric) => metric.id === this.metric)) this.metric = 'speedup';
  }

  // The kernels with results on this machine that the filter lets through, sorted.
  get kernels() {
    const {study, sort} = this;
    const words = this.kernelFilter.toLowerCase().split(/\s+/).filter(Boolean);
    const shown =
        study.kernels.map((_, kernel) => kernel)
            .filter(
                (kernel) => study.runsOf[this.machine].some((run) => study.cell(kernel, run)) &&
                    words.every(
                        (word) =>
                            `${study.kernels[kernel].name} ${study.kernels[kernel].kernel}`.toLowerCase().includes(
                                word)));
    const value = (kernel) => {
      if (sort.by === 'name') return study.kernels[kernel].name;
      if (sort.by === 'given') return kernel;
      if (sort.by === 'spread') {
        const values =
            this.runs.map((run) => study.metric(this.metric, kernel, run, this.base)).filter(Number.isFinite);
        return values.length === 0 ? -Infinity : Math.max(...values) / Math.min(...values);
      }
      return study.metric(this.metric, kernel, sort.by, this.base) ?? -Infinity;
    };
    const keyed = shown.map((kernel) => [value(kernel), kernel]);
    keyed.sort(([a], [b]) => (typeof a === 'string' ? a.localeCompare(b) : a - b));
    if (sort.down) keyed.reverse();
    return keyed.map(([, kernel]) => kernel);
  }

  // The runs of this machine that the filter lets through.
  get runs() {
    const words = this.runFilter.toLowerCase().split(/\s+/).filter(Boolean);
    return this.study.runsOf[this.machine].filter(
        (run) => words.every((word) => this.study.runs[run].name.toLowerCase().includes(word)));
  }
}
