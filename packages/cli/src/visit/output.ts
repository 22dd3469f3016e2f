/** Writes to standard output at the pace of its reader. */
import { once } from 'node:events';
import { styleText } from 'node:util';

import type { ProcessContext } from '../process-context.ts';

type Style = Parameters<typeof styleText>[0];

const DEFAULT_WIDTH = 80;

export class Output {
  readonly #stdout: ProcessContext['stdout'];
  readonly #signal: AbortSignal;

  /** `signal`: aborted when nobody reads any longer. */
  constructor({ stdout }: ProcessContext, signal: AbortSignal) {
    this.#stdout = stdout;
    this.#signal = signal;
  }

  get isTerminal(): boolean {
    return this.#stdout.isTTY === true;
  }

  get width(): number {
    // A terminal that does not know its size says 0.
    return this.#stdout.columns || DEFAULT_WIDTH;
  }

  /** Colours only on a terminal, and as `NO_COLOR` and `FORCE_COLOR` say. */
  style(style: Style, text: string): string {
    return styleText(style, text, { stream: this.#stdout });
  }

  async write(data: string | Uint8Array): Promise<void> {
    this.#signal.throwIfAborted();
    // Nobody reads any longer, or the disk is full. The owner of the stream handles that.
    if (this.#stdout.errored) return;
    if (this.#stdout.write(data)) return;
    await once(this.#stdout, 'drain', { signal: this.#signal }).catch(() => {
      this.#signal.throwIfAborted();
    });
  }
}
