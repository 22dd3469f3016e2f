/** How far a gateway has read the words of its entries. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Bench } from './bench.ts';
import { ask, headOf } from './http.ts';

const LOOK_MS = 20;

/** Resolves when it has read all: until then it works on, and whatever is measured feels it. */
export async function allKnown(bench: Bench, url: string): Promise<void> {
  const head = await headOf(url);
  while ((await knownOf(url)) < head) await sleep(LOOK_MS, undefined, { signal: bench.signal });
}

export async function knownOf(url: string): Promise<number> {
  const { text } = await ask(`${url}/api/search?q=a&limit=0`);
  return Number(/"known":(\d+)/.exec(text)?.[1] ?? 0);
}
