// Light and dark, by the system's wish until the reader chooses.

const THEMES = {
  light:
      {text: '#1b1f24', muted: '#5d6670', line: '#d9dde2', card: '#ffffff', mark: '#1b1f24', neutral: [246, 246, 244]},
  dark: {text: '#e6e9ed', muted: '#9aa4af', line: '#363d46', card: '#1b2027', mark: '#ffffff', neutral: [44, 50, 58]},
};
let present = 'light';

export const theme = () => THEMES[present];
export const isDark = () => present === 'dark';
export const initialTheme = () => (window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

export function applyTheme(name) {
  present = name;
  document.documentElement.dataset.theme = name;
  const button = document.getElementById('theme');
  button.textContent = name === 'dark' ? 'Light' : 'Dark';
  button.setAttribute('aria-pressed', String(name === 'dark'));
}

// One colour for each run that is shown together; with the hatching by its side (card.js) for more than eight.
export const SERIES = ['#3b6fb6', '#e58a45', '#3d8f5a', '#e0607e', '#8e4a9e', '#63b8d8', '#7a3b2e', '#d9b23c'];

const mix = (a, b, share) => a.map((value, i) => Math.round(value + (b[i] - value) * share));
const css = (color) => `rgb(${color.join(',')})`;
const luminance = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b) / 255;

// `at` from -1 (orange) by 0 (neutral) to 1 (blue): {background, text}.
export function diverging(at) {
  const neutral = THEMES[present].neutral;
  const ends = present === 'dark' ? [[230, 140, 70], [86, 160, 225]] : [[190, 90, 20], [28, 92, 168]];
  const color = mix(neutral, ends[at < 0 ? 0 : 1], Math.min(1, Math.abs(at)));
  return {background: css(color), text: luminance(color) > 0.55 ? '#14181d' : '#ffffff'};
}

// From 0 to 1 in steps that are equal to the eye and in grey (dark violet by green to yellow); `at` 0 is the fewest.
const STEPS = [
  [68, 1, 84], [70, 50, 126], [54, 92, 141], [39, 127, 142], [31, 161, 135], [74, 193, 109], [160, 218, 57],
  [253, 231, 37]
];
export function sequential(at) {
  const least = present === 'dark' ? 0.14 : 0;  // violet on black is not seen
  const place = (least + (1 - least) * Math.min(1, Math.max(0, at))) * (STEPS.length - 1);
  const below = Math.min(STEPS.length - 2, Math.floor(place));
  return css(mix(STEPS[below], STEPS[below + 1], place - below));
}
