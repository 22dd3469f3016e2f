/** Reports withholdings, as they happen, to those who listen in one thread. */
import { nextTurn } from '../fair-turns.ts';
import type { Log, Withholding, WithholdingState } from '../log/log.ts';
import { isStorageFault } from '../storage-fault.ts';

/** Consecutive cases with the same state, by their numbers. */
export interface Cases {
  readonly first: number;
  readonly last: number;
  readonly state: WithholdingState;
}

interface Listener {
  /** Called with some of the cases, oldest first. */
  readonly onBatch?: (batch: readonly Withholding[]) => void;
  /** Called once for all of them, after the last batch. */
  readonly onCases: (cases: readonly Cases[]) => void;
}

const BATCH_SIZE = 256;
/** Listeners that are called in one turn of the event loop. */
const LISTENERS_PER_TURN = 32;

const notifiers = new WeakMap<Log, WithholdingNotifier>();

export class WithholdingNotifier {
  /** The one notifier of the log in this thread. */
  static of(log: Log): WithholdingNotifier {
    const notifier = notifiers.get(log) ?? new WithholdingNotifier(log);
    notifiers.set(log, notifier);
    return notifier;
  }

  readonly #log: Log;
  readonly #listeners = new Set<Listener>();
  #watching: Disposable | undefined;
  /** How many withholdings were reported, or were there before anybody listened. */
  #reported = 0;
  /** Those of the reported ones that `onCases` was not called with. */
  #cases: Cases[] = [];
  #isReporting = false;

  private constructor(log: Log) {
    this.#log = log;
  }

  /** Until the result is disposed of. */
  listen(listener: Listener): Disposable {
    this.#listeners.add(listener);
    if (this.#watching === undefined) {
      this.#reported = this.#log.withheld();
      this.#watching = this.#log.watch(() => {
        if (!this.#isReporting && this.#log.withheld() > this.#reported) void this.#report();
      });
    }
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size > 0) return;
        this.#watching?.[Symbol.dispose]();
        this.#watching = undefined;
      },
    };
  }

  async #report(): Promise<void> {
    this.#isReporting = true;
    try {
      while (this.#log.withheld() > this.#reported) {
        const last = this.#log.withheld();
        while (this.#reported < last) {
          const range = { order: 'oldest', after: this.#reported, limit: BATCH_SIZE } as const;
          const batch = await Array.fromAsync(this.#log.withholdings(range));
          this.#reported = batch.at(-1)?.number ?? last;
          for (const one of batch) addTo(this.#cases, one);
          await this.#tell(({ onBatch }) => onBatch?.(batch));
        }
        const cases = this.#cases;
        this.#cases = [];
        await this.#tell(({ onCases }) => onCases(cases));
      }
    } catch (error) {
      // A reader that misses an event asks for the list. The next withholding reports these too.
      if (!isStorageFault(error)) throw error;
    } finally {
      this.#isReporting = false;
    }
  }

  async #tell(call: (listener: Listener) => void): Promise<void> {
    let called = 0;
    for (const listener of this.#listeners) {
      call(listener);
      called += 1;
      if (called % LISTENERS_PER_TURN === 0) await nextTurn();
    }
  }
}

function addTo(cases: Cases[], { number, state }: Withholding): void {
  const open = cases.at(-1);
  if (open?.state === state) cases[cases.length - 1] = { ...open, last: number };
  else cases.push({ first: number, last: number, state });
}
