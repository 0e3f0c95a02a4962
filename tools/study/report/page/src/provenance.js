// What was run: kernels, runs with their parameters, notes.
import {Card, make, number} from './card.js';
import {table} from './table.js';

export function mountProvenance(parent, study) {
  const card = new Card(parent, {id: 'provenance', title: 'What was run', help: `Written by heddle ${study.heddle}.`});
  const parameters = ({parameters: seams}) =>
      Object.entries(seams)
          .flatMap(([, values]) => Object.entries(values).map(([name, value]) => `${name}=${value}`))
          .join(' ');
  card.onRender(
      () => card.body.replaceChildren(
          make('h3', {}, 'Kernels'),
          table(
              ['name', 'kernel', 'trace', 'SHA-256 of its contents', 'launches', 'blocks', 'threads'], 4,
              study.kernels.map(
                  (one) =>
                      [one.name, one.kernel, one.trace, make('code', {}, one.digest.slice(0, 16)), number(one.launches),
                       number(one.blocks), number(one.threads)])),
          make('h3', {}, 'Runs'),
          table(
              ['run', 'machine', 'divergence', 'scheduler', 'dispatch', 'fetch', 'memory', 'parameters'], 8,
              study.runs.map(
                  (run) =>
                      [run.name, study.machines[run.machine].name, run.divergence, run.scheduler, run.dispatch,
                       run.fetch || '–', run.memory || '–', make('small', {}, parameters(run))])),
          study.notes.length > 0 ? make(
                                       'div', {}, make('h3', {}, 'What these results cannot stand for'),
                                       make('ul', {}, study.notes.map((note) => make('li', {}, note)))) :
                                   ''));
}
