// Numbers of the page of `heddle correlate`: three digits that count.
import {number, signed} from './card.js';

const digits = (value) => (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
export const short = (value) => (Number.isFinite(value) ? number(value, digits(value)) : '–');
export const signedShort = (value) => (Number.isFinite(value) ? signed(value, digits(value)) : '–');
export const errorUnit = (comparison) => (comparison.error === 'relative' ? '%' : comparison.unit);
