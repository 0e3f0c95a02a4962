// One rung of the page of `heddle correlate`: ours over the card's, a point for each kernel.
import {axis, Card, chartBase, escaped, legendHeight, make, number} from './card.js';
import {errorUnit, short, signedShort} from './correlation_numbers.js';
import {SERIES, theme} from './theme.js';

// The diagonal, and the lines at which a relative error is as large as the bar. `low` and `high` are the ends.
function lines(comparison, low, high, logarithmic) {
  const steps = logarithmic ? [low, high] : Array.from({length: 2}, (_, i) => low + i * (high - low));
  const line = (name, ours, type) => ({
    name,
    type: 'line',
    symbol: 'none',
    silent: true,
    z: 1,
    color: theme().mark,
    lineStyle: {color: theme().mark, width: type === 'solid' ? 1.5 : 1, type},
    data: steps.map((card) => [card, ours(card)]),
  });
  const all = [line('equal', (card) => card, 'solid')];
  if (comparison.bar > 0) {
    const {bar} = comparison;
    const shift = comparison.error === 'relative' ? (sign) => (card) => card * (1 + sign * bar / 100) :
                                                    (sign) => (card) => card + sign * bar;
    all.push(line('bar', shift(1), 'dashed'), {...line('bar', shift(-1), 'dashed')});
  }
  return all;
}

export function mountRung(parent, data, rung) {
  const comparisons = data.comparisons.filter((one) => one.rung === rung.name && one.kernels + one.left_out > 0);
  const card = new Card(parent, {id: `rung-${rung.name}`, title: rung.title, help: rung.question, half: true});
  const select = make(
      'select', {'aria-label': `Comparison of ${rung.title}`, onchange: () => card.refresh()},
      comparisons.map((one) => make('option', {selected: one.headline, value: one.name}, one.name)));
  if (comparisons.length > 1) card.tools.append(select);
  const chosen = () => comparisons.find((one) => one.name === select.value) ?? comparisons[0];
  const points = (comparison) =>
      data.kernels.map((kernel) => ({kernel, ...kernel.compared[comparison.name]}))
          .filter(({ours, card: theirs}) => Number.isFinite(ours) && Number.isFinite(theirs));
  card.showChart({
    empty: 'The card and the replays have no number in common here.',
    height: () => 380,
    option() {
      const comparison = chosen();
      if (!comparison) return null;
      card.help.textContent = `${rung.question} ${comparison.meaning}`;
      const shown = points(comparison);
      if (shown.length === 0) return null;
      const values = shown.flatMap(({ours, card: theirs}) => [ours, theirs]);
      const logarithmic = comparison.error === 'relative' && values.every((value) => value > 0);
      const most = Math.max(...values);
      const least = Math.min(...values);
      const low = logarithmic ? least / 1.5 : 0;
      const high = (logarithmic ? most * 1.5 : most * 1.08) || 1;
      const out = rung.only_long ? shown.filter(({kernel}) => kernel.short) : [];
      const series = [
        {name: 'kernels', list: shown.filter((one) => !out.includes(one)), symbol: 'circle', color: SERIES[0]},
        {name: 'short on the card', list: out, symbol: 'emptyCircle', color: SERIES[1]},
      ].filter(({list}) => list.length > 0);
      const names = [...series.map(({name}) => name), 'equal', ...(comparison.bar > 0 ? ['bar'] : [])];
      const scale = (name, gap) => axis({
        type: logarithmic ? 'log' : 'value',
        min: low,
        max: high,
        name: `${name}, ${comparison.unit}`,
        nameGap: gap,
        axisLabel: {formatter: short, hideOverlap: true, showMinLabel: false, showMaxLabel: false},
      });
      return chartBase({
        legend: {...chartBase().legend, data: names},
        grid: {left: 82, right: 24, top: 8 + legendHeight(names, card.width), bottom: 48},
        xAxis: scale('on the card', 28),
        yAxis: scale('ours', 62),
        tooltip: {
          ...chartBase().tooltip,
          formatter: ({value, data: point}) =>
              (point?.name ? `<b>${escaped(point.name)}</b><br>ours ${short(value[1])}, the card ${
                                 short(value[0])}<br>${escaped(point.told)}` :
                             '')
        },
        series: [
          ...lines(comparison, low, high, logarithmic),
          ...series.map(
              ({name, list, symbol, color}) => ({
                name,
                type: 'scatter',
                symbol,
                symbolSize: 10,
                z: 3,
                itemStyle: {color, borderColor: symbol === 'circle' ? theme().card : color},
                data: list.map(
                    ({ours, card: theirs, error, why, kernel}) => ({
                      value: [theirs, ours],
                      name: kernel.name,
                      told: Number.isFinite(error) ? `error ${signedShort(error)} ${errorUnit(comparison)}` : why,
                    })),
              })),
        ],
      });
    },
    table() {
      const comparison = chosen();
      return {
        head: ['kernel', `ours, ${comparison.unit}`, 'the card', `error, ${errorUnit(comparison)}`, 'within the bar'],
        rows: data.kernels.map((kernel) => {
          const {ours, card: theirs, error, within, why} = kernel.compared[comparison.name];
          return [
            kernel.name, number(ours, 2), number(theirs, 2), Number.isFinite(error) ? signedShort(error) : why,
            within === undefined ? '–' :
                within           ? 'yes' :
                                   'no'
          ];
        }),
      };
    },
  });
}
