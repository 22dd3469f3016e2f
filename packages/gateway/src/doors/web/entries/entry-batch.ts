/** Some of the entries of a listing, as pages show them, and where the listing goes on. */
import type { EntryBatch, PageEntry } from '@open-presence/web/page-data';

import { yieldPeriodically } from '../../../fair-turns.ts';
import { parseSearchSelection } from '../../../intake/selection.ts';
import type { Selection } from '../../../log/log.ts';
import { everythingScope } from '../../../operations/listing-scope.ts';
import { pageSelection, readPage } from '../../../operations/read-page.ts';
import type { DoorContext } from '../../context.ts';
import { inContext, withAnswers } from './answers.ts';
import { pageEntryOf } from './page-entry.ts';

/** A batch ends with the entry by which it has this size, in UTF-16 code units. */
const MAX_SIZE = 256 * 1024;
/** About what an entry takes beside its texts. */
const OVERHEAD = 256;

/**
 * Takes the parameters of a listing, and `answers` for entries with their answers. Entries later than `last` are left out. Throws
 * `invalid-parameter`, `unknown-kind` or `unknown-room`.
 */
export async function readBatch(
  { grammar, log }: Pick<DoorContext, 'grammar' | 'log'>,
  parameters: URLSearchParams,
  last: number = log.head(),
): Promise<EntryBatch> {
  const selected = await parseSearchSelection(parameters, { ...everythingScope(), grammar, log });
  const selection = pageSelection(selected, parameters, last);
  const entries: PageEntry[] = [];
  const yieldTurn = yieldPeriodically();
  const end = await readPage(log.readEntries(selection), MAX_SIZE, async (entry) => {
    const shown = await pageEntryOf(entry);
    entries.push(shown);
    await yieldTurn();
    return shown.text.length + (shown.members?.length ?? 0) + OVERHEAD;
  });
  const shown = parameters.has('answers')
    ? await withAnswers(log, entries)
    : await inContext(log, entries);
  return { entries: shown, head: last, next: end.more ? nextCursor(selection, entries) : null };
}

/** The cursor after a batch: its last entry, or null if there is none. */
function nextCursor({ limit }: Selection, entries: readonly PageEntry[]): number | null {
  return limit === 0 ? null : (entries.at(-1)?.seq ?? null);
}
