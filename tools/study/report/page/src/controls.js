// The controls of the whole page, and those that choose a kernel and two runs to look at.
import {make, renderAll} from './card.js';
import {applyTheme, isDark} from './theme.js';

const fill = (select, entries, chosen) => {
  select.replaceChildren(...entries.map(([value, text]) => {
    const option = make('option', {value}, text);
    option.selected = value === chosen;
    return option;
  }));
};

export function mountControls(study, state) {
  const machine = document.getElementById('machine');
  const base = document.getElementById('base');
  document.getElementById('machine-label').hidden = study.machines.length === 1;
  machine.addEventListener('change', () => state.change({machine: Number(machine.value)}));
  base.addEventListener('change', () => state.change({base: Number(base.value), a: Number(base.value)}));
  document.getElementById('theme').addEventListener('click', () => {
    applyTheme(isDark() ? 'light' : 'dark');
    renderAll();
  });
  document.getElementById('print').addEventListener('click', () => window.print());
  state.subscribe(() => {
    fill(machine, study.machines.map(({name}, i) => [i, name]), state.machine);
    fill(base, study.runsOf[state.machine].map((run) => [run, study.runs[run].name]), state.base);
  });
}

// The bar above the views of one kernel.
export function mountSelection(parent, study, state) {
  const kernel = make('select', {id: 'kernel', onchange: () => state.change({kernel: Number(kernel.value)})});
  const a = make('select', {id: 'run-a', onchange: () => state.change({a: Number(a.value)})});
  const b = make('select', {id: 'run-b', onchange: () => state.change({b: Number(b.value)})});
  const swap = make('button', {type: 'button', onclick: () => state.change({a: state.b, b: state.a})}, 'Swap A and B');
  const facts = make('span', {class: 'facts'});
  parent.append(make(
      'div', {id: 'selection', class: 'selection'}, make('label', {}, 'Kernel ', kernel), make('label', {}, 'A ', a),
      make('label', {}, 'B ', b), swap, facts));
  state.subscribe(() => {
    const runs = study.runsOf[state.machine].filter((run) => study.cell(state.kernel, run));
    const kernels =
        study.kernels.map((_, i) => i).filter((i) => study.runsOf[state.machine].some((run) => study.cell(i, run)));
    if (!runs.includes(state.a)) state.a = runs[0];
    if (!runs.includes(state.b)) state.b = runs[runs.length - 1];
    fill(kernel, kernels.map((i) => [i, study.kernels[i].name]), state.kernel);
    fill(a, runs.map((run) => [run, study.runs[run].name]), state.a);
    fill(b, runs.map((run) => [run, study.runs[run].name]), state.b);
    const {kernel: full, launches, blocks, threads} = study.kernels[state.kernel];
    facts.textContent = `${full} · ${launches} ${launches === 1 ? 'launch' : 'launches'}, ` +
        `${blocks.toLocaleString('en-US')} blocks, ${threads.toLocaleString('en-US')} threads`;
  });
}
