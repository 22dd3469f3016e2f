/** Finds what an entry answers, by the facets that it has: the thread of both, and who is answered. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { seqOfId } from '@open-presence/protocol';

import { stringValuesIn } from '../../json/string-values.ts';
import { derivedFacets } from '../../log/concern.ts';
import { facet, FACET_SIZE, seqNamedIn } from '../../log/facet.ts';
import type { Seq, WithholdingState } from '../../log/log.ts';
import { answeredIn, threadFacet, threadIn } from '../../log/thread.ts';
import { readable } from '../database.ts';
import { stateIn } from '../withholding/withheld-table.ts';
import type { EntryRow } from './entry-row.ts';

/** The id stands at the same place in each text. */
const FIND = `SELECT CAST(substr(text, 8, 36) AS TEXT) AS id, facets, (
    SELECT isErased FROM withheld WHERE withheld.seq = entries.seq
  ) AS isErased FROM entries WHERE seq = ?`;

const AT = 0x40;

interface AnsweredEntry {
  readonly id: string;
  readonly seq: Seq;
  readonly state: WithholdingState;
  readonly facets: Uint8Array;
}

/** Most entries have none: a new buffer for each would cost more than the rest. */
const NONE = Buffer.alloc(0);

export class AnsweredEntries {
  readonly #find: StatementSync;

  constructor(log: DatabaseSync) {
    this.#find = log.prepare(FIND);
  }

  /**
   * The facets of the entry `own` as they are stored, with the id of what it answers by its seq. If it answers no
   * entry before it, or an unreadable one, it starts its own thread.
   */
  withThread(own: Seq, facets: Uint8Array): Uint8Array {
    const named = seqNamedIn(facets);
    const earlier = named !== undefined && named < own ? this.#at(named) : undefined;
    const answered = named === undefined ? this.#answered(answeredIn(facets)) : earlier;
    if (answered === undefined) return facets;
    const others = named === undefined ? facets : facets.subarray(0, -FACET_SIZE);
    const id = named === undefined ? [] : [facet('inReplyTo', answered.id)];
    const thread = threadFacet(threadIn(answered.facets) ?? answered.seq);
    return Buffer.concat([others, ...id, thread]);
  }

  /**
   * The facets of a small entry that only indexes have. One of them names the author of the entry that it answers,
   * while that is shown; with `withHidden` also while it is hidden.
   */
  derived(row: EntryRow, withHidden = false): Buffer {
    if (row.withheld !== undefined) return NONE;
    const found = this.#answered(row.answered);
    const isNamed = found?.state === 'shown' || (withHidden && found?.state === 'hidden');
    const body = row.text.subarray(row.head);
    const mayMention = row.large === undefined && body.includes(AT);
    if (found === undefined && !mayMention) return NONE;
    const texts = mayMention ? stringValuesIn(body) : [];
    return derivedFacets(texts, isNamed ? found.facets : undefined);
  }

  #answered(id: string | undefined): AnsweredEntry | undefined {
    const seq = id === undefined ? undefined : seqOfId(id);
    const found = seq === undefined ? undefined : this.#at(seq);
    return found?.id === id ? found : undefined;
  }

  #at(seq: Seq): AnsweredEntry | undefined {
    const found = readable(() => this.#find.get(seq));
    if (found === undefined) return undefined;
    const state = stateIn(found['isErased'] ?? 5);
    return { id: String(found['id']), seq, state, facets: found['facets'] as Uint8Array };
  }
}
