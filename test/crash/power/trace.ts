/**
 * Reads what strace has recorded of one process: its system calls in the order in which they began
 * and ended, over all of its threads.
 */
import { readFile } from 'node:fs/promises';

/** The calls that are recorded, for strace. Those of the last two lines cannot be replayed. */
export const RECORDED_CALLS: string = [
  'openat,close,write,writev,pwrite64,pwritev,ftruncate,fsync,fdatasync,sendto,sendmsg',
  'mkdir,rename,link,unlink,unlinkat,rmdir',
  'open,creat,pwritev2,truncate,fallocate,copy_file_range,sendfile,dup',
  'renameat,renameat2,linkat,symlink,mkdirat',
].join();

export interface SystemCall {
  readonly thread: string;
  readonly name: string;
  /** The decoded strings among its arguments: paths and data. */
  readonly strings: readonly Buffer[];
  /** The arguments with each string replaced by nothing. */
  readonly numbers: string;
  /** What it returned; undefined when it begins. */
  readonly result: number | undefined;
}

/** Yields each call twice: when it begins, and when it ends. */
export async function* readTrace(file: string): AsyncGenerator<SystemCall> {
  const unfinished = new Map<string, string>();
  for (const line of (await readFile(file, 'latin1')).split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>/.exec(text)?.[0];
    const begun = unfinished.get(thread);
    unfinished.delete(thread);
    if (text.endsWith('<unfinished ...>')) {
      unfinished.set(thread, text.slice(0, -'<unfinished ...>'.length));
      yield* parseCall(thread, text);
    } else if (resumed !== undefined) {
      yield* parseCall(thread, (begun ?? '') + text.slice(resumed.length));
    } else {
      for (const call of parseCall(thread, text)) {
        yield { ...call, result: undefined };
        yield call;
      }
    }
  }
}

function* parseCall(thread: string, text: string): Generator<SystemCall> {
  const name = /^\w+(?=\()/.exec(text)?.[0];
  if (name === undefined) return;
  const strings: Buffer[] = [];
  const numbers = text.slice(name.length + 1).replaceAll(/"([^"]*)"/g, (_, hex: string) => {
    strings.push(Buffer.from(hex.replaceAll(String.raw`\x`, ''), 'hex'));
    return '';
  });
  const result = /\) += (-?\d+)/.exec(numbers)?.[1];
  yield {
    thread,
    name,
    strings,
    numbers,
    result: result === undefined ? undefined : Number(result),
  };
}
