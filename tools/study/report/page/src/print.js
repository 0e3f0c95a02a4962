// Paper is always light: cards are drawn so before printing, and as they were after it.
import {renderAll} from './card.js';
import {applyTheme, isDark} from './theme.js';

let wasDark = false;

export function watchPrinting() {
  window.addEventListener('beforeprint', () => {
    wasDark = isDark();
    applyTheme('light');
    renderAll();
  });
  window.addEventListener('afterprint', () => {
    applyTheme(wasDark ? 'dark' : 'light');
    renderAll();
  });
}
