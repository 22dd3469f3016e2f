/**
 * The conformance suite as tests. Cases run side by side: a gateway is used by many at once, and
 * no case may depend on being alone.
 */
import { suite, test } from 'node:test';

import { GROUPS } from './cases.ts';
import { Gateway } from './gateway.ts';
import { REQUIREMENTS } from './requirements.ts';
import { PATIENCE_MS } from './until.ts';

const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = REQUIREMENTS;

/** Declares every case as a test. The address is asked for when the first of them runs. */
export function conformance(name: string, address: () => string): void {
  let known: Gateway | undefined;
  suite(name, { concurrency: true }, () => {
    for (const [group, cases] of Object.entries(GROUPS)) {
      suite(group, { concurrency: 4 }, () => {
        for (const { section, id, variation, run } of cases) {
          const what = variation === undefined ? '' : ` (${variation})`;
          const name = `${section} ${texts[section]?.[id]}${what}`;
          test(name, { timeout: 2 * PATIENCE_MS }, async (context) => {
            known ??= new Gateway(address());
            await run(known, context);
          });
        }
      });
    }
  });
}
