/**
 * `npm run conformance -- URL`: the suite against the gateway at that address. What stands in front of a
 * gateway may not let everything through: `--except SECTION:ID=REASON`, as often as needed, names
 * requirements that are not tested, and why; the reason may be left out.
 */
import { parseArgs } from 'node:util';

import { conformance } from './suite.ts';

const USAGE =
  'Usage: npm run conformance -- URL [--except SECTION:ID[=REASON]]…, such as http://127.0.0.1:8080';

const { url, except } = readArguments();
conformance(`conformance of ${url}`, () => url, new Map(except.map(exceptionOf)));

function readArguments(): { readonly url: string; readonly except: readonly string[] } {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { except: { type: 'string', multiple: true, default: [] } },
    });
    const [url, ...others] = positionals;
    if (url !== undefined && URL.canParse(url) && others.length === 0)
      return { url, except: values.except };
  } catch {
    // An unknown option.
  }
  console.error(USAGE);
  process.exit(2);
}

/** `SECTION:ID=REASON` → the requirement and the reason. */
function exceptionOf(text: string): [requirement: string, reason: string] {
  const [requirement = '', ...reason] = text.split('=');
  return [requirement, reason.join('=') || 'excepted'];
}
