import { type Gateway, PresenceError } from '@open-presence/client';
import type { ContinuedLog } from '@open-presence/gateway';

/** How many entries one step reads. */
const STEP = 1000;
/** How many reported entries are remembered, to report each only once. After that, all are reported again. */
const MAX_REPORTED = 10_000;

/** A gateway, and the copy of its log. */
export interface CopiedOrigin {
  readonly gateway: Gateway;
  readonly copy: ContinuedLog;
  readonly signal: AbortSignal;
  /** Called for an entry that has changed at the origin since it was copied. The copy is right. */
  readonly onChanged: (seq: number, description: string) => void;
}

/**
 * Reads copied entries from their origin again, and verifies them: a copy that follows the log does not
 * see later changes to them. Starts over after the last entry.
 */
export class OriginCheck {
  readonly #origin: CopiedOrigin;
  /** Everything up to here was read. */
  #checked = 0;
  readonly #reported = new Set<number>();

  constructor(origin: CopiedOrigin) {
    this.#origin = origin;
  }

  /** Verifies the next entries. Throws if the origin cannot be read. */
  async step(): Promise<void> {
    const { gateway, copy, signal } = this.#origin;
    const { log, head } = copy.checkpoint();
    if (this.#checked >= head) this.#checked = 0;
    if (head === 0) return;
    const link = copy.linkAt(this.#checked);
    if (link === undefined) {
      // The entry is unreadable here.
      this.#checked += 1;
      return;
    }
    const from = { log, head: this.#checked, link };
    const limit = Math.min(STEP, head - this.#checked);
    const lines = gateway.logLines({ from, limit, signal });
    try {
      for (let step = await lines.next(); ; step = await lines.next()) {
        if (step.done !== true) continue;
        const end = step.value;
        this.#checked = end.head;
        if (end.link !== (copy.linkAt(end.head) ?? end.link))
          this.#report(
            end.head,
            `Entry ${end.head} has another link: it or one before was changed.`,
          );
        return;
      }
    } catch (error) {
      if (!isOfEntry(error)) throw error;
      this.#checked = Math.max(error.seq, this.#checked + 1);
      this.#report(error.seq, error.message);
    } finally {
      await lines.return(from);
    }
  }

  #report(seq: number, description: string): void {
    if (this.#reported.has(seq)) return;
    if (this.#reported.size === MAX_REPORTED) this.#reported.clear();
    this.#reported.add(seq);
    this.#origin.onChanged(seq, description);
  }
}

function isOfEntry(error: unknown): error is PresenceError & { readonly seq: number } {
  if (!(error instanceof PresenceError) || error.seq === undefined) return false;
  return error.code === 'broken-chain' || error.code === 'unreadable-entry';
}
