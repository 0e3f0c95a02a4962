// The data of the report, as `heddle report --json` prints them (tools/study/report/study_json.cc), and questions to
// them.
//
//   machines  [{name, sms, ports, warp_size, baseline: run, peak_ipc, dram_bytes_per_cycle?, dram_access_bytes?}]
//   runs      [{name, divergence, scheduler, dispatch, fetch, memory, machine, parameters}]     policies on a machine
//   kernels   [{name, kernel, trace, digest, launches, instructions?: [[pc, text, file, line, source]]}]
//   cells     [{k: kernel, r: run, cycles, range?: [least, most, seeds], wi, ti: warp- and thread-instructions,
//               ipc, activity, depth, sizes: issues by threads, stalls?: by STALLS, ports: by PORTS, threads: by
//               THREADS, l1?, l2?: [accesses, hits, pending hits, misses], dram?, memory?, counters?, series?, hot?,
//               warps?}]
//   notes     [text]

// The classes of port cycles, with the colour and the hatching that they have everywhere. The colours can be told apart
// with every kind of colour blindness and in grey with the hatching.
export const STALLS = [
  {name: 'issued', color: '#3b6fb6', hatch: null, help: 'an instruction issued'},
  {name: 'no unit free', color: '#63b8d8', hatch: 'dots', help: 'a warp could issue, but no unit was free for it'},
  {name: 'waits for memory', color: '#e0607e', hatch: 'up', help: 'a register that a load fills is not ready'},
  {
    name: 'waits for arithmetic',
    color: '#d9b23c',
    hatch: 'down',
    help: 'a register that another result fills is not ready'
  },
  {
    name: 'branch unresolved',
    color: '#8e4a9e',
    hatch: 'cross',
    help: 'a branch, call, return or exit has not resolved'
  },
  {name: 'fetch', color: '#3d8f5a', hatch: 'flat', help: 'the instructions are not there'},
  {
    name: 'held by policy',
    color: '#e58a45',
    hatch: 'grid',
    help: 'the divergence policy holds the warps: reconvergence, compaction'
  },
  {name: 'barrier', color: '#7a3b2e', hatch: 'upright', help: 'barriers and fences'},
  {
    name: 'warps have exited',
    color: '#a9adb3',
    hatch: 'up',
    help: 'the warps have exited, their blocks have not retired'
  },
  {name: 'no warp', color: '#d3d6da', hatch: null, help: 'the port has no warp'},
];
// Of the single pipeline.
export const PORTS = [
  {...STALLS[0]},
  {...STALLS[1], name: 'front end full', help: 'a warp was ready, but the front end could not accept it'},
  {...STALLS[2], name: 'all wait for memory', help: 'every live thread of the SM waits for memory'},
  {...STALLS[8], name: 'idle', help: 'nothing could issue for any other reason'},
];
export const THREADS = [
  {name: 'in flight', color: '#3b6fb6', hatch: null, help: 'own instruction in flight'},
  {name: 'at a barrier', color: '#7a3b2e', hatch: 'upright', help: 'waits at a barrier'},
  {
    name: 'other side of a branch',
    color: '#e58a45',
    hatch: 'grid',
    help: 'on a side of a divergence that is not being run'
  },
  {name: 'waits to reconverge', color: '#d9b23c', hatch: 'down', help: 'waits at a reconvergence point'},
  {name: 'finished', color: '#a9adb3', hatch: 'up', help: 'exited, its block is incomplete'},
  {name: 'ready', color: '#63b8d8', hatch: 'dots', help: 'could run, but nothing issued'},
];

// What the overview can show. `better`: 1 if more is better, -1 if less is.
export const METRICS = [
  {
    id: 'speedup',
    name: 'speed-up',
    unit: '×',
    digits: 2,
    better: 1,
    of: (study, cell, base) => study.speedup(cell, base)
  },
  {
    id: 'ipc',
    name: 'IPC (thread-instructions per cycle)',
    unit: '',
    digits: 1,
    better: 1,
    of: (study, cell) => cell.ipc
  },
  {id: 'activity', name: 'lane activity', unit: '%', digits: 1, better: 1, of: (study, cell) => cell.activity},
  {id: 'depth', name: 'depth utilisation', unit: '%', digits: 1, better: 1, of: (study, cell) => cell.depth},
  {id: 'cycles', name: 'cycles', unit: '', digits: 0, better: -1, of: (study, cell) => cell.cycles},
  {
    id: 'l1',
    name: 'L1 miss rate',
    unit: '%',
    digits: 1,
    better: -1,
    of: (study, cell) => cell.l1 && 100 * cell.l1[3] / cell.l1[0]
  },
  {
    id: 'l2',
    name: 'L2 miss rate',
    unit: '%',
    digits: 1,
    better: -1,
    of: (study, cell) => cell.l2 && 100 * cell.l2[3] / cell.l2[0]
  },
  {id: 'dram', name: 'DRAM bus in use', unit: '%', digits: 1, better: 1, of: (study, cell) => cell.dram?.bus},
];

// The compressed data of the page as an object.
export async function readData(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

export class Study {
  constructor(data) {
    Object.assign(this, data);
    this.index = this.kernels.map(() => new Array(this.runs.length));
    for (const cell of this.cells) this.index[cell.k][cell.r] = cell;
    // By machine, the runs of one divergence policy together.
    const firstOf = (run) => this.runs.findIndex(
        (other) => other.machine === this.runs[run].machine && other.divergence === this.runs[run].divergence);
    this.runsOf = this.machines.map(
        (_, machine) => this.runs.map((_, run) => run)
                            .filter((run) => this.runs[run].machine === machine)
                            .sort((a, b) => firstOf(a) - firstOf(b) || a - b));
  }

  cell(kernel, run) {
    return this.index[kernel][run];
  }

  // Undefined where one of both was not run or took no time.
  speedup(cell, base) {
    const reference = this.cell(cell.k, base);
    return reference && cell.cycles > 0 && reference.cycles > 0 ? reference.cycles / cell.cycles : undefined;
  }

  metric(id, kernel, run, base) {
    const cell = this.cell(kernel, run);
    return cell && METRICS.find((metric) => metric.id === id).of(this, cell, base);
  }

  // Port cycles by class, and the classes.
  portCycles(cell) {
    return cell.stalls ? {classes: STALLS, cycles: cell.stalls} : {classes: PORTS, cycles: cell.ports};
  }

  // The metrics that some run of a machine has.
  metricsOf(machine) {
    return METRICS.filter(
        (metric) => this.cells.some(
            (cell) => this.runs[cell.r].machine === machine &&
                Number.isFinite(metric.of(this, cell, this.machines[machine].baseline))));
  }
}

// Undefined for none. All must be positive.
export function geometricMean(values) {
  if (values.length === 0) return undefined;
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

export const sum = (values) => values.reduce((total, value) => total + value, 0);
