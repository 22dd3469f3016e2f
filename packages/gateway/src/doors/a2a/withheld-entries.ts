/** The entries of a task that are withheld while it is followed (PROTOCOL.md sections 4.7 and 19.4). */
import { WithholdingNotifier } from '../../feed/withholding-notifier.ts';
import type { Entry, Log, Withholding } from '../../log/log.ts';

/** Their kinds and rooms: all, where there are none. Nothing else is known of what is withheld. */
export interface Places {
  readonly kinds: readonly string[];
  readonly rooms: readonly string[];
}

export function placesOf(parameters: URLSearchParams): Places {
  return { kinds: parameters.getAll('kind'), rooms: parameters.getAll('room') };
}

/** A cursor in the list of withholdings: a reader who stalls misses none. */
export class WithheldEntries implements Disposable {
  readonly #log: Log;
  readonly #places: Places;
  readonly #listening: Disposable;
  #seen: number;
  #changed = new AbortController();

  /** Begins with the next one. */
  constructor(log: Log, places: Places) {
    this.#log = log;
    this.#places = places;
    this.#seen = log.withheld();
    this.#listening = WithholdingNotifier.of(log).listen(() => this.#changed.abort());
  }

  /** Aborted when there may be some to read. */
  get changed(): AbortSignal {
    return this.#changed.signal;
  }

  /** Yields the withheld entries that were not read yet. */
  async *read(): AsyncGenerator<Entry, void, undefined> {
    this.#changed = new AbortController();
    for await (const withholding of this.#log.withholdings({
      order: 'oldest',
      after: this.#seen,
    })) {
      this.#seen = withholding.number;
      const entry = this.#isWanted(withholding)
        ? await this.#log.entry(withholding.metadata.seq)
        : undefined;
      if (entry !== undefined) yield entry;
    }
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #isWanted({ metadata: { kind, room } }: Withholding): boolean {
    const { kinds, rooms } = this.#places;
    return (
      (kinds.length === 0 || kinds.includes(kind)) && (rooms.length === 0 || rooms.includes(room))
    );
  }
}
