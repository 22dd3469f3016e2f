/**
 * A disk without any order of its own: what was flushed survives a power cut, and of everything else
 * any part may. A flush of a file keeps its content, one of a folder keeps the names in it. Sectors,
 * the size of a file, and names survive independently of one another.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { SeededRandom } from '../../seeded-random.ts';

const SECTOR = 512;

interface FileChange {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  /** Zeros where there is none. */
  readonly data: Buffer | undefined;
  /** Of the file, afterwards. */
  readonly size: number;
}

/** Each change has a number; later ones have greater ones. */
export class SimulatedFile {
  #durable: Buffer = Buffer.alloc(0);
  #pending: FileChange[] = [];

  get size(): number {
    return this.#pending.at(-1)?.size ?? this.#durable.length;
  }

  write(at: number, offset: number, data: Buffer): void {
    const to = offset + data.length;
    this.#pending.push({ at, from: offset, to, data, size: Math.max(this.size, to) });
  }

  truncate(at: number, size: number): void {
    this.#pending.push({ at, from: size, to: Math.max(this.size, size), data: undefined, size });
  }

  /** Makes the changes durable that were made before. */
  flush(before: number): void {
    const count = this.#pending.filter(({ at }) => at < before).length;
    const flushed = this.#pending.splice(0, count);
    const last = flushed.at(-1);
    if (last === undefined) return;
    const largest = Math.max(this.#durable.length, ...flushed.map(({ to }) => to));
    const content = resized(this.#durable, largest);
    for (const change of flushed) apply(content, change, change.from, change.to);
    this.#durable = resized(content, last.size);
  }

  /** What survives a cut. `chance`: of each part, to be as new as it can. */
  survivor(random: SeededRandom, chance: number): Buffer {
    if (this.#pending.length === 0) return this.#durable;
    const counts = new Map<number, number>();
    for (const change of this.#pending)
      for (const sector of sectorsOf(change)) counts.set(sector, (counts.get(sector) ?? 0) + 1);
    const left = new Map(
      [...counts].map(([sector, count]) => [sector, newest(random, chance, count)]),
    );
    const largest = Math.max(this.#durable.length, ...this.#pending.map(({ to }) => to));
    const content = resized(this.#durable, largest);
    for (const change of this.#pending) {
      for (const sector of sectorsOf(change)) {
        const more = left.get(sector) ?? 0;
        if (more === 0) continue;
        left.set(sector, more - 1);
        const from = Math.max(change.from, sector * SECTOR);
        apply(content, change, from, Math.min(change.to, (sector + 1) * SECTOR));
      }
    }
    const sizes = [this.#durable.length, ...this.#pending.map(({ size }) => size)];
    return resized(content, sizes[newest(random, chance, sizes.length - 1)] ?? 0);
  }
}

export type SimulatedNode = SimulatedFile | SimulatedFolder;

interface NameChange {
  readonly at: number;
  readonly name: string;
  /** Undefined where the name is removed. */
  readonly node: SimulatedNode | undefined;
}

export class SimulatedFolder {
  readonly names = new Map<string, SimulatedNode>();
  readonly #durable = new Map<string, SimulatedNode>();
  #pending: NameChange[] = [];

  set(at: number, name: string, node: SimulatedNode | undefined): void {
    change(this.names, name, node);
    this.#pending.push({ at, name, node });
  }

  flush(before: number): void {
    const flushed = this.#pending.filter(({ at }) => at < before);
    this.#pending = this.#pending.filter(({ at }) => at >= before);
    for (const { name, node } of flushed) change(this.#durable, name, node);
  }

  survivors(random: SeededRandom, chance: number): ReadonlyMap<string, SimulatedNode> {
    const survivors = new Map(this.#durable);
    for (const name of new Set(this.#pending.map((pending) => pending.name))) {
      const versions = this.#pending.filter((pending) => pending.name === name);
      const count = newest(random, chance, versions.length);
      if (count > 0) change(survivors, name, versions[count - 1]?.node);
    }
    return survivors;
  }
}

/** Writes what survives a power cut to a real folder. */
export async function writeSurvivors(
  folder: SimulatedFolder,
  target: string,
  random: SeededRandom,
): Promise<void> {
  const chance = random.pick([0, 0.1, 0.5, 0.9, 1]);
  await mkdir(target, { recursive: true });
  for (const [name, node] of folder.survivors(random, chance)) {
    const path = join(target, name);
    if (node instanceof SimulatedFolder) await writeSurvivors(node, path, random);
    // Memory that SQLite shares between connections: the first one starts with nothing.
    else if (!name.endsWith('-shm')) await writeFile(path, node.survivor(random, chance));
  }
}

/** How many of some changes survive. */
function newest(random: SeededRandom, chance: number, count: number): number {
  if (chance === 0) return 0;
  return random.chance(chance) ? count : random.below(count + 1);
}

function change<T>(map: Map<string, T>, name: string, value: T | undefined): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}

function* sectorsOf({ from, to }: FileChange): Generator<number> {
  for (let sector = Math.floor(from / SECTOR); sector * SECTOR < to; sector += 1) yield sector;
}

/** The part of a change between two positions. */
function apply(content: Buffer, { data, from: start }: FileChange, from: number, to: number): void {
  if (data === undefined) content.fill(0, from, to);
  else data.copy(content, from, from - start, to - start);
}

/** A copy of another size, with zeros after the end. */
function resized(content: Buffer, size: number): Buffer {
  const copy = Buffer.alloc(size);
  content.copy(copy, 0, 0, size);
  return copy;
}
