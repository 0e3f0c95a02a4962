// Validates an RO-Crate's metadata file with the npm package `ro-crate`: prints what is not right, one line each.
// The JSON-LD context is the copy that comes with the package; nothing is fetched.
const fs = require('fs');
const path = require('path');

const library = path.join(process.cwd(), 'node_modules', 'ro-crate', 'lib');
const context = fs.readFileSync(path.join(library, 'context.json'));
globalThis.fetch = async (address) => {
  if (!String(address).startsWith('https://w3id.org/ro/crate/1.2')) throw new Error(`would fetch ${address}`);
  return new Response(context, {headers: {'content-type': 'application/ld+json'}});
};
const {Validator} = require(path.join(library, 'validator.js'));

(async () => {
  const validator = new Validator();
  validator.parseJSON(JSON.parse(fs.readFileSync(process.argv[2])));
  await validator.validate();
  const wrong = validator.results.filter((result) => result.status !== 'success');
  for (const result of wrong) console.log(result.status, result.id, result.message);
  console.log(`${validator.results.length} rules looked at`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
})();
