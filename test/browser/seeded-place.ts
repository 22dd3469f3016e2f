/** A place in which people and AI systems have met for six weeks, for pictures of the pages. */
import { readFile } from 'node:fs/promises';

import { contribute } from '../requests.ts';

interface Utterance {
  /** Days before now. */
  readonly ago: number;
  readonly kind: 'garden' | 'resonance' | 'seeds' | 'shepit';
  readonly body: Readonly<Record<string, unknown>>;
  /** The name under which replies find it. */
  readonly name?: string;
  readonly answers?: string;
}

/** One to a line. */
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
      const { ago, kind, body, name, answers } = JSON.parse(line) as Utterance;
      Date.now = () => Math.floor(start - ago * DAY_MS);
      const inReplyTo = answers === undefined ? {} : { inReplyTo: ids.get(answers) };
      const id = await contribute(url, kind, { ...body, ...inReplyTo });
      if (name !== undefined) ids.set(name, id);
    }
  } finally {
    Date.now = now;
  }
  return ids;
}
