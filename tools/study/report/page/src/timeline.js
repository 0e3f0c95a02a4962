// When the warps of some thread blocks ran and waited at barriers, of run B.
import {axis, Card, chartBase, make, number, short} from './card.js';
import {theme} from './theme.js';

export function mountTimeline(parent, study, state) {
  const card = new Card(parent, {
    id: 'timeline',
    title: 'Warps over time',
    help:
        'Rows are warps. Full height: from dispatch, or the last barrier, to the next one or the exit; narrow: waiting at the barrier, or exited before the block retires. Drag the slider or scroll to zoom.',
  });
  const which = make(
      'select', {id: 'timeline-run', onchange: () => card.render()}, make('option', {value: 'b'}, 'B'),
      make('option', {value: 'a'}, 'A'));
  card.tools.append(make('label', {}, 'Run ', which));
  const warps = () => study.cell(state.kernel, state[which.value])?.warps;
  // [row, start, end, waits] of each piece.
  const pieces = (list) => list.flatMap(([, , , , start, ...lengths], row) => {
    let at = start;
    return lengths.flatMap((length, i) => {
      const piece = [row, at, at + length, i % 2];
      at += length;
      return length > 0 ? [piece] : [];
    });
  });
  const label = ([launch, block, warp, sm]) => `${
      study.kernels[state.kernel].launches > 1 ? `launch ${launch + 1}, ` : ''}block ${block}, warp ${warp} (SM ${sm})`;
  card.showChart({
    empty: 'No warps were recorded: replay with --warp-phases BLOCKS.',
    height: () => Math.min(700, 110 + 12 * Math.max(6, warps()?.list.length ?? 0)),
    option() {
      card.title.textContent = `Warps over time, ${study.runs[state[which.value]].name}`;
      const shown = warps();
      if (!shown) return null;
      const data = pieces(shown.list);
      const colors = theme();
      return chartBase({
        legend: {show: false},
        grid: {left: 46, right: 30, top: 8, bottom: 72},
        tooltip: {
          ...chartBase().tooltip,
          formatter: ({value: [row, start, end, waits]}) => `<b>${label(shown.list[row])}</b><br>${
              waits ? 'waits' : 'runs'} from ${number(start)} to ${number(end)}: ${number(end - start)} cycles`
        },
        xAxis: axis({
          type: 'value',
          min: 0,
          max: Math.max(...data.map(([, , end]) => end)),
          name: 'cycles of the kernel',
          nameGap: 22,
          axisLabel: {formatter: short, showMaxLabel: false}
        }),
        yAxis: axis({
          type: 'value',
          min: -0.5,
          max: shown.list.length - 0.5,
          inverse: true,
          name: 'warps',
          nameGap: 30,
          minInterval: 1,
          splitLine: {show: false},
          axisLabel: {showMinLabel: false, showMaxLabel: false}
        }),
        dataZoom: [
          {type: 'slider', bottom: 6, height: 18, filterMode: 'weakFilter', labelFormatter: (value) => short(value)},
          {type: 'inside', filterMode: 'weakFilter'}
        ],
        series: [{
          type: 'custom',
          data,
          encode: {x: [1, 2], y: 0},
          clip: true,
          progressive: 5000,
          renderItem(_, api) {
            const [x, y] = api.coord([api.value(1), api.value(0)]);
            const right = api.coord([api.value(2), api.value(0)])[0];
            const height = Math.max(1, api.size([0, 1])[1] * 0.8);
            const waits = api.value(3) === 1;
            return {
              type: 'rect',
              shape: {
                x,
                y: y - height / 2 + (waits ? height * 0.3 : 0),
                width: Math.max(0.7, right - x),
                height: waits ? height * 0.4 : height
              },
              style: {
                fill: waits ? '#e58a45' : '#3b6fb6',
                opacity: waits ? 0.75 : 1,
                stroke: colors.card,
                lineWidth: height > 5 ? 0.5 : 0
              }
            };
          },
        }],
      });
    },
    table: () => ({
      head: ['warp', 'starts', 'ends', 'cycles at barriers'],
      rows: warps().list.map((warp) => {
        const [, , , , start, ...lengths] = warp;
        return [
          label(warp), number(start), number(start + lengths.reduce((x, y) => x + y, 0)),
          number(lengths.filter((_, i) => i % 2).reduce((x, y) => x + y, 0))
        ];
      }),
    }),
  });
  state.subscribe(() => card.refresh());
}
