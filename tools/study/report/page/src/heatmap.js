// The overview: every kernel under every run, as a table with coloured cells. Choosing a cell shows that kernel, and
// what its run changes against the baseline, in the views below.
import {Card, make, number} from './card.js';
import {geometricMean, METRICS} from './data.js';
import {diverging, sequential} from './theme.js';

// Consecutive runs with one divergence policy share a heading.
function groups(study, runs) {
  const found = [];
  for (const run of runs) {
    const {divergence} = study.runs[run];
    if (found.length > 0 && found.at(-1).divergence === divergence)
      found.at(-1).runs.push(run);
    else
      found.push({divergence, runs: [run]});
  }
  return found;
}

export function mountHeatmap(parent, study, state) {
  const card = new Card(parent, {
    id: 'overview',
    title: 'Every kernel under every run',
    help:
        'Choose a cell, by mouse or with the arrow keys and Enter: the views below show that kernel and explain the run ' +
        'against the one it is compared with. Headings sort.',
  });
  const metric = make('select', {id: 'metric', onchange: () => state.change({metric: metric.value})});
  const filter = (id, label, field) => make('label', {}, `${label} `, make('input', {
                                              id,
                                              type: 'search',
                                              placeholder: 'filter',
                                              size: 10,
                                              oninput: (event) => state.change({[field]: event.target.value}),
                                            }));
  const order = make(
      'select', {
        id: 'order',
        onchange: () => state.change({sort: {by: order.value, down: order.value === 'spread'}}),
      },
      [['given', 'as given'], ['name', 'by name'], ['spread', 'by how much runs differ']].map(
          ([value, text]) => make('option', {value}, text)));
  card.tools.append(
      make('label', {}, 'Show ', metric), filter('find-kernel', 'Kernels', 'kernelFilter'),
      filter('find-run', 'Policies', 'runFilter'), make('label', {}, 'Order ', order));
  const holder = make('div', {class: 'heatmap-holder', tabindex: -1});
  const scale = make('div', {class: 'scale', 'aria-hidden': 'true'});
  card.body.append(holder, scale);

  const sortBy = (by) => state.change({sort: {by, down: state.sort.by === by ? !state.sort.down : by !== 'name'}});
  const heading = (text, by, properties = {}) => make(
      'th', {
        scope: 'col',
        'aria-sort': state.sort.by === by ? (state.sort.down ? 'descending' : 'ascending') : undefined,
        ...properties,
      },
      make('button', {type: 'button', onclick: () => sortBy(by), title: `Sort by ${text}`}, make('span', {}, text)));

  function draw() {
    const metrics = study.metricsOf(state.machine);
    metric.replaceChildren(...metrics.map(({id, name}) => {
      const option = make('option', {value: id}, name);
      option.selected = id === state.metric;
      return option;
    }));
    order.value = ['given', 'name', 'spread'].includes(state.sort.by) ? state.sort.by : 'given';
    const {kernels, runs} = state;
    const shown = METRICS.find(({id}) => id === state.metric);
    const values = kernels.map((kernel) => runs.map((run) => study.metric(state.metric, kernel, run, state.base)));
    const all = values.flat().filter(Number.isFinite);
    const isRatio = shown.id === 'speedup';
    // Speed-ups are as far from 1 as their inverse; the scale ends at the largest factor, at most 4.
    const span = Math.min(
        Math.log(4),
        Math.max(Math.log(1.05), ...all.filter((value) => value > 0).map((value) => Math.abs(Math.log(value)))));
    const low = Math.min(...all);
    const high = Math.max(...all);
    const colors = (value) => {
      if (isRatio) return diverging(Math.log(value) / span);
      const at = high > low ? (value - low) / (high - low) : 0.5;
      const place = 0.12 + 0.88 * at;
      return {background: sequential(place), text: place > 0.58 ? '#14181d' : '#ffffff'};
    };
    const focused = document.activeElement?.closest?.('#overview td') ? document.activeElement.dataset : null;
    const focus = focused ? {...focused} : null;
    const tabStop =
        kernels.includes(state.kernel) && runs.includes(state.b) ? [state.kernel, state.b] : [kernels[0], runs[0]];
    const head = groups(study, runs);
    const body = kernels.map(
        (kernel, i) => make(
            'tr', {class: kernel === state.kernel ? 'chosen' : undefined},
            make(
                'th', {scope: 'row', title: `${study.kernels[kernel].kernel} (${study.kernels[kernel].trace})`},
                study.kernels[kernel].name),
            runs.map((run, j) => {
              const value = values[i][j];
              const here = kernel === state.kernel && run === state.b;
              if (!Number.isFinite(value))
                return make(
                    'td', {class: 'none', title: `${study.runs[run].name} was not run, or has no such number`}, '–');
              const {background, text} = colors(value);
              return make(
                  'td', {
                    style: {background, color: text},
                    class: here ? 'here' : undefined,
                    'data-kernel': kernel,
                    'data-run': run,
                    tabindex: kernel === tabStop[0] && run === tabStop[1] ? 0 : -1,
                    role: 'gridcell',
                    'aria-selected': String(here),
                    title: `${study.kernels[kernel].name}, ${study.runs[run].name}: ${shown.name} ${
                        number(value, shown.digits)}${shown.unit}`,
                  },
                  number(value, shown.digits));
            })));
    const means = runs.map((_, j) => {
      const column = values.map((row) => row[j]).filter((value) => Number.isFinite(value) && value > 0);
      return column.length === kernels.length ? geometricMean(column) : undefined;
    });
    const foot = make(
        'tr', {class: 'mean'}, make('th', {scope: 'row'}, 'geometric mean'),
        means.map(
            (mean) => make(
                'td',
                mean === undefined ? {class: 'none'} :
                                     {style: {background: colors(mean).background, color: colors(mean).text}},
                mean === undefined ? '–' : number(mean, shown.digits))));
    holder.replaceChildren(make(
        'table', {
          class: `heatmap${runs.length > 24 ? ' many' : ''}`,
          role: 'grid',
          'aria-label': `${shown.name} by kernel and run`
        },
        make(
            'thead', {},
            make(
                'tr', {}, heading('kernel', 'name', {rowspan: 2, class: 'corner'}),
                head.map((group) => make('th', {scope: 'colgroup', colspan: group.runs.length}, group.divergence))),
            make('tr', {}, head.flatMap((group) => group.runs.map((run) => {
              const rest = study.runs[run].name.slice(group.divergence.length).trim() || study.runs[run].scheduler;
              return heading(rest, run, {class: run === state.base ? 'base' : undefined});
            })))),
        make('tbody', {}, body),
        kernels.length > 1 && all.every((value) => value > 0) ? make('tfoot', {}, foot) : null));
    if (focus) holder.querySelector(`td[data-kernel="${focus.kernel}"][data-run="${focus.run}"]`)?.focus();
    const steps = Array.from({length: 11}, (_, i) => i / 10);
    scale.replaceChildren(
        make('span', {}, isRatio ? `${number(Math.exp(-span), 2)} × slower` : number(low, shown.digits) + shown.unit),
        make(
            'span', {class: 'ramp'},
            steps.map((at) => make('i', {
                        style: {background: isRatio ? diverging(2 * at - 1).background : sequential(0.12 + 0.88 * at)}
                      }))),
        make(
            'span', {},
            isRatio ? `${number(Math.exp(span), 2)} × faster than ${study.runs[state.base].name}` :
                      number(high, shown.digits) + shown.unit));
  }

  const choose = (cell) =>
      state.change({kernel: Number(cell.dataset.kernel), a: state.base, b: Number(cell.dataset.run)});
  holder.addEventListener('click', (event) => {
    const cell = event.target.closest('td[data-run]');
    if (cell) choose(cell);
  });
  holder.addEventListener('keydown', (event) => {
    const cell = event.target.closest('td[data-run]');
    if (!cell) return;
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (step) {
      const rows = [...holder.querySelectorAll('tbody tr')];
      let row = rows.indexOf(cell.parentElement);
      let column = cell.cellIndex;
      let next;
      do {  // past cells without a number
        row += step[0];
        column += step[1];
        next = rows[row]?.cells[column];
      } while (next && !next.dataset.run);
      if (next?.dataset.run) {
        cell.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      }
      event.preventDefault();
    } else if (event.key === 'Enter' || event.key === ' ') {
      choose(cell);
      event.preventDefault();
    }
  });
  card.onRender(draw);
  state.subscribe(() => card.refresh());
}
