// Speed-ups of some runs, kernel by kernel, with their geometric mean.
import {axis, Card, chartBase, HATCHES, hatching, legendHeight, make, number} from './card.js';
import {geometricMean} from './data.js';
import {SERIES, theme} from './theme.js';

export function mountBars(parent, study, state) {
  const card = new Card(parent, {
    id: 'speedups',
    title: 'Speed-up',
    help: 'Cycles of the run it is compared with, divided by cycles of the run. ' +
        'Whiskers: the range over seeds of noise on memory latencies, if there are several. Choose the runs here:',
  });
  const chips = make('div', {class: 'chips', role: 'group', 'aria-label': 'Runs in the chart'});
  card.body.append(chips);
  const shownRuns = () => state.bars.filter((run) => state.runs.includes(run));
  const values = (run) => state.kernels.map((kernel) => study.metric('speedup', kernel, run, state.base));
  const mean = (run) => {
    const all = values(run);
    return all.every(Number.isFinite) ? geometricMean(all) : undefined;
  };
  const style = (i) => ({
    color: SERIES[i % SERIES.length],
    decal: hatching(HATCHES[(i + Math.floor(i / SERIES.length)) % HATCHES.length])
  });

  function drawChips() {
    const focus = document.activeElement?.dataset?.chip;
    chips.replaceChildren(...state.runs.map((run) => {
      const on = state.bars.includes(run);
      return make(
          'button', {
            type: 'button',
            class: on ? 'chip on' : 'chip',
            'aria-pressed': String(on),
            'data-chip': run,
            onclick: () => state.change({
              bars: on ? state.bars.filter((other) => other !== run) :
                         [...state.bars, run].sort(
                             (x, y) => study.runsOf[state.machine].indexOf(x) - study.runsOf[state.machine].indexOf(y))
            }),
          },
          study.runs[run].name);
    }));
    if (focus !== undefined) chips.querySelector(`[data-chip="${focus}"]`)?.focus();
  }

  card.showChart({
    empty: 'Choose at least one run.',
    height: () => 360,
    option() {
      drawChips();
      const runs = shownRuns();
      const {kernels} = state;
      if (runs.length === 0 || kernels.length === 0) return null;
      const names = [...kernels.map((kernel) => study.kernels[kernel].name), 'geometric mean'];
      const crowded = names.length > 12;
      const ranges = runs.map((run) => kernels.map((kernel) => {
        const range = study.cell(kernel, run)?.range;
        const base = study.cell(kernel, state.base)?.cycles;
        return range && base ? [base / range[1], base / range[0]] : null;
      }));
      return chartBase({
        grid: {
          left: 56,
          right: 12,
          top: legendHeight(runs.map((run) => study.runs[run].name), card.width),
          bottom: (crowded ? 120 : 30) + (names.length > 30 ? 24 : 0)
        },
        tooltip: {
          ...chartBase().tooltip,
          trigger: 'axis',
          axisPointer: {type: 'shadow'},
          valueFormatter: (value) => `${number(value, 3)} ×`
        },
        xAxis: axis({
          type: 'category',
          data: names,
          axisLabel: {interval: 0, rotate: crowded ? 50 : 0, hideOverlap: true},
          triggerEvent: true
        }),
        yAxis: axis({type: 'value', name: `speed-up over ${study.runs[state.base].name}`, nameGap: 38}),
        dataZoom: names.length > 30 ? [{type: 'slider', bottom: 2, height: 16, startValue: 0, endValue: 24}] : [],
        series: runs.flatMap((run, i) => {
          const bars = {
            name: study.runs[run].name,
            type: 'bar',
            barGap: '8%',
            barCategoryGap: '24%',
            itemStyle: style(i),
            data: [...values(run), mean(run)].map((value) => (Number.isFinite(value) ? +value.toFixed(4) : '-')),
            markLine: i > 0 ? undefined : {
              symbol: 'none',
              silent: true,
              label: {show: false},
              lineStyle: {color: theme().mark, type: 'dashed', width: 1},
              data: [{yAxis: 1}],
            },
          };
          if (!ranges[i].some(Boolean)) return [bars];
          return [
            bars, {
              type: 'custom',
              name: study.runs[run].name,
              silent: true,
              z: 5,
              tooltip: {show: false},
              data: ranges[i].flatMap((range, k) => (range ? [[k, ...range, i]] : [])),
              renderItem(_, api) {
                const layout = api.barLayout({count: runs.length, barGap: '8%', barCategoryGap: '24%'})[api.value(3)];
                const [x, top] = api.coord([api.value(0), api.value(2)]);
                const bottom = api.coord([api.value(0), api.value(1)])[1];
                const at = x + layout.offsetCenter;
                const line = (x1, y1, x2, y2) =>
                    ({type: 'line', shape: {x1, y1, x2, y2}, style: {stroke: theme().mark, lineWidth: 1}});
                return {
                  type: 'group',
                  children:
                      [line(at, top, at, bottom), line(at - 3, top, at + 3, top), line(at - 3, bottom, at + 3, bottom)]
                };
              },
            }
          ];
        }),
      });
    },
    table: () => ({
      head: ['kernel', ...shownRuns().map((run) => study.runs[run].name)],
      rows: [
        ...state.kernels.map(
            (kernel, i) => [study.kernels[kernel].name, ...shownRuns().map((run) => number(values(run)[i], 3))]),
        ['geometric mean', ...shownRuns().map((run) => number(mean(run), 3))]
      ],
    }),
    click(event) {
      const kernel = event.componentType === 'xAxis' ?
          state.kernels.find((one) => study.kernels[one].name === event.value) :
          state.kernels[event.dataIndex];
      const run = event.seriesName === undefined ? undefined :
                                                   shownRuns().find((one) => study.runs[one].name === event.seriesName);
      if (kernel !== undefined) state.change({kernel, ...(run === undefined ? {} : {a: state.base, b: run})});
    },
  });
  state.subscribe(() => card.refresh());
}
