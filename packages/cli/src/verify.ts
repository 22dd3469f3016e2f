/** `presence verify`: reads a whole log and tells whether it is as it was written. */
import { verifyLog, type VerifyEvent, type VerifyResult } from '@open-presence/gateway';
import { Command } from 'commander';

import { optionsOf, type Configuration } from './configuration.ts';

/** What the command has of the process that it runs in. */
export interface VerifySurroundings {
  /** To standard output, as it is. */
  print(text: string): void;
  /** To standard error, as it is. */
  tell(text: string): void;
  /** Whether a person looks at standard error. */
  readonly watched: boolean;
  /** Ends with this code when all is done. */
  endWith(code: number): void;
}

interface Options extends Pick<Configuration, 'data'> {
  readonly json?: boolean;
}

const FAULTY = 1;
const UNREADABLE = 2;
/** Progress is told at most so often. */
const EVERY_MS = 200;
const CLEARED = '\r\u001B[K';

export function verifyCommand(surroundings: VerifySurroundings): Command {
  const command = new Command('verify')
    .description('check that the whole log is as it was written')
    .addHelpText(
      'after',
      `\nA gateway may be running. Exits with 0 if all is well, ${FAULTY} if there are faults, ${UNREADABLE} if there is no readable log.`,
    );
  for (const option of optionsOf('data')) command.addOption(option);
  command.option('--json', 'print one JSON object');
  return command.action(async ({ data, json = false }: Options) => {
    const report = json ? new ObjectReport(surroundings) : new PlainReport(surroundings);
    try {
      const { faults } = await told(data, report);
      if (faults > 0) surroundings.endWith(FAULTY);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      surroundings.tell(`Cannot verify the log in "${data}": ${why}\n`);
      surroundings.endWith(UNREADABLE);
    }
  });
}

interface Report {
  event(event: VerifyEvent): void;
  end(result: VerifyResult): void;
}

async function told(data: string, report: Report): Promise<VerifyResult> {
  const walk = verifyLog(data);
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      report.end(step.value);
      return step.value;
    }
    report.event(step.value);
  }
}

class PlainReport implements Report {
  readonly #surroundings: VerifySurroundings;
  #toldAt = 0;

  constructor(surroundings: VerifySurroundings) {
    this.#surroundings = surroundings;
  }

  event(event: VerifyEvent): void {
    if (event.type === 'progress') {
      this.#progress(event);
      return;
    }
    this.#clear();
    const { seq, description } = event;
    const which = seq === undefined ? 'The log' : `Entry ${counted(seq)}`;
    this.#surroundings.print(`${which}: ${description}\n`);
  }

  end({ entries, bytes, faults, link }: VerifyResult): void {
    this.#clear();
    const amount = `${plural(entries, 'entry', 'entries')}, ${sized(bytes)}`;
    const state = faults === 0 ? 'unbroken' : plural(faults, 'fault', 'faults');
    const last = entries === 0 ? '' : ` Last link ${link}`;
    this.#surroundings.print(`${amount}, ${state}.${last}\n`);
  }

  #progress({ at, head }: { at: number; head: number }): void {
    const now = performance.now();
    if (!this.#surroundings.watched || head === 0 || now - this.#toldAt < EVERY_MS) return;
    this.#toldAt = now;
    const percent = Math.floor((at / head) * 100);
    this.#surroundings.tell(`${CLEARED}${percent} %, entry ${counted(at)} of ${counted(head)}`);
  }

  #clear(): void {
    if (this.#toldAt === 0) return;
    this.#toldAt = 0;
    this.#surroundings.tell(CLEARED);
  }
}

/** One object, written as it becomes known: there may be many faults. */
class ObjectReport implements Report {
  readonly #surroundings: VerifySurroundings;
  #begun = false;

  constructor(surroundings: VerifySurroundings) {
    this.#surroundings = surroundings;
  }

  event(event: VerifyEvent): void {
    if (event.type === 'progress') return;
    const { seq, description } = event;
    this.#begin();
    this.#surroundings.print(JSON.stringify({ seq: seq ?? null, what: description }));
  }

  end({ faults, ...rest }: VerifyResult): void {
    if (faults === 0) this.#surroundings.print('{"faults":[');
    this.#surroundings.print(`],${JSON.stringify(rest).slice(1)}\n`);
  }

  #begin(): void {
    this.#surroundings.print(this.#begun ? ',' : '{"faults":[');
    this.#begun = true;
  }
}

function plural(count: number, one: string, several: string): string {
  return `${counted(count)} ${count === 1 ? one : several}`;
}

function counted(count: number): string {
  return count.toLocaleString('en');
}

function sized(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let at = 0;
  let amount = bytes;
  for (; amount >= 1000 && at < units.length - 1; at += 1) amount /= 1000;
  return `${at === 0 ? amount : amount.toFixed(1)} ${units[at]}`;
}
