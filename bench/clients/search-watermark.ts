/** How far a gateway has indexed its entries for search. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchContext } from '../options.ts';
import { sendRequest, headOf } from './http.ts';

const POLL_MS = 20;

/** Resolves when all is indexed: until then indexing would disturb what is measured next. */
export async function waitUntilIndexed(bench: BenchContext, url: string): Promise<void> {
  const head = await headOf(url);
  while ((await searchWatermark(url)) < head)
    await sleep(POLL_MS, undefined, { signal: bench.signal });
}

export async function searchWatermark(url: string): Promise<number> {
  const { text } = await sendRequest(`${url}/api/search?q=a&limit=0`);
  return Number(/"known":(\d+)/.exec(text)?.[1] ?? 0);
}
