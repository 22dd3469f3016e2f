/** Takes the words of a withheld entry out of an open page, and puts them back when it is shown again. */
import type { WithholdingDocument } from '@open-presence/protocol';

import { fetchJson } from '../fetch-json.ts';
import type { PageEntry } from './entry-data.ts';

/** One withholding of an entry, or the end of one, as the gateway reports it (PROTOCOL.md section 4.7). */
export interface Withholding
  extends
    Pick<WithholdingDocument, 'number' | 'id' | 'seq' | 'at' | 'reason'>,
    Partial<Pick<WithholdingDocument, 'state'>> {
  /** The entry, if it is shown again. */
  readonly entry?: PageEntry;
}

/** Applies withholdings to entries. Returns the same array if nothing changes. */
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

/** Of more cases than this, a page is made anew. */
const MAX_CASES = 200;

/**
 * What became of each entry in the cases after a number: its newest case, the newest of all first. Undefined if there
 * are very many. Rejects if the gateway cannot be reached.
 */
export async function fetchCases(after: number): Promise<readonly Withholding[] | undefined> {
  const { withheld, next } = (await fetchJson(
    `/api/withheld?after=${after}&limit=${MAX_CASES}`,
  )) as { readonly withheld: readonly Withholding[]; readonly next: string | null };
  if (next !== null) return undefined;
  const known = new Set<string>();
  return withheld.filter(({ id }) => {
    const isNewest = !known.has(id);
    known.add(id);
    return isNewest;
  });
}
