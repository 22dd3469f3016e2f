/** What common JSON readers refuse (PROTOCOL.md section 4.8). */
import assert from 'node:assert/strict';

const nested = (depth: number): string => `"n":${'['.repeat(depth)}${']'.repeat(depth)}`;
/** Members of an entry that common JSON readers refuse as they are spelled. */
export const RESPELLED: readonly string[] = [
  String.raw`"a":"quokka \ud83d"`,
  String.raw`"\ud83d":1`,
  String.raw`"a":"\uDE00"`,
  String.raw`"a":"\ude00\ud83d"`,
  String.raw`"to":["me","\ud83d"]`,
  '"1\u0085":"2\u20283\u2029"',
];
/** Members that common JSON readers refuse in any spelling. */
export const OMITTED: readonly string[] = [
  `"n":${'1'.repeat(5000)}`,
  '"n":1e999',
  String.raw`"a":{"\u0000b":1}`,
  '"n":-1e999',
  `"n":0.${'0'.repeat(5000)}`,
  ...[65, 110, 600, 20_000].map(nested),
];

/** Says each in an entry of its own, small and in a file. */
export async function sayOddEntries(url: string): Promise<void> {
  for (const member of [...RESPELLED, ...OMITTED])
    for (const padding of ['', `,"pad":"${'p'.repeat(300_000)}"`]) {
      const body = `{${member}${padding}}`;
      const answer = await fetch(`${url}/api/seeds`, { method: 'POST', body });
      if (answer.status !== 201) throw new Error(await answer.text());
    }
}

/** All entries as a listing has them, and each as it was spelled. */
export async function formsOf(url: string): Promise<string[]> {
  const headers = { accept: 'application/x-ndjson' };
  const listing = await fetch(`${url}/api/entries?order=oldest`, { headers });
  const text = await listing.text();
  const ids = Array.from(text.matchAll(/^\{"id":"([^"]+)"/gm), ([, id]) => id);
  const exact = ids.map(async (id) => await (await fetch(`${url}/api/entries/${id}`)).text());
  return [text, ...(await Promise.all(exact))];
}

/** Holds for what `formsOf` gives if all that was said is in it, and its listing is portable. */
export function assertPortable([listing = '', ...exact]: readonly string[]): void {
  const entries = listing.split('\n').slice(0, -1);
  assert.equal(entries.length, exact.length);
  assert.equal(entries.length, 2 * (RESPELLED.length + OMITTED.length));
  for (const [at, text] of exact.entries()) {
    const entry = entries[at] ?? '';
    const replaced = text
      .replaceAll(/\\ud83d|\\ude00/gi, String.raw`\ufffd`)
      .replaceAll('1\u0085', String.raw`1\u0085`)
      .replace('2\u20283\u2029', String.raw`2\u20283\u2029`);
    const isOmitted = at >= 2 * RESPELLED.length;
    if (isOmitted)
      assert.match(entry, new RegExp(`"omitted":\\{"path":[^{]*"size":${text.length}\\}\\}$`));
    else assert.ok(entry === replaced, `entry ${at}`);
  }
}
