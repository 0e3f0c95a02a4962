// The instructions that cost most under A, B, or most differently.
import {Card, make, number, short, signed} from './card.js';
import {PORTS, STALLS, sum} from './data.js';

const SHOWN = 15;

export function mountHotSpots(parent, study, state) {
  const card = new Card(parent, {
    id: 'hotspots',
    title: 'Instructions: where cycles, divergence and transactions arise',
    help:
        'Cycles of issue ports that an instruction issued in, or that were lost while the port\'s oldest warp of the class stood at it. ' +
        'Colours as in the breakdown above.',
  });
  const message = make('p', {class: 'empty', hidden: true}, 'No profile: replay with --per-instruction.');
  const table = make('table', {class: 'hot'});
  const more = make('button', {
    type: 'button',
    class: 'quiet',
    onclick: () => {
      all = !all;
      card.render();
    }
  });
  const find = make(
      'input',
      {id: 'find-instruction', type: 'search', placeholder: 'opcode, file or line', oninput: () => card.render()});
  card.tools.append(make('label', {}, 'Find ', find));
  card.body.append(
      message, make('div', {class: 'table-holder', tabindex: 0, role: 'region', 'aria-label': 'Instructions'}, table),
      more);
  let all = false;
  let order = {by: 'b', down: true};

  // A bar of the classes, as long as its share of the longest.
  const bar = (cycles, classes, longest) => make(
      'span', {class: 'stack', 'aria-hidden': 'true', style: {width: `${100 * sum(cycles) / longest}%`}},
      classes.map(
          ({name, color, hatch}, i) =>
              (cycles[i] > 0 ? make('i', {
                class: hatch ? `hatch-${hatch}` : undefined,
                title: `${name}: ${number(cycles[i])}`,
                style: {backgroundColor: color, flexGrow: cycles[i]},
              }) :
                               null)));

  card.onRender(() => {
    const a = study.cell(state.kernel, state.a)?.hot;
    const b = study.cell(state.kernel, state.b)?.hot;
    const {instructions} = study.kernels[state.kernel];
    const found = instructions && (a || b);
    message.hidden = Boolean(found);
    table.hidden = !found;
    more.hidden = !found;
    if (!found) return;
    const warpSize = study.machines[state.machine].warp_size;
    const at = (hot, i) =>
        (hot ? {
          classes: hot.cycles[i],
          cycles: sum(hot.cycles[i]),
          activity: hot.issues[i] > 0 ? 100 * hot.threads[i] / (hot.issues[i] * warpSize) : undefined,
          issues: hot.issues[i],
          splits: hot.splits[i],
          transactions: hot.issues[i] > 0 ? hot.transactions[i] / hot.issues[i] : undefined,
          misses: hot.misses[i],
        } :
               {classes: [], cycles: 0});
    const query = find.value.toLowerCase();
    const rows =
        instructions
            .map(([pc, text, file, line, source], i) => ({pc, text, file, line, source, a: at(a, i), b: at(b, i)}))
            .filter((row) => `${row.text} ${row.file}:${row.line} ${row.source}`.toLowerCase().includes(query));
    const keys = {
      pc: (row) => row.pc,
      a: (row) => row.a.cycles,
      b: (row) => row.b.cycles,
      change: (row) => Math.abs(row.b.cycles - row.a.cycles),
      activity: (row) => row.b.activity ?? -1,
      splits: (row) => row.b.splits ?? 0,
      transactions: (row) => row.b.transactions ?? -1,
      misses: (row) => row.b.misses ?? 0,
      line: (row) => row.line,
    };
    rows.sort((x, y) => (order.down ? -1 : 1) * (keys[order.by](x) - keys[order.by](y)) || x.pc - y.pc);
    const longest = Math.max(1, ...rows.flatMap((row) => [row.a.cycles, row.b.cycles]));
    const classes = (a ?? b).cycles.some((one) => one.length === STALLS.length) ? STALLS : PORTS;
    const heading = (by, text, help) => make(
        'th', {scope: 'col', 'aria-sort': order.by === by ? (order.down ? 'descending' : 'ascending') : undefined},
        make(
            'button', {
              type: 'button',
              title: help,
              onclick: () => {
                order = {by, down: order.by === by ? !order.down : by !== 'pc' && by !== 'line'};
                card.render();
              }
            },
            text));
    const pair = (x, y, digits, unit = '') => `${number(x, digits)} → ${number(y, digits)}${unit}`;
    table.replaceChildren(
        make(
            'thead', {},
            make(
                'tr', {}, heading('pc', 'PC', 'Byte address in the program'), make('th', {scope: 'col'}, 'PTX'),
                heading('line', 'source', 'File and line'),
                heading('a', `A ${study.runs[state.a].name}`, 'Port cycles under A'),
                heading('b', `B ${study.runs[state.b].name}`, 'Port cycles under B'),
                heading('change', 'B − A', 'Sorts by the size of the change'),
                heading('activity', 'lanes A → B', 'Lane activity of its issues'),
                heading('splits', 'splits A → B', 'Times that threads of a warp went on to different places after it'),
                heading('transactions', 'transactions A → B', 'Memory transactions per issue'),
                heading('misses', 'L1 misses A → B', 'Misses in the L1 data caches'))),
        make('tbody', {}, rows.slice(0, all ? rows.length : SHOWN).map((row) => {
          const change = row.b.cycles - row.a.cycles;
          const memory = row.a.transactions || row.b.transactions;
          return make(
              'tr', {}, make('td', {class: 'pc'}, String(row.pc)),
              make('td', {class: 'ptx'}, make('code', {}, row.text)),
              make(
                  'td', {class: 'source'}, row.file ? `${row.file}:${row.line}` : '–',
                  row.source ? make('code', {title: row.source}, row.source) : null),
              ...[row.a, row.b].map(
                  (one) => make(
                      'td', {class: 'bar-cell'}, make('span', {class: 'track'}, bar(one.classes, classes, longest)),
                      make('span', {class: 'value'}, short(one.cycles)))),
              make(
                  'td',
                  {class: change < 0 ? 'less' :
                       change > 0    ? 'more' :
                                       undefined},
                  signed(change)),
              make('td', {}, pair(row.a.activity, row.b.activity, 0, ' %')),
              make('td', {}, row.a.splits || row.b.splits ? pair(row.a.splits, row.b.splits) : ''),
              make('td', {}, memory ? pair(row.a.transactions, row.b.transactions, 1) : ''),
              make('td', {}, row.a.misses || row.b.misses ? pair(row.a.misses, row.b.misses) : ''));
        })));
    more.hidden = rows.length <= SHOWN;
    more.textContent = all ? `Only the first ${SHOWN}` : `All ${rows.length} instructions`;
  });
  state.subscribe(() => card.refresh());
}
