/** Makes entries of messages, within the transaction of `Writer`: the same ones on every copy. */
import type { DatabaseSync } from 'node:sqlite';

import { StorageFault } from '../../storage-fault.ts';
import type { PackedDraft, WriteResult } from '../../log/packed-drafts.ts';
import type { DraftForm, StreamPosition, UnpackedBatch } from '../../log/ordered-batch.ts';
import type { EntryAppender } from '../writer/entry-appender.ts';
import { saltsOf } from '../log/chain.ts';
import { StreamMessages } from './stream-messages.ts';
import { StreamProgress } from './stream-progress.ts';

export class MessageApplier {
  readonly #entries: EntryAppender;
  readonly #progress: StreamProgress;
  readonly #messages: StreamMessages;

  constructor(db: DatabaseSync, entries: EntryAppender) {
    this.#entries = entries;
    this.#progress = new StreamProgress(db);
    this.#messages = new StreamMessages(db);
  }

  /** Returns the results of its drafts. Undefined for a void message, or one that was applied before. */
  apply(batch: UnpackedBatch): readonly WriteResult[] | undefined {
    const { position, drafts } = batch;
    const messages = this.#messages;
    const action = this.#progress.advance(position, batch.time, batch);
    if (action !== 'skip')
      for (const name of batch.unusedUploads ?? []) messages.unusedUpload(name);
    if (action === 'unused' && drafts.length > 0) messages.unused(position);
    if (action !== 'apply') return undefined;
    const first = this.#entries.seq + 1;
    const results = this.#applyDrafts(batch);
    messages.applied(position, first, results);
    for (const [index, { outcome }] of results.entries()) {
      const large = drafts[index]?.large;
      if (large !== undefined && outcome !== 'appended') messages.unusedUpload(large.name);
    }
    return results;
  }

  /** To be called when the messages of the transaction are applied. */
  store(position: Pick<StreamPosition, 'stream' | 'resumeAt'>): void {
    this.#progress.store({ ...position, head: this.#entries.seq });
  }

  #applyDrafts({ drafts, nonce, time, forms }: UnpackedBatch): WriteResult[] {
    const now = Math.max(this.#entries.time, time);
    return drafts.map((draft, index) => {
      const form = forms?.[index] ?? { salts: saltsOf(nonce, index) };
      if ('isRefused' in form) return this.#entries.withoutBody(draft);
      const result = this.#applyDraft(draft, now, form);
      // The other copies can read the entry that this one cannot.
      if (result.outcome === 'unavailable')
        throw new StorageFault('An entry with the idempotency key of a draft cannot be read.');
      return result;
    });
  }

  #applyDraft(draft: PackedDraft, time: number, form: DraftForm): WriteResult {
    if ('salts' in form) return this.#entries.append(draft, time, form.salts);
    if ('repeats' in form) return this.#entries.repeated(form.repeats);
    return this.#entries.appendWithheld(draft, time, form);
  }
}
