// What changes from run A to run B on one kernel, class by class. The cycles of a run are shared out to the classes in
// proportion to the cycles of its issue ports, so that the differences add up to the difference of the cycles.
import {axis, Card, chartBase, hatching, make, number, short, signed} from './card.js';
import {sum} from './data.js';
import {theme} from './theme.js';

// [{name, color, hatch, help, a, b, change}] in cycles; null where the runs have different classes or none.
export function changes(study, kernel, runA, runB) {
  const a = study.cell(kernel, runA);
  const b = study.cell(kernel, runB);
  if (!a || !b) return null;
  const [partsA, partsB] = [study.portCycles(a), study.portCycles(b)];
  if (partsA.classes !== partsB.classes || sum(partsA.cycles) === 0 || sum(partsB.cycles) === 0) return null;
  return partsA.classes.map((one, i) => {
    const before = a.cycles * partsA.cycles[i] / sum(partsA.cycles);
    const after = b.cycles * partsB.cycles[i] / sum(partsB.cycles);
    return {...one, a: before, b: after, change: after - before};
  });
}

function sentences(study, state, parts) {
  const a = study.cell(state.kernel, state.a);
  const b = study.cell(state.kernel, state.b);
  const [nameA, nameB] = [state.a, state.b].map((run) => study.runs[run].name);
  const kernel = study.kernels[state.kernel].name;
  const strong = (text) => make('strong', {}, text);
  const difference = b.cycles - a.cycles;
  if (state.a === state.b)
    return [make('p', {}, 'A and B are the same run: choose another above, or a cell of the overview.')];
  const say = [make(
      'p', {}, 'On ', strong(kernel), ', ', strong(nameB), ' takes ', strong(`${number(b.cycles)} cycles`),
      `, ${signed(difference)} (${signed(100 * difference / a.cycles, 1)} %) against the ${number(a.cycles)} of `,
      strong(nameA), `: a speed-up of ${number(a.cycles / b.cycles, 2)}.`)];
  const by = (sign) => parts.filter(({change}) => sign * change > 0.002 * a.cycles)
                           .sort((x, y) => sign * (y.change - x.change))
                           .slice(0, 3);
  const list = (found) => found.map(({name, change}) => `${name} ${signed(change)}`).join(', ');
  const [fewer, more] = [by(-1), by(1)];
  if (fewer.length + more.length > 0) {
    say.push(make(
        'p', {},
        ...[fewer.length > 0 ? `Fewer cycles: ${list(fewer)}. ` : '',
            more.length > 0 ? `More cycles: ${list(more)}.` : '']));
  }
  const facts = [];
  if (Number.isFinite(a.activity) && Number.isFinite(b.activity)) {
    facts.push(
        `lane activity ${number(a.activity, 1)} → ${number(b.activity, 1)} %`,
        `issues ${short(a.wi)} → ${short(b.wi)}`);
  }
  if (a.memory && b.memory)
    facts.push(`memory transactions ${short(a.memory.transactions)} → ${short(b.memory.transactions)}`);
  if (a.l1 && b.l1) facts.push(`L1 misses ${short(a.l1[3])} → ${short(b.l1[3])}`);
  if (a.memory?.load_to_use && b.memory?.load_to_use)
    facts.push(`load to use ${number(a.memory.load_to_use)} → ${number(b.memory.load_to_use)} cycles`);
  say.push(make('p', {class: 'facts'}, facts.join(' · ')));
  return say;
}

export function mountCompare(parent, study, state) {
  const card = new Card(parent, {
    id: 'compare',
    title: 'From A to B: where the cycles went',
    help:
        'The cycles of each run, shared out in proportion to what its issue ports did. The bars between the two totals add up to their difference.',
  });
  const text = make('div', {class: 'sentences', 'aria-live': 'polite'});
  card.body.append(text);
  card.showChart({
    empty: 'These two runs cannot be compared class by class.',
    height: () => 330,
    option() {
      const parts = changes(study, state.kernel, state.a, state.b);
      text.replaceChildren(...(parts ? sentences(study, state, parts) : []));
      if (!parts || state.a === state.b) return null;
      const a = study.cell(state.kernel, state.a);
      const b = study.cell(state.kernel, state.b);
      const shown = parts.filter(({change}) => Math.abs(change) >= 0.5);
      let level = a.cycles;
      const steps = shown.map((part) => {
        const from = level;
        level += part.change;
        return {...part, from, to: level};
      });
      const bars = [
        {
          name: `A  ${study.runs[state.a].name}`,
          low: 0,
          high: a.cycles,
          color: theme().muted,
          hatch: null,
          label: number(a.cycles)
        },
        ...steps.map((step) => ({
                       ...step,
                       low: Math.min(step.from, step.to),
                       high: Math.max(step.from, step.to),
                       label: signed(step.change)
                     })),
        {
          name: `B  ${study.runs[state.b].name}`,
          low: 0,
          high: b.cycles,
          color: theme().muted,
          hatch: null,
          label: number(b.cycles)
        },
      ];
      // The axis begins where the differences are, unless they are a good part of the whole.
      const least = Math.min(...bars.slice(1, -1).map(({low}) => low), a.cycles, b.cycles);
      const most = Math.max(...bars.map(({high}) => high));
      const from = most - least > 0.3 * most ? 0 : Math.max(0, least - 0.35 * (most - least));
      const narrow = card.width < 80 * bars.length;
      return chartBase({
        legend: {show: false},
        grid: {left: 64, right: 12, top: 22, bottom: narrow ? 92 : 46},
        xAxis: axis({
          type: 'category',
          data: bars.map(({name}) => name),
          axisLabel: {
            interval: 0,
            color: theme().text,
            lineHeight: 14,
            ...(narrow ? {rotate: 45} : {width: 92, overflow: 'break'})
          }
        }),
        yAxis: axis({
          type: 'value',
          min: from,
          name: from > 0 ? 'cycles (axis does not begin at 0)' : 'cycles',
          nameGap: 48,
          axisLabel: {formatter: short}
        }),
        tooltip: {
          ...chartBase().tooltip,
          formatter: ({dataIndex}) => {
            const bar = bars[dataIndex];
            return bar.help ? `<b>${bar.name}</b>: ${number(bar.a)} → ${number(bar.b)} cycles (${
                                  bar.label})<br><small>${bar.help}</small>` :
                              `<b>${bar.name}</b>: ${bar.label} cycles`;
          }
        },
        series: [
          {
            type: 'bar',
            stack: 'w',
            silent: true,
            itemStyle: {color: 'transparent'},
            data: bars.map(({low}) => Math.max(low, from))
          },
          {
            type: 'bar',
            stack: 'w',
            barWidth: '58%',
            data: bars.map(({low, high, color, hatch}) => ({
                             value: high - Math.max(low, from),
                             itemStyle: {color, decal: hatching(hatch), borderColor: theme().mark, borderWidth: 0.5},
                           })),
            label: {show: true, position: 'top', color: theme().text, formatter: ({dataIndex}) => bars[dataIndex].label}
          },
        ],
      });
    },
    table: () => ({
      head: ['class', 'A: cycles', 'B: cycles', 'change'],
      rows: changes(study, state.kernel, state.a, state.b)
                .map(({name, a, b, change}) => [name, number(a), number(b), signed(change)]),
    }),
  });
  state.subscribe(() => card.refresh());
}
