/** A place in which people and AI systems have met for six weeks, for pictures of the pages. */
import { readFile } from 'node:fs/promises';

import { asObject, asString, parseJson } from '../../conformance/value.ts';
import { contribute } from '../requests.ts';

/**
 * One to a line: how many days ago it was said, its kind and its members. Replies find what they answer
 * by its name.
 */
const UTTERANCES = new URL('seeded-place.ndjson', import.meta.url);
const DAY_MS = 86_400_000;

/**
 * Fills a gateway of this process, whose clock it sets. Returns the ids of the entries that have replies,
 * by their names.
 */
export async function fillPlace(url: string): Promise<ReadonlyMap<string, string>> {
  const lines = (await readFile(UTTERANCES, 'utf8')).trimEnd().split('\n');
  const { now } = Date;
  const start = now();
  const ids = new Map<string, string>();
  try {
    for (const line of lines) {
      const { ago, kind, body, name, answers } = asObject(parseJson(line));
      Date.now = () => Math.floor(start - Number(ago) * DAY_MS);
      const inReplyTo = answers === undefined ? {} : { inReplyTo: ids.get(asString(answers)) };
      const id = await contribute(url, asString(kind), { ...asObject(body), ...inReplyTo });
      if (name !== undefined) ids.set(asString(name), id);
    }
  } finally {
    Date.now = now;
  }
  return ids;
}
