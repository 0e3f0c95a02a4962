// Tables of the pages.
import {make} from './card.js';

// Texts of the first `texts` columns, and what stands above them, are on the left; the rest, numbers, on the right.
// Cells are texts, elements, or ready cells.
export function table(head, texts, rows) {
  const side = (column) => (column < texts ? {class: 'text'} : {});
  const cellOf = (cell, column) => {
    if (column === 0) return make('th', {scope: 'row'}, cell);
    return cell instanceof HTMLTableCellElement ? cell : make('td', side(column), cell);
  };
  const heads = head.map((text, column) => make('th', {scope: 'col', ...side(column)}, text));
  const body = rows.map((row) => make('tr', {}, row.map(cellOf)));
  return make(
      'div', {class: 'table-holder', tabindex: 0},
      make('table', {class: 'plain'}, make('thead', {}, make('tr', {}, heads)), make('tbody', {}, body)));
}
