// Where the cycles of the issue ports went, and what threads did while nothing issued: one bar per run of the chosen
// kernel.
import {axis, Card, chartBase, hatching, legendHeight, make, number, short} from './card.js';
import {sum, THREADS} from './data.js';
import {theme} from './theme.js';

function mountStacked(parent, study, state, {id, title, help, half, parts, note}) {
  const card = new Card(parent, {id, title, help, half});
  let relative = false;
  const mode = make(
      'button', {
        type: 'button',
        class: 'quiet',
        'aria-pressed': 'false',
        onclick: () => {
          relative = !relative;
          mode.setAttribute('aria-pressed', String(relative));
          mode.textContent = relative ? 'As amounts' : 'As shares';
          card.render();
        }
      },
      'As shares');
  card.tools.append(mode);
  const rows = () => state.runs.filter((run) => study.cell(state.kernel, run))
                         .map((run) => ({run, ...parts(study.cell(state.kernel, run))}))
                         .filter(({values}) => sum(values) > 0);
  card.showChart({
    height: () => 96 + 26 * Math.max(2, rows().length),
    option() {
      const shown = rows();
      if (shown.length === 0) return null;
      const {classes} = shown[0];
      const used = classes.filter((_, i) => shown.some(({values}) => values[i] > 0));
      const top = legendHeight(used.map(({name}) => name), card.width);
      const names = shown.map(({run}) => study.runs[run].name);
      const totals = shown.map(({values}) => sum(values));
      const longest = Math.max(...names.map((name) => name.length));
      return chartBase({
        legend: {...chartBase().legend, data: used.map(({name}) => name)},
        grid: {left: Math.min(230, 36 + 7 * longest), right: 18, top, bottom: 36},
        xAxis: axis({
          type: 'value',
          max: relative ? 100 : undefined,
          name: relative ? '% ' + note.relative : note.absolute,
          nameGap: 22,
          axisLabel: {formatter: (value) => (relative ? value : short(value)), hideOverlap: true}
        }),
        yAxis: axis({
          type: 'category',
          inverse: true,
          data: names,
          axisLabel: {
            color: theme().text,
            interval: 0,
            formatter: (name) => {
              const {run} = shown[names.indexOf(name)];
              return run === state.a ? `{chosen|A} ${name}` : run === state.b ? `{chosen|B} ${name}` : name;
            },
            rich: {
              chosen: {
                fontWeight: 'bold',
                color: theme().card,
                backgroundColor: theme().text,
                padding: [2, 4],
                borderRadius: 3
              }
            }
          }
        }),
        tooltip: {
          ...chartBase().tooltip,
          formatter: ({seriesName, dataIndex}) => {
            const {values, run} = shown[dataIndex];
            const i = classes.findIndex(({name}) => name === seriesName);
            return `<b>${study.runs[run].name}</b><br>${seriesName}: ${number(values[i])} (${
                       number(100 * values[i] / totals[dataIndex], 1)} %)` +
                `<br><small>${classes[i].help}</small>`;
          }
        },
        series:
            classes.map(({name, color, hatch}, i) => ({
                          name,
                          type: 'bar',
                          stack: 'all',
                          barWidth: '72%',
                          itemStyle: {color, decal: hatching(hatch), borderColor: theme().card, borderWidth: 0.5},
                          data: shown.map(({values}, row) => (relative ? 100 * values[i] / totals[row] : values[i])),
                        })),
      });
    },
    table: () => ({
      head: ['run', ...(rows()[0]?.classes.map(({name}) => name) ?? [])],
      rows: rows().map(({run, values}) => [study.runs[run].name, ...values.map((value) => number(value))]),
    }),
    click({dataIndex}) {
      const {run} = rows()[dataIndex];
      if (run !== state.a) state.change({b: run});
    },
  });
  state.subscribe(() => card.refresh());
}

export function mountBreakdowns(parent, study, state) {
  mountStacked(parent, study, state, {
    id: 'stalls',
    title: 'Where the cycles of the issue ports went',
    half: true,
    help:
        'Every cycle of every issue port of an SM with a resident block has one class: the one closest to issue that a warp of the port is in.',
    note: {absolute: 'cycles of issue ports', relative: 'of the cycles of issue ports'},
    parts: (cell) => {
      const {classes, cycles} = study.portCycles(cell);
      return {classes, values: cycles};
    },
  });
  mountStacked(parent, study, state, {
    id: 'threads',
    title: 'What threads do while an SM issues nothing',
    half: true,
    help: 'Threads by state, summed over the cycles in which no port of their SM was within an issue.',
    note: {absolute: 'cycles of threads', relative: 'of the cycles of threads'},
    parts: (cell) => ({classes: THREADS, values: cell.threads}),
  });
}
