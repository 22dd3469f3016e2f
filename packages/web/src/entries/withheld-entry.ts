/** What pages do when what was said in an entry is taken away, or shown again, while they are open. */
import type { PageEntry } from './entry-data.ts';

/** As the gateway tells it (PROTOCOL.md section 4.7). */
export interface Withholding {
  readonly id: string;
  readonly seq: number;
  readonly at: string;
  readonly reason: string;
  readonly state?: string;
  /** As it is shown again. */
  readonly entry?: PageEntry;
}

/** How many of the newest are looked at after an interruption. */
const MAX_MISSED = 40;

/** The same entries where none of them was withheld or shown again. */
export function withoutWithheld(
  entries: readonly PageEntry[],
  withholdings: readonly Withholding[],
): readonly PageEntry[] {
  const changed = entries.map((entry) => withoutWords(entry, withholdings));
  return changed.some((entry, at) => entry !== entries[at]) ? changed : entries;
}

function withoutWords(entry: PageEntry, withholdings: readonly Withholding[]): PageEntry {
  const isWithheld = (id: string | undefined): boolean =>
    withholdings.some((one) => one.id === id && one.entry === undefined);
  const { id, seq, kind, room, timestamp, replies, answers, answered, ...said } = entry;
  const left = answers && withoutWithheld(answers, withholdings);
  const found = withholdings.find((withholding) => withholding.id === id);
  const isKept = answered === undefined || !isWithheld(said.inReplyTo);
  if (found === undefined && isKept && left === answers) return entry;
  if (found?.entry !== undefined)
    return { ...found.entry, ...(replies && { replies }), ...(left && { answers: left }) };
  const own = { id, seq, kind, room, timestamp, ...(replies && { replies }) };
  const shown = { ...own, ...(left && { answers: left }) };
  if (found !== undefined) {
    return { ...shown, text: '', withheld: { at: found.at, reason: found.reason } };
  }
  return { ...shown, ...said, ...(answered && isKept && { answered }) };
}

/** What was withheld or hidden while no stream was open, and is. Rejects where the gateway cannot be reached. */
export async function fetchWithheld(): Promise<readonly Withholding[]> {
  const answer = await fetch(`/api/withheld?limit=${MAX_MISSED}`);
  const { withheld } = (await answer.json()) as { readonly withheld: readonly Withholding[] };
  // The newest case of an entry comes first.
  const known = new Set<string>();
  return withheld.filter(({ id, state }) => {
    const isNewest = !known.has(id);
    known.add(id);
    return isNewest && state !== 'shown';
  });
}
