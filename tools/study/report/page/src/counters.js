// What the policies of the runs count themselves: each counter by run, and over time for A and B.
import {axis, Card, chartBase, hatching, legendHeight, make, number, short} from './card.js';
import {theme} from './theme.js';

const SEAMS = ['divergence', 'scheduler', 'dispatch', 'fetch', 'memory'];
const COLORS = {
  a: '#3b6fb6',
  b: '#e58a45'
};

// What a counter of a seam is called: policies of two seams may use one name.
const nameOf = (seam, counter) => `${seam}: ${counter}`;

export function mountCounters(parent, study, state) {
  const outer = make('div', {class: 'pair'});
  parent.append(make('h2', {class: 'group'}, 'What policies count'), outer);
  let chosen;
  let picked = false;  // by the reader
  const runs = () => state.runs.filter((run) => study.cell(state.kernel, run));
  const value = (run, name) => {
    const [seam, counter] = name.split(': ');
    return study.cell(state.kernel, run)?.counters?.[seam]?.[counter];
  };
  // The counters that are not 0 in all runs of the kernel.
  const names = () => [...new Set(SEAMS.flatMap(
      (seam) => runs()
                    .flatMap((run) => Object.keys(study.cell(state.kernel, run).counters?.[seam] ?? {}))
                    .map((counter) => nameOf(seam, counter))))];
  const select = make('select', {
    id: 'counter',
    onchange: () => {
      chosen = select.value;
      picked = true;
      byRun.refresh();
      overTime.refresh();
    }
  });
  const choose = () => {
    const all = names();
    // Until the reader picks one, it is one of A or B, so that it has a course.
    const has = (name) => value(state.a, name) !== undefined || value(state.b, name) !== undefined;
    if (!all.includes(chosen) || (!picked && !has(chosen))) chosen = all.find(has) ?? all[0];
    select.replaceChildren(...all.map((name) => {
      const option = make('option', {value: name}, name);
      option.selected = name === chosen;
      return option;
    }));
    select.hidden = all.length === 0;
  };

  const byRun = new Card(outer, {
    id: 'counters',
    title: 'Counters of policies, by run',
    half: true,
    help:
        'What a policy counts itself, over all SMs and launches; of gauges, and of largest values, the largest of the launches. ' +
        'The table has all counters. Orange: A and B.',
  });
  byRun.tools.append(make('label', {}, 'Counter ', select));
  const shown = () => runs().filter((run) => value(run, chosen) !== undefined);
  byRun.showChart({
    empty: 'No policy of these runs has counted anything of its own.',
    height: () => 40 + 20 * Math.max(2, shown().length),
    option() {
      if (chosen === undefined) return null;
      const titles = shown().map((run) => study.runs[run].name);
      const longest = Math.max(...titles.map((title) => title.length));
      return chartBase({
        legend: {show: false},
        grid: {left: Math.min(190, 10 + 7 * longest), right: 64, top: 2, bottom: 24},
        xAxis: axis({type: 'value', min: 0, axisLabel: {formatter: short, hideOverlap: true}, splitNumber: 3}),
        yAxis: axis({type: 'category', inverse: true, data: titles, axisLabel: {interval: 0, color: theme().text}}),
        series: [{
          type: 'bar',
          name: chosen,
          barWidth: '70%',
          data: shown().map((run) => {
            const marked = run === state.a || run === state.b;
            return {
              value: value(run, chosen),
              itemStyle: {color: marked ? COLORS.b : COLORS.a, decal: hatching(marked ? 'up' : null)}
            };
          }),
          label:
              {show: true, position: 'right', color: theme().text, fontSize: 11, formatter: ({value: v}) => number(v)}
        }],
      });
    },
    table: () => ({
      head: ['run', ...names()],
      rows: runs().map((run) => [study.runs[run].name, ...names().map((name) => number(value(run, name)))]),
    }),
    click({dataIndex}) {
      const run = shown()[dataIndex];
      if (run !== state.a) state.change({b: run});
    },
  });

  const overTime = new Card(outer, {
    id: 'counters-time',
    title: 'Counters of policies, over time',
    half: true,
    help:
        'The chosen counter in A and B: counts per bin of time; gauges and largest values as each bin ends. Needs results with --bins.',
  });
  // [name of the run, its bins] of A and B.
  const courses = () => ['a', 'b'].flatMap((which) => {
    const series = study.cell(state.kernel, state[which])?.series;
    const found = series?.policy?.find(([seam, counter]) => nameOf(seam, counter) === chosen);
    return found ? [{which, width: series.width, unit: found[2], adds: found[3], values: found[4]}] : [];
  });
  overTime.showChart({
    empty: 'No course over time of this counter in A or B: replay with --bins CYCLES.',
    height: () => 260,
    option() {
      overTime.title.textContent = `Counters of policies, over time${chosen === undefined ? '' : `, ${chosen}`}`;
      const all = courses();
      if (all.length === 0) return null;
      const bins = Math.max(...all.map(({values}) => values.length));
      const titles = all.map(({which}) => `${which.toUpperCase()}: ${study.runs[state[which]].name}`);
      return chartBase({
        legend: {...chartBase().legend, data: titles},
        grid: {left: 56, right: 20, top: legendHeight(titles, overTime.width), bottom: 40},
        tooltip: {
          ...chartBase().tooltip,
          trigger: 'axis',
          axisPointer: {type: 'line'},
          valueFormatter: (value) => number(value)
        },
        xAxis: axis({
          type: 'category',
          data: Array.from({length: bins}, (_, i) => i * all[0].width),
          name: 'cycles of the kernel',
          nameGap: 24,
          axisLabel: {formatter: (at) => short(Number(at)), interval: Math.max(0, Math.ceil(bins / 8) - 1)}
        }),
        yAxis: axis({
          type: 'value',
          min: 0,
          name: `${all[0].unit || chosen}${all[0].adds ? ' per bin' : ''}`,
          nameGap: 40,
          axisLabel: {formatter: short}
        }),
        series: all.map(({which, values}, i) => ({
                          name: titles[i],
                          type: 'line',
                          step: 'middle',
                          symbol: 'none',
                          itemStyle: {color: COLORS[which]},
                          lineStyle: {color: COLORS[which], width: 2, type: which === 'a' ? 'solid' : 'dashed'},
                          data: values,
                        })),
      });
    },
    table: () => {
      const all = courses();
      const bins = Math.max(...all.map(({values}) => values.length));
      return {
        head: ['from cycle', ...all.map(({which}) => study.runs[state[which]].name)],
        rows: Array.from(
            {length: bins}, (_, i) => [number(i * all[0].width), ...all.map(({values}) => number(values[i]))]),
      };
    },
  });
  state.subscribe(() => {
    choose();
    byRun.refresh();
    overTime.refresh();
  });
}
