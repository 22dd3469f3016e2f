/** For the tests of intake: the grammar of the real language, and a spool in memory. */
import { readFileSync } from 'node:fs';

import { parseLanguage } from '@open-presence/protocol/language-file';

import type { Spool } from '../log/log.ts';
import { createGrammar, type Grammar } from './grammar.ts';

const file = new URL('../../../protocol/mova-snu.yaml', import.meta.url);

export const grammar: Grammar = createGrammar(
  parseLanguage(readFileSync(file, 'utf8'), 'mova-snu.yaml'),
);

export class ArraySpool implements Spool {
  readonly written: Buffer[] = [];
  disposed = false;

  write(bytes: Uint8Array): Promise<void> {
    this.written.push(Buffer.from(bytes));
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.disposed = true;
    return Promise.resolve();
  }

  get text(): string {
    return Buffer.concat(this.written).toString();
  }
}
