// Makes the page of `heddle report` of the sources in src/ and the parts of ECharts that they use: one HTML file with
// marks for title and data (tools/study/report/report_page.cc puts them in).
//
//   node build.mjs FOLDER_WITH_NODE_MODULES OUTPUT
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const [modules, output] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(modules, 'package.json'));
const {buildSync} = require('esbuild');

const bundle = buildSync({
  entryPoints: [join(here, 'src', 'main.js')],
  nodePaths: [join(modules, 'node_modules')],
  bundle: true,
  minify: true,
  charset: 'utf8',
  format: 'iife',
  target: 'es2022',
  legalComments: 'none',  // the page has the licences in full
  write: false,
});
const script = bundle.outputFiles[0].text.replaceAll('</script', '<\\/script').trim();
const style = readFileSync(join(here, 'src', 'page.css'), 'utf8');

// Licence texts of everything that is in the bundle.
const licence = (name, file) => {
  const folder = join(modules, 'node_modules', name);
  const {version} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
};
const licences =
    [
      `${licence('echarts', 'LICENSE')}\n\n${
          readFileSync(join(modules, 'node_modules/echarts/NOTICE'), 'utf8').trim()}`,
      licence('zrender', 'LICENSE'),
      licence('tslib', 'LICENSE.txt'),
    ].join(`\n\n${'-'.repeat(80)}\n\n`)
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;');

const hash = createHash('sha256').update(script).digest('base64');
const page = readFileSync(join(here, 'src', 'page.html'), 'utf8')
                 .replace('{{STYLE}}', () => style)
                 .replace('{{SCRIPT-HASH}}', () => `'sha256-${hash}'`)
                 .replace('{{LICENCES}}', () => licences)
                 .replace('{{SCRIPT}}', () => script);
writeFileSync(output, page);
