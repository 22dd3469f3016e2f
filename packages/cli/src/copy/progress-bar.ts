/** Shows a line of progress on standard error, if that is a terminal. */
import type { ProcessContext } from '../process-context.ts';
import { CLEAR_LINE } from '../terminal-log.ts';

const INTERVAL_MS = 200;
const WIDTH = 24;

export class ProgressBar implements Disposable {
  readonly #stderr: ProcessContext['stderr'];
  #shownAt = 0;

  constructor({ stderr }: Pick<ProcessContext, 'stderr'>) {
    this.#stderr = stderr;
  }

  /** `share`: from 0 to 1, if it is known. */
  show(entries: number, share: number | undefined): void {
    const now = performance.now();
    if (this.#stderr.isTTY !== true || now - this.#shownAt < INTERVAL_MS) return;
    this.#shownAt = now;
    const about = share === undefined ? '' : bar(share);
    this.#stderr.write(CLEAR_LINE + about + entryCount(entries));
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  clear(): void {
    if (this.#shownAt > 0) this.#stderr.write(CLEAR_LINE);
    this.#shownAt = 0;
  }
}

export function entryCount(entries: number): string {
  return `${entries.toLocaleString('en')} ${entries === 1 ? 'entry' : 'entries'}`;
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * WIDTH);
  const percent = `${Math.floor(Math.min(1, share) * 100)}`.padStart(3);
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${percent} %  `;
}
