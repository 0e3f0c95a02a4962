// The page of `heddle correlate`: our replays beside a card, rung by rung. Its data are those of
// tools/study/correlate/correlation_json.cc.
import {Card, make, number, renderAll} from './card.js';
import {errorUnit, short, signedShort} from './correlation_numbers.js';
import {mountRung} from './correlation_rung.js';
import {table} from './table.js';
import {applyTheme, diverging, isDark} from './theme.js';

function mountControls() {
  for (const select of ['machine', 'base']) document.getElementById(select).closest('label').hidden = true;
  document.getElementById('theme').addEventListener('click', () => {
    applyTheme(isDark() ? 'light' : 'dark');
    renderAll();
  });
  document.getElementById('print').addEventListener('click', () => window.print());
}

function mountOverview(parent, data) {
  const card = new Card(parent, {
    id: 'overview',
    title: `Beside ${data.card.name}`,
    help:
        'Errors are signed: more than on the card is positive. A bar is how large an error may be; those with a star ' +
        'are our choice, the others were set as goals, and all were written down before anything was measured. ' +
        `Kernels of less than ${short(data.least_microseconds)} µs on the card are left out of the rung Time.`,
  });
  const [madeUp, ...sentences] = data.sentences;
  const bar = (one) => (one.bar === undefined ? '–' : `${short(one.bar)}${one.bar_source === 'goal' ? '' : ' *'}`);
  card.onRender(
      () => card.body.replaceChildren(
          madeUp ? make('p', {class: 'made-up', role: 'alert'}, madeUp) : '',
          ...sentences.map((text) => make('p', {}, text)),
          table(
              [
                'rung', 'comparison', 'error in', 'kernels', 'mean absolute', 'bias', 'rank correlation', 'bar',
                'within'
              ],
              3,
              data.comparisons.filter((one) => one.kernels > 0)
                  .map(
                      (one) =>
                          [data.rungs.find(({name}) => name === one.rung).title, one.name, errorUnit(one),
                           number(one.kernels), short(one.mean_absolute), signedShort(one.bias),
                           number(one.rank_correlation, 3), bar(one),
                           one.bar === undefined ? '–' : `${one.within} of ${one.judged}`]))));
}

// The kernel with the largest error in cycles first, whatever its sign.
function worstFirst(data) {
  const size = ({compared: {cycles}}) => (Number.isFinite(cycles?.error) ? Math.abs(cycles.error) : -1);
  return [...data.kernels].sort((a, b) => size(b) - size(a));
}

// Every kernel with the error of each rung's headline, the rung at which it first leaves the bar marked.
function mountKernels(parent, data) {
  const card = new Card(parent, {
    id: 'kernels',
    title: 'Kernels',
    help: 'The error of the comparison that stands for each rung, in its unit. Colours go to twice the bar. The last ' +
        'column names the lowest rung with an error beyond its bar: look there first.',
  });
  const headlines = data.comparisons.filter((one) => one.headline);
  const cell = (kernel, one) => {
    const {error, why} = kernel.compared[one.name];
    if (!Number.isFinite(error)) return make('td', {title: why}, '–');
    const at = one.bar === undefined ? 0 : one.bar === 0 ? Math.sign(error) : error / (2 * one.bar);
    const {background, text} = diverging(-at);
    const style = one.bar === undefined ? {} : {background, color: text};
    return make('td', {style}, signedShort(error));
  };
  card.onRender(
      () => card.body.replaceChildren(table(
          [
            'kernel', 'launches', 'µs on the card', ...headlines.map((one) => `${one.name}, ${errorUnit(one)}`),
            'first beyond its bar'
          ],
          1,
          worstFirst(data).map(
              (kernel) =>
                  [kernel.name,
                   `${kernel.launches} of ${kernel.card_launches}`,
                   short(kernel.microseconds) + (kernel.short ? ' (short)' : ''),
                   ...headlines.map((one) => cell(kernel, one)),
                   make('td', {class: 'text'}, kernel.problem ?? kernel.first_beyond ?? '–'),
  ]))));
}

// Which rung's errors go with those of which higher one.
function mountExplanations(parent, data) {
  const card = new Card(parent, {
    id: 'explanations',
    title: 'Which rung explains which',
    help:
        'Spearman\'s correlation of the signed errors of two rungs\' headlines over all kernels that have both. In bold: ' +
        'chance would give one as strong in less than one of 20 samples. A rung that explains a higher one is where to ' +
        'look for that error. With many pairs, one of 20 is bold by chance.',
  });
  const lower = data.rungs.slice(0, -1);
  const cell = (rung, by) => {
    const found = data.explanations.find((one) => one.rung === rung.name && one.by === by.name);
    if (!found) return '–';
    const text = `${number(found.rank_correlation, 2)} (${found.kernels})`;
    return found.beyond_chance ? make('b', {}, text) : text;
  };
  card.onRender(
      () => card.body.replaceChildren(
          table(
              ['errors of', ...lower.map((rung) => `by ${rung.title}`)], 1,
              data.rungs.slice(1).map((rung) => [rung.title, ...lower.map((by) => cell(rung, by))])),
          make(
              'p', {class: 'facts'}, outputs(data.applications),
              data.without_trace.length > 0 ?
                  `Kernels of the card without a trace: ${data.without_trace.join(', ')}. ` :
                  '',
              data.without_kernel.length > 0 ? `Traces that the card has not run: ${data.without_kernel.join(', ')}.` :
                                               '')));
}

function outputs({equal, different}) {
  if (equal + different.length === 0) return '';
  const rest = different.length > 0 ? ` The others: ${different.join('; ')}.` : '';
  return `Programs whose output is the same with and without the card: ${equal} of ${equal + different.length}.${
      rest} `;
}

export function openCorrelation(main, data) {
  mountControls();
  mountOverview(main, data);
  for (const rung of data.rungs) mountRung(main, data, rung);
  mountKernels(main, data);
  mountExplanations(main, data);
}
