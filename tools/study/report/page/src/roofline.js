// How near the runs come to what the machine could do: thread-instructions per cycle over thread-instructions per byte
// of DRAM traffic, under the roofs of the issue ports and of the DRAM bus (after Williams, Waterman and Patterson's
// roofline).
import {axis, Card, chartBase, legendHeight, number} from './card.js';
import {SERIES, theme} from './theme.js';

const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'pin', 'arrow', 'roundRect'];

export function mountRoofline(parent, study, state) {
  const card = new Card(parent, {
    id: 'roofline',
    title: 'Against the roofs of the machine',
    help:
        'Each point is a kernel under a run. Right of the ridge the issue ports bound it, left of it the DRAM bus; far below both, latency does. ' +
        'Large marks: the chosen kernel. Choose a point to look at it.',
  });
  const machine = () => study.machines[state.machine];
  const point = (kernel, run) => {
    const cell = study.cell(kernel, run);
    if (!cell?.dram || !Number.isFinite(cell.ipc) || cell.ipc <= 0) return null;
    const bytes = cell.dram.accesses * machine().dram_access_bytes;
    return bytes > 0 ? [cell.ti / bytes, cell.ipc, kernel, run] : null;
  };
  const points = (run) => state.kernels.map((kernel) => point(kernel, run)).filter(Boolean);
  const runs = () => [...new Set([...state.bars.filter((run) => state.runs.includes(run)), state.a, state.b])].sort(
      (x, y) => x - y);
  card.showChart({
    empty: 'The machine has no DRAM: its memory latencies are fixed.',
    height: () => 420,
    option() {
      const {peak_ipc: peak, dram_bytes_per_cycle: bandwidth} = machine();
      const all = runs().flatMap(points);
      if (!bandwidth || all.length === 0) return null;
      const ridge = peak / bandwidth;
      const left = Math.min(ridge / 4, ...all.map(([x]) => x / 1.6));
      const right = Math.max(ridge * 4, ...all.map(([x]) => x * 1.6));
      const bottom = Math.min(...all.map(([, y]) => y / 2));
      const power = (value, up) => 10 ** (up ? Math.ceil : Math.floor)(Math.log10(value));
      return chartBase({
        legend: {...chartBase().legend, data: runs().map((run) => study.runs[run].name)},
        grid: {
          left: 74,
          right: 24,
          top: 8 + legendHeight(runs().map((run) => study.runs[run].name), card.width),
          bottom: 44
        },
        xAxis: axis({
          type: 'log',
          min: power(left, false),
          max: power(right, true),
          name: 'thread-instructions per byte of DRAM traffic',
          nameGap: 26
        }),
        yAxis: axis({
          type: 'log',
          min: power(bottom, false),
          max: power(peak * 1.2, true),
          name: 'IPC (thread-instructions per cycle)',
          nameGap: 54
        }),
        tooltip: {
          ...chartBase().tooltip,
          formatter: ({value, seriesName}) =>
              (value.length < 4 ?
                   seriesName :
                   `<b>${study.kernels[value[2]].name}</b>, ${seriesName}<br>IPC ${number(value[1], 2)} of at most ${
                       number(Math.min(peak, bandwidth * value[0]), 1)}` +
                       `<br>${number(value[0], 2)} thread-instructions per byte`)
        },
        series: [
          {
            name: 'roofs',
            type: 'line',
            symbol: 'none',
            lineStyle: {color: theme().mark, width: 2},
            z: 1,
            data: [[power(left, false), bandwidth * power(left, false)], [ridge, peak], [power(right, true), peak]],
            markLine: {
              symbol: 'none',
              silent: true,
              lineStyle: {color: 'transparent'},
              data: [{yAxis: peak}],
              label:
                  {position: 'insideEndTop', color: theme().muted, formatter: `issue ports: ${number(peak)} per cycle`}
            },
          },
          ...runs().map((run, i) => ({
                          name: study.runs[run].name,
                          type: 'scatter',
                          symbol: SYMBOLS[i % SYMBOLS.length],
                          z: 3,
                          itemStyle: {color: SERIES[i % SERIES.length], borderColor: theme().card, borderWidth: 1},
                          data: points(run).map((value) => ({
                                                  value,
                                                  symbolSize: value[2] === state.kernel ? 17 : 9,
                                                  label: {
                                                    show: value[2] === state.kernel && run === state.b,
                                                    position: 'right',
                                                    color: theme().text,
                                                    formatter: study.kernels[value[2]].name
                                                  }
                                                })),
                        })),
        ],
      });
    },
    table: () => ({
      head: ['kernel', 'run', 'thread-instructions per byte', 'IPC'],
      rows: runs().flatMap(
          (run) => points(run).map(
              ([x, y, kernel]) => [study.kernels[kernel].name, study.runs[run].name, number(x, 3), number(y, 2)])),
    }),
    click({value}) {
      if (value?.length === 4) state.change({kernel: value[2], b: value[3]});
    },
  });
  state.subscribe(() => card.refresh());
}
