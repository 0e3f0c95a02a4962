// A card: a heading, a chart, and the same numbers as a table. Charts are drawn when they come into view.
import {BarChart, CustomChart, LineChart, ScatterChart} from 'echarts/charts';
import {AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent} from 'echarts/components';
import * as echarts from 'echarts/core';
import {CanvasRenderer} from 'echarts/renderers';

import {isDark, theme} from './theme.js';

echarts.use([
  BarChart, CustomChart, LineChart, ScatterChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent,
  MarkLineComponent, TooltipComponent, CanvasRenderer
]);

const cards = [];
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const card = cards.find((one) => one.element === entry.target);
    card.visible = entry.isIntersecting;
    if (card.visible && card.stale) card.render();
  }
}, {rootMargin: '400px'});

// An element: make('div', {class: 'x', onclick}, child, 'text', ...).
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value);
    else if (name === 'style')
      Object.assign(element.style, value);
    else
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const number = (value, digits = 0) =>
    (Number.isFinite(value) ?
         value.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits}) :
         '–');
export const signed = (value, digits = 0) => (value > 0     ? '+' :
                                                  value < 0 ? '−' :
                                                              '±') +
    number(Math.abs(value), digits);
export const short = (value) => {
  const units = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  const found = units.find(([size]) => Math.abs(value) >= size);
  return found ? `${+ (value / found[0]).toPrecision(3)} ${found[1]}` : `${+ value.toPrecision(3)}`;
};
export const escaped = (text) =>
    String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

// Hatching of a class in charts; page.css has the same for tables.
export function hatching(kind) {
  if (!kind) return 'none';
  const color = 'rgba(255,255,255,0.55)';
  const stripes = (rotation) => ({symbol: 'rect', color, dashArrayX: [1, 0], dashArrayY: [2, 5], rotation});
  switch (kind) {
    case 'up':
      return stripes(-Math.PI / 4);
    case 'down':
      return stripes(Math.PI / 4);
    case 'flat':
      return stripes(0);
    case 'upright':
      return stripes(Math.PI / 2);
    case 'dots':
      return {symbol: 'circle', color, symbolSize: 0.7, dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0]};
    case 'cross':
      return {symbol: 'rect', color, dashArrayX: [[4, 4], [0, 4, 4, 0]], dashArrayY: [4, 0]};
    default:
      return {symbol: 'diamond', color, symbolSize: 0.9, dashArrayX: [6, 3], dashArrayY: [6, 3]};
  }
}
export const HATCHES = [null, 'up', 'dots', 'down', 'cross', 'flat', 'upright', 'grid'];

// What all charts have in common.
export function chartBase(extra = {}) {
  const colors = theme();
  return {
    animation: false,
    darkMode: isDark(),
    backgroundColor: 'transparent',
    textStyle:
        {fontFamily: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif', color: colors.text, fontSize: 12},
    aria: {enabled: true, label: {enabled: false}},  // hatching; the card names the chart, and its table says it
    tooltip: {
      trigger: 'item',
      confine: true,
      appendTo: 'body',
      backgroundColor: colors.card,
      borderColor: colors.line,
      textStyle: {color: colors.text, fontSize: 12},
    },
    legend:
        {top: 0, left: 0, itemWidth: 18, itemHeight: 12, itemGap: 14, textStyle: {color: colors.text, fontSize: 12}},
    ...extra,
  };
}
// Rows that a legend with these names takes in a chart, and the pixels from its top that they need.
export const legendHeight = (names, width) => {
  let rows = 1;
  let used = 0;
  for (const name of names) {
    const own = 40 + 7 * name.length;
    if (used + own > width) {
      rows += 1;
      used = 0;
    }
    used += own;
  }
  return 10 + 22 * rows;
};
export function axis(extra = {}) {
  const colors = theme();
  return {
    axisLine: {lineStyle: {color: colors.line}},
    axisTick: {show: false},
    axisLabel: {color: colors.muted, fontSize: 12, ...extra.axisLabel},
    splitLine: {lineStyle: {color: colors.line, opacity: 0.7}},
    nameTextStyle: {color: colors.muted, fontSize: 12},
    nameLocation: 'middle',
    ...Object.fromEntries(Object.entries(extra).filter(([key]) => key !== 'axisLabel')),
  };
}

export class Card {
  // `help` says what is shown and how to read it.
  constructor(parent, {id, title, help, half = false}) {
    this.title = make('h2', {id: `${id}-title`}, title);
    this.help = make('p', {class: 'help'}, help);
    this.tools = make('div', {class: 'tools'});
    this.body = make('div', {class: 'body'});
    this.element = make(
        'section', {id, class: half ? 'card half' : 'card', 'aria-labelledby': `${id}-title`},
        make('div', {class: 'head'}, this.title, this.tools), this.help, this.body);
    parent.append(this.element);
    this.stale = true;
    this.visible = false;
    cards.push(this);
    observer.observe(this.element);
  }

  get width() {
    return this.body.clientWidth;
  }

  // `draw` is called whenever the card is to show something new.
  onRender(draw) {
    this.draw = draw;
  }

  // A chart of the option that `option` returns, null for none; `height` and `table` ({head, rows}) follow it; `click`
  // hears what was clicked. `empty` is said where there is nothing to show.
  showChart({option, height, table, click, empty}) {
    const holder = make('div', {class: 'chart', role: 'img', 'aria-labelledby': this.title.id});
    const tableHolder = make('div', {class: 'table-holder', hidden: true, tabindex: 0});
    const message = make('p', {class: 'empty', hidden: true}, empty ?? 'These results have nothing to show here.');
    const button = make('button', {type: 'button', class: 'quiet', 'aria-pressed': 'false'}, 'Table');
    this.tools.append(button);
    this.body.append(holder, tableHolder, message);
    let asTable = false;
    button.addEventListener('click', () => {
      asTable = !asTable;
      button.setAttribute('aria-pressed', String(asTable));
      button.textContent = asTable ? 'Chart' : 'Table';
      this.render();
    });
    this.onRender(() => {
      const shown = option();
      message.hidden = shown !== null;
      button.hidden = shown === null;
      tableHolder.hidden = shown === null || !asTable;
      holder.hidden = shown === null || asTable;
      if (shown === null) return;
      if (asTable) {
        const {head, rows} = table();
        tableHolder.replaceChildren(make(
            'table', {class: 'plain'},
            make('thead', {}, make('tr', {}, head.map((text) => make('th', {scope: 'col'}, String(text))))),
            make(
                'tbody', {},
                rows.map(
                    ([first, ...rest]) => make(
                        'tr', {}, make('th', {scope: 'row'}, String(first)),
                        rest.map((cell) => make('td', {}, String(cell))))))));
        return;
      }
      holder.style.height = `${height()}px`;
      if (!this.chart) {
        this.chart = echarts.init(holder, null, {renderer: 'canvas'});
        if (click) this.chart.on('click', click);
      }
      this.chart.resize();
      this.chart.setOption(shown, true);
    });
  }

  refresh() {
    this.stale = true;
    if (this.visible) this.render();
  }

  render() {
    if (document.getElementById('main').hidden || !this.draw) return;
    this.stale = false;
    this.draw();
  }
}

export function renderAll() {
  for (const card of cards) card.render();
}
export function resizeAll() {
  for (const card of cards) card.refresh();
}
