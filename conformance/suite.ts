/**
 * The conformance suite as tests. Cases run side by side: a gateway is used by many at once, and
 * no case may depend on being alone.
 */
import { after, suite, test } from 'node:test';

import { GROUPS } from './cases.ts';
import { closeStreams } from './event-stream.ts';
import { Gateway } from './gateway.ts';
import { REQUIREMENTS } from './requirements.ts';
import { PATIENCE_MS } from './until.ts';

const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = REQUIREMENTS;

/**
 * Declares every case as a test. The address is asked for when the first of them runs. `except`: what
 * is not required, such as `1.10:one-host`, with the reason; shown as skipped for that reason. `reading`:
 * another gateway of the same cluster, at which everything is read.
 */
export function conformance(
  name: string,
  address: () => string,
  except: ReadonlyMap<string, string> = new Map(),
  reading?: () => string,
): void {
  for (const requirement of except.keys())
    if (textOf(requirement) === undefined)
      throw new Error(`There is no requirement ${requirement}.`);
  let known: Gateway | undefined;
  suite(name, { concurrency: true }, () => {
    after(() => {
      closeStreams();
      known?.[Symbol.dispose]();
    });
    for (const [group, cases] of Object.entries(GROUPS)) {
      suite(group, { concurrency: 4 }, () => {
        for (const { section, id, variation, run } of cases) {
          const what = variation === undefined ? '' : ` (${variation})`;
          const requirement = `${section}:${id}`;
          const name = `${section} ${textOf(requirement)}${what}`;
          const skip = except.get(requirement) ?? false;
          test(name, { timeout: 4 * PATIENCE_MS, skip }, async (context) => {
            known ??= new Gateway(address(), reading?.());
            await run(known, context);
          });
        }
      });
    }
  });
}

/** Undefined where there is no such requirement. */
function textOf(requirement: string): string | undefined {
  const [section = '', id = ''] = requirement.split(':');
  return texts[section]?.[id];
}
