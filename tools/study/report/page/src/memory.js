// Caches and DRAM of the chosen kernel, run by run.
import {axis, Card, chartBase, hatching, make, number, short} from './card.js';
import {sum} from './data.js';
import {theme} from './theme.js';

const ACCESSES = [
  {name: 'hits', color: '#3b6fb6', hatch: null},
  {name: 'pending hits', color: '#63b8d8', hatch: 'dots'},
  {name: 'misses', color: '#e0607e', hatch: 'up'},
];
const VIEWS = [
  {title: 'L1 data cache', unit: 'accesses', of: ({l1}) => l1 && l1.slice(1)},
  {title: 'L2 cache', unit: 'accesses', of: ({l2}) => l2 && l2.slice(1)},
  {title: 'Load to use', unit: 'cycles, mean', digits: 1, of: ({memory}) => memory?.load_to_use},
  {
    title: 'Transactions',
    unit: 'per memory instruction',
    digits: 2,
    of: ({memory}) => memory?.accesses && memory.transactions / memory.accesses
  },
  {title: 'DRAM bus in use', unit: '% of cycles', digits: 2, of: ({dram}) => dram?.bus},
  {title: 'DRAM row hits', unit: '% of requests', digits: 1, of: ({dram}) => dram?.row_hits},
];

export function mountMemory(parent, study, state) {
  const heading = make('h2', {class: 'group'}, 'Caches and DRAM');
  const grid = make('div', {class: 'grid'});
  const none = make('p', {class: 'empty'}, 'The machine has no memory hierarchy: its latencies are fixed.');
  parent.append(heading, none, grid);
  const runs = () => state.runs.filter((run) => study.cell(state.kernel, run));
  state.subscribe(() => {
    const any = runs().some((run) => VIEWS.some(({of}) => of(study.cell(state.kernel, run)) !== undefined));
    grid.hidden = !any;
    none.hidden = any;
  });
  VIEWS.forEach(({title, unit, of, digits}, i) => {
    const card = new Card(grid, {id: `memory-${i}`, title, help: unit});
    const stacked = digits === undefined;
    const shown = () => runs().filter((run) => {
      const value = of(study.cell(state.kernel, run));
      return stacked ? value && sum(value) > 0 : Number.isFinite(value);
    });
    const names = () => shown().map((run) => study.runs[run].name);
    card.showChart({
      empty: 'Not used by this kernel.',
      height: () => 46 + (stacked ? 24 : 0) + 20 * Math.max(2, shown().length),
      option() {
        if (shown().length === 0) return null;
        const longest = Math.max(...names().map((name) => name.length));
        const bar = (extra) => ({type: 'bar', barWidth: '70%', ...extra});
        return chartBase({
          legend: {...chartBase().legend, show: stacked},
          grid: {left: Math.min(190, 10 + 7 * longest), right: 44, top: stacked ? 24 : 2, bottom: 24},
          xAxis: axis({type: 'value', min: 0, axisLabel: {formatter: short, hideOverlap: true}, splitNumber: 3}),
          yAxis: axis({type: 'category', inverse: true, data: names(), axisLabel: {interval: 0, color: theme().text}}),
          tooltip: {
            ...chartBase().tooltip,
            trigger: 'axis',
            axisPointer: {type: 'shadow'},
            valueFormatter: (value) => number(value, digits ?? 0)
          },
          series: stacked ? ACCESSES.map(({name, color, hatch}, k) => bar({
                                           name,
                                           stack: 'all',
                                           itemStyle: {color, decal: hatching(hatch)},
                                           data: shown().map((run) => of(study.cell(state.kernel, run))[k])
                                         })) :
                            [bar({
                              name: title,
                              data: shown().map((run) => ({
                                                  value: of(study.cell(state.kernel, run)),
                                                  itemStyle: {
                                                    color: run === state.a || run === state.b ? '#e58a45' : '#3b6fb6',
                                                    decal: hatching(run === state.a || run === state.b ? 'up' : null)
                                                  },
                                                })),
                              label: {
                                show: true,
                                position: 'right',
                                color: theme().text,
                                fontSize: 11,
                                formatter: ({value}) => number(value, digits)
                              }
                            })],
        });
      },
      table: () => ({
        head: stacked ? ['run', ...ACCESSES.map(({name}) => name)] : ['run', title],
        rows: shown().map(
            (run) =>
                [study.runs[run].name,
                 ...[of(study.cell(state.kernel, run))].flat().map((value) => number(value, digits ?? 0))]),
      }),
      click({dataIndex}) {
        const run = shown()[dataIndex];
        if (run !== state.a) state.change({b: run});
      },
    });
    state.subscribe(() => card.refresh());
  });
}
