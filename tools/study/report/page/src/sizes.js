// Warp sizes over time, A beside B: of the cycles of the issue ports, the share of issues with so many active threads,
// after figures 6.3 to 6.5 of Fung's thesis; the line is IPC.
import {axis, Card, chartBase, legendHeight, make, number, short} from './card.js';
import {sequential, theme} from './theme.js';

const IPC_COLOR = '#e0607e';  // seen on every colour of the sizes

const nice = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value);
};

export function mountSizes(parent, study, state) {
  const outer = make('div', {class: 'pair'});
  parent.append(outer);
  const seriesOf = (which) => study.cell(state.kernel, state[which])?.series;
  const slots = (series) => series.resident.map((cycles) => cycles * study.machines[state.machine].ports);
  const both = () => ['a', 'b'].map(seriesOf).filter(Boolean);
  const mount = (which) => {
    const card = new Card(outer, {
      id: `sizes-${which}`,
      title: `${which.toUpperCase()}: warp sizes over time`,
      half: true,
      help:
          'Issues by the number of their active threads, as shares of the cycles of issue ports; up to 100 %, nothing issued. ' +
          'Line: IPC. Dashed: launches. A and B have the same scales.',
    });
    card.showChart({
      empty: 'This run has no course over time: replay with --bins CYCLES.',
      height: () => 310,
      option() {
        card.title.textContent = `${which.toUpperCase()}: warp sizes over time, ${study.runs[state[which]].name}`;
        const series = seriesOf(which);
        if (!series || series.wi.length === 0) return null;
        const warpSize = study.machines[state.machine].warp_size;
        const bins = Math.max(...both().map(({wi}) => wi.length));
        const ipc = nice(Math.max(0.01, ...both().flatMap(({ti, width}) => ti.map((threads) => threads / width))));
        const share = Math.min(
            100,
            nice(Math.max(
                0.1, ...both().flatMap((one) => slots(one).map((all, i) => (all > 0 ? 100 * one.wi[i] / all : 0))))));
        const all = slots(series);
        const step = Math.ceil(warpSize / series.sizes.length);
        const names = series.sizes.map((_, i) => `${i * step + 1}–${Math.min(warpSize, (i + 1) * step)}`);
        return chartBase({
          legend: {...chartBase().legend, data: [...names, 'IPC']},
          grid: {left: 50, right: 50, top: legendHeight([...names, 'IPC'], card.width), bottom: 40},
          tooltip: {
            ...chartBase().tooltip,
            trigger: 'axis',
            axisPointer: {type: 'line'},
            formatter: ([{dataIndex: i}]) => {
              if (i >= series.wi.length) return 'the kernel has ended';
              const rows = names.map((name, k) => `${name} threads: ${number(series.sizes[k][i])} issues`)
                               .filter((_, k) => series.sizes[k][i] > 0);
              return `<b>cycles ${number(i * series.width)} to ${
                         number(Math.min((i + 1) * series.width, series.cycles))}</b><br>` +
                  `${rows.map((row) => `${row}<br>`).join('')}IPC ${number(series.ti[i] / series.width, 2)}<br>` +
                  `no issue: ${number(all[i] - series.wi[i])} of ${number(all[i])} port cycles`;
            }
          },
          xAxis: axis({
            type: 'category',
            data: Array.from({length: bins}, (_, i) => i * series.width),
            name: 'cycles of the kernel',
            nameGap: 24,
            axisLabel: {formatter: (value) => short(Number(value)), interval: Math.max(0, Math.ceil(bins / 8) - 1)},
            axisPointer: {label: {show: false}}
          }),
          yAxis: [
            axis({type: 'value', min: 0, max: share, name: '% of port cycles', nameGap: 36}),
            axis({type: 'value', min: 0, max: ipc, name: 'IPC', nameGap: 36, splitLine: {show: false}}),
          ],
          series: [
            ...names.map((name, i) => ({
                           name,
                           type: 'bar',
                           stack: 'sizes',
                           barCategoryGap: '0%',
                           itemStyle: {color: sequential(i / Math.max(1, names.length - 1))},
                           data: all.map((cycles, k) => (cycles > 0 ? 100 * series.sizes[i][k] / cycles : 0)),
                         })),
            {
              name: 'IPC',
              type: 'line',
              yAxisIndex: 1,
              step: 'middle',
              symbol: 'none',
              z: 4,
              itemStyle: {color: IPC_COLOR},
              lineStyle: {color: IPC_COLOR, width: 2},
              data: series.ti.map((threads) => threads / series.width),
              markLine: series.starts.length < 2 ? undefined : {
                symbol: 'none',
                silent: true,
                label: {show: false},
                lineStyle: {color: theme().muted, type: 'dashed', width: 1},
                data: series.starts.slice(1).map((at) => ({xAxis: Math.min(bins - 1, Math.floor(at / series.width))})),
              },
            },
          ],
        });
      },
      table: () => {
        const series = seriesOf(which);
        return {
          head: ['from cycle', 'issues', 'thread-instructions', 'IPC', 'threads per issue'],
          rows: series.wi.map(
              (issues, i) =>
                  [number(i * series.width), number(issues), number(series.ti[i]),
                   number(series.ti[i] / series.width, 2), number(series.ti[i] / issues, 1)]),
        };
      },
    });
    state.subscribe(() => card.refresh());
  };
  mount('a');
  mount('b');
}
