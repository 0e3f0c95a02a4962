// Opens the report: unpacks the data, makes the views in the order of the page, and links them by one state.
import {mountBars} from './bars.js';
import {mountBreakdowns} from './breakdown.js';
import {renderAll, resizeAll} from './card.js';
import {mountCompare} from './compare.js';
import {mountControls, mountSelection} from './controls.js';
import {openCorrelation} from './correlation.js';
import {mountCounters} from './counters.js';
import {readData, Study} from './data.js';
import {mountHeatmap} from './heatmap.js';
import {mountHotSpots} from './hotspots.js';
import {mountMemory} from './memory.js';
import {watchPrinting} from './print.js';
import {mountProvenance} from './provenance.js';
import {mountRoofline} from './roofline.js';
import {mountSizes} from './sizes.js';
import {State} from './state.js';
import {applyTheme, initialTheme} from './theme.js';
import {mountTimeline} from './timeline.js';

const message = document.getElementById('message');
watchPrinting();

function open(data) {
  if (data.kind === 'correlation') {
    openAsCorrelation(data);
    return;
  }
  const study = new Study(data);
  const state = new State(study);
  applyTheme(initialTheme());
  const main = document.getElementById('main');
  mountControls(study, state);
  mountHeatmap(main, study, state);
  mountBars(main, study, state);
  mountSelection(main, study, state);
  mountCompare(main, study, state);
  mountBreakdowns(main, study, state);
  mountSizes(main, study, state);
  mountHotSpots(main, study, state);
  mountMemory(main, study, state);
  mountCounters(main, study, state);
  mountTimeline(main, study, state);
  mountRoofline(main, study, state);
  mountProvenance(main, study, state);
  message.hidden = true;
  main.hidden = false;
  state.change({});
  window.addEventListener('resize', resizeAll);
  window.addEventListener('beforeprint', renderAll);
  // For scripts that look into the page, such as its tests.
  window.heddleReport = {study, state, openedAfter: performance.now()};
}

// The same page carries what `heddle correlate` tells.
function openAsCorrelation(data) {
  applyTheme(initialTheme());
  const main = document.getElementById('main');
  openCorrelation(main, data);
  message.hidden = true;
  main.hidden = false;
  renderAll();
  window.addEventListener('resize', resizeAll);
  window.addEventListener('beforeprint', renderAll);
  window.heddleCorrelation = {data, openedAfter: performance.now()};
}

readData(document.getElementById('data').textContent).then(open).catch((error) => {
  message.hidden = false;
  message.textContent = `The report cannot be opened: ${error.message}`;
  throw error;
});
