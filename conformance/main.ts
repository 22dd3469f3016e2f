/**
 * `npm run conformance -- URL`: the suite against the gateway at that address. What stands in front of a
 * gateway may not let everything through: `--except SECTION:ID=REASON`, as often as needed, names
 * requirements that are not tested, and why; the reason may be left out.
 */
import { parseArgs } from 'node:util';

import { conformance } from './suite.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { except: { type: 'string', multiple: true, default: [] } },
});
const [url] = positionals;
if (url === undefined || !URL.canParse(url)) {
  console.error(
    'Usage: npm run conformance -- URL [--except SECTION:ID[=REASON]]…, such as http://127.0.0.1:8080',
  );
  process.exitCode = 2;
} else conformance(`conformance of ${url}`, () => url, new Map(values.except.map(exceptionOf)));

/** `SECTION:ID=REASON` → the requirement and the reason. */
function exceptionOf(text: string): [requirement: string, reason: string] {
  const [requirement = '', ...reason] = text.split('=');
  return [requirement, reason.join('=') || 'excepted'];
}
