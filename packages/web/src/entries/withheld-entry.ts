/** What pages do when what was said in an entry is taken away while they are open. */
import type { PageEntry } from './entry-data.ts';

/** As the gateway tells it (PROTOCOL.md section 4.7). */
export interface Withholding {
  readonly id: string;
  readonly at: string;
  readonly reason: string;
}

/** How many of the newest are looked at after an interruption. */
const MAX_MISSED = 40;

/** The same entries where none of them was withheld. */
export function withoutWithheld(
  entries: readonly PageEntry[],
  withholdings: readonly Withholding[],
): readonly PageEntry[] {
  const byId = new Map(withholdings.map((withholding) => [withholding.id, withholding]));
  if (!entries.some(({ id }) => byId.has(id))) return entries;
  return entries.map((entry) => {
    const withholding = byId.get(entry.id);
    if (withholding === undefined) return entry;
    const { id, seq, kind, room, timestamp } = entry;
    const { at, reason } = withholding;
    return { id, seq, kind, room, timestamp, text: '', withheld: { at, reason } };
  });
}

/** What was withheld while no stream was open. Rejects where the gateway cannot be reached. */
export async function fetchWithheld(): Promise<readonly Withholding[]> {
  const answer = await fetch(`/api/withheld?limit=${MAX_MISSED}`);
  const { withheld } = (await answer.json()) as { readonly withheld: readonly Withholding[] };
  return withheld;
}
