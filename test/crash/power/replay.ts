/** Replays recorded system calls on a simulated disk, and remembers what had been acknowledged. */
import { basename, dirname, join, relative } from 'node:path';

import { SimulatedFile, SimulatedFolder, type SimulatedNode } from './simulated-disk.ts';
import type { SystemCall } from './trace.ts';

interface OpenFile {
  readonly node: SimulatedNode;
  readonly path: string;
  readonly appends: boolean;
  readonly flushes: boolean;
  position: number;
}

/** Of the answer to a contribution. */
const ACKNOWLEDGED_ID = /\{"id":"([\da-f-]{36})","seq":/g;
const TEXT_OF_ANSWER = 'HTTP/1.1 201';

export class Replay {
  readonly disk = new SimulatedFolder();
  /** Ids of the entries whose answers had begun to be sent. */
  readonly acknowledged = new Set<string>();
  readonly #root: string;
  readonly #ignoresFlush: (path: string) => boolean;
  readonly #open = new Map<number, OpenFile>();
  /** Numbers of the changes at which the flushes of threads began. */
  readonly #flushing = new Map<string, number>();
  #changes = 0;
  #flushes = 0;

  /** `root`: an empty folder when the recording began. `ignoresFlush`: of a path beneath it. */
  constructor(root: string, ignoresFlush: (path: string) => boolean = () => false) {
    this.#root = root;
    this.#ignoresFlush = ignoresFlush;
  }

  /** Greater after each call that matters to what survives a cut, or to what must. */
  get moment(): number {
    return this.#changes + this.#flushes + this.acknowledged.size;
  }

  /** Must be called between the calls of one process and those of the next. */
  endProcess(): void {
    this.#open.clear();
    this.#flushing.clear();
  }

  apply(call: SystemCall): void {
    const { name, result, thread } = call;
    if (result === undefined) this.#begin(call);
    else if (result < 0) this.#flushing.delete(thread);
    else if (name === 'openat') this.#openFile(call, result);
    else if (name === 'fsync' || name === 'fdatasync') this.#flush(call);
    else if (/^p?write/.test(name)) this.#write(call, result);
    else if (name === 'ftruncate') this.#truncate(call);
    else if (name === 'unlinkat') this.#unlink(call);
    else if (name !== 'close' && this.#open.has(descriptor(call)))
      throw new Error(`${name} cannot be replayed`);
    else if (call.strings.length > 0) this.#changeNames(call);
  }

  #begin(call: SystemCall): void {
    const { name, thread, strings } = call;
    if (name === 'fsync' || name === 'fdatasync') this.#flushing.set(thread, this.#changes);
    else if (name === 'close') this.#open.delete(descriptor(call));
    else if (/^(?:writev?|send\w+)$/.test(name) && !this.#open.has(descriptor(call))) {
      const text = Buffer.concat(strings).toString('latin1');
      if (!text.includes(TEXT_OF_ANSWER)) return;
      for (const [, id = ''] of text.matchAll(ACKNOWLEDGED_ID)) this.acknowledged.add(id);
    }
  }

  #openFile(call: SystemCall, result: number): void {
    const { numbers } = call;
    const path = this.#located(call);
    if (path === undefined) return;
    let node = this.#find(path);
    if (node === undefined) {
      if (!numbers.includes('O_CREAT')) throw new Error(`"${path}" is opened, but is not there`);
      node = new SimulatedFile();
      this.#set(path, node);
    } else if (numbers.includes('O_TRUNC') && node instanceof SimulatedFile) {
      node.truncate(this.#nextChange(), 0);
    }
    const appends = numbers.includes('O_APPEND');
    const flushes = /O_D?SYNC/.test(numbers);
    this.#open.set(result, { node, path, appends, flushes, position: 0 });
  }

  #flush(call: SystemCall): void {
    const before = this.#flushing.get(call.thread) ?? 0;
    this.#flushing.delete(call.thread);
    const file = this.#open.get(descriptor(call));
    if (file === undefined || this.#ignoresFlush(file.path)) return;
    file.node.flush(before);
    this.#flushes += 1;
  }

  #write(call: SystemCall, written: number): void {
    const file = this.#open.get(descriptor(call));
    if (file === undefined) return;
    const { node } = file;
    if (!(node instanceof SimulatedFile) || call.name === 'pwritev2')
      throw new Error(`${call.name} to "${file.path}" cannot be replayed`);
    const position = /, (\d+) ?\) += \d+$/.exec(call.numbers)?.[1];
    const offset = call.name.startsWith('p') ? Number(position) : file.position;
    const data = Buffer.concat(call.strings).subarray(0, written);
    if (data.length !== written || Number.isNaN(offset))
      throw new Error(`cannot understand the write to "${file.path}"`);
    const at = file.appends ? node.size : offset;
    node.write(this.#nextChange(), at, data);
    if (!call.name.startsWith('p')) file.position = at + written;
    if (file.flushes) node.flush(this.#changes);
  }

  #truncate(call: SystemCall): void {
    const node = this.#open.get(descriptor(call))?.node;
    const size = Number(/^\d+, (\d+)/.exec(call.numbers)?.[1]);
    if (node instanceof SimulatedFile) node.truncate(this.#nextChange(), size);
  }

  #unlink(call: SystemCall): void {
    const path = this.#located(call);
    if (path !== undefined) this.#set(path, undefined);
  }

  #changeNames({ name, strings }: SystemCall): void {
    const [from, to] = strings.map((path) => this.#inside(path));
    // Sockets hold nothing, and making them is not recorded.
    if (from === undefined || from.endsWith('.sock')) return;
    const node = this.#find(from);
    if (name === 'mkdir') this.#set(from, new SimulatedFolder());
    else if (name === 'unlink' || name === 'rmdir') this.#set(from, undefined);
    else if ((name === 'link' || name === 'rename') && to !== undefined && node !== undefined) {
      this.#set(to, node);
      if (name === 'rename') this.#set(from, undefined);
    } else throw new Error(`${name} of "${from}" cannot be replayed`);
  }

  /** As `#inside`, of a path that may begin in an open folder. */
  #located(call: SystemCall): string | undefined {
    const [path] = call.strings;
    const folder = this.#open.get(descriptor(call));
    return folder === undefined ? this.#inside(path) : join(folder.path, String(path));
  }

  /** The path beneath the root, if it is there. */
  #inside(path: Buffer | undefined): string | undefined {
    const inside = relative(this.#root, path?.toString() ?? '/');
    return inside.startsWith('..') ? undefined : inside;
  }

  #find(path: string): SimulatedNode | undefined {
    let node: SimulatedNode | undefined = this.disk;
    for (const name of path === '' ? [] : path.split('/'))
      node = node instanceof SimulatedFolder ? node.names.get(name) : undefined;
    return node;
  }

  #set(path: string, node: SimulatedNode | undefined): void {
    const folder = this.#find(dirname(path) === '.' ? '' : dirname(path));
    if (!(folder instanceof SimulatedFolder)) throw new Error(`"${path}" has no folder`);
    folder.set(this.#nextChange(), basename(path), node);
  }

  #nextChange(): number {
    return this.#changes++;
  }
}

/** The first argument of a call on a file. */
function descriptor({ numbers }: SystemCall): number {
  return Number.parseInt(numbers, 10);
}
