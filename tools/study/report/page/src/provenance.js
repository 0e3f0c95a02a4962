// What was run: kernels, runs with their parameters, notes.
import {Card, make, number} from './card.js';

export function mountProvenance(parent, study) {
  const card = new Card(parent, {id: 'provenance', title: 'What was run', help: `Written by heddle ${study.heddle}.`});
  // Texts and what stands above them are on the left, and numbers, in the last columns, on the right.
  const table = (head, numbers, rows) => {
    const side = (column) => (column < head.length - numbers ? {class: 'text'} : {});
    return make(
        'div', {class: 'table-holder', tabindex: 0},
        make(
            'table', {class: 'plain'},
            make('thead', {}, make('tr', {}, head.map((text, i) => make('th', {scope: 'col', ...side(i)}, text)))),
            make(
                'tbody', {},
                rows.map(
                    (row) => make(
                        'tr', {},
                        row.map(
                            (cell, i) => (i === 0 ? make('th', {scope: 'row'}, cell) : make('td', side(i), cell))))))));
  };
  const parameters = ({parameters: seams}) =>
      Object.entries(seams)
          .flatMap(([, values]) => Object.entries(values).map(([name, value]) => `${name}=${value}`))
          .join(' ');
  card.onRender(
      () => card.body.replaceChildren(
          make('h3', {}, 'Kernels'),
          table(
              ['name', 'kernel', 'trace', 'SHA-256 of its contents', 'launches', 'blocks', 'threads'], 3,
              study.kernels.map(
                  (one) =>
                      [one.name, one.kernel, one.trace, make('code', {}, one.digest.slice(0, 16)), number(one.launches),
                       number(one.blocks), number(one.threads)])),
          make('h3', {}, 'Runs'),
          table(
              ['run', 'machine', 'divergence', 'scheduler', 'dispatch', 'fetch', 'parameters'], 0,
              study.runs.map(
                  (run) =>
                      [run.name, study.machines[run.machine].name, run.divergence, run.scheduler, run.dispatch,
                       run.fetch || '–', make('small', {}, parameters(run))])),
          study.notes.length > 0 ? make(
                                       'div', {}, make('h3', {}, 'What these results cannot stand for'),
                                       make('ul', {}, study.notes.map((note) => make('li', {}, note)))) :
                                   ''));
}
