/** Converts paths in a language file to and from offsets in its text, JSON pointers and messages. */
import { type Document, isAlias, isMap, isScalar, isSeq } from 'yaml';

/** The keys and indexes that lead from the root to a value. */
export type Path = readonly string[];

export interface PathFault {
  readonly path: Path;
  readonly message: string;
  /** Whether the key is wrong, not its value. */
  readonly atKey?: boolean;
}

/**
 * The offset of the scalar at the path; of the key with `atKey`, or if the value is no scalar. If the
 * path leads nowhere, the offset of the deepest key or item that exists on it.
 */
export function offsetOf(document: Document, path: Path, atKey = false): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    let found: unknown;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined || !isScalar(pair.key)) return offset;
      offset = pair.key.range?.[0] ?? offset;
      found = pair.value;
    } else if (isSeq(node)) {
      found = node.items[Number(step)];
      if (isScalar(found) || isMap(found) || isSeq(found) || isAlias(found))
        offset = found.range?.[0] ?? offset;
    } else return offset;
    node = found;
  }
  const value = !atKey && isScalar(node) && node.value !== null ? node.range?.[0] : undefined;
  return value ?? offset;
}

export function pathAt(document: Document, offset: number): Path {
  const path: string[] = [];
  const hasStarted = (node: unknown): boolean =>
    (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)) &&
    (node.range?.[0] ?? Infinity) <= offset;
  let node: unknown = document.contents;
  while (isMap(node) || isSeq(node)) {
    if (isMap(node)) {
      const pair = node.items.findLast(({ key }) => hasStarted(key));
      if (pair === undefined || !isScalar(pair.key)) break;
      path.push(String(pair.key.value));
      node = pair.value;
    } else {
      const index = node.items.findLastIndex(hasStarted);
      if (index === -1) break;
      path.push(String(index));
      node = node.items[index];
    }
    if (!hasStarted(node)) break;
  }
  return path;
}

/** Such as `rooms[0].title.uk`. */
export function formatPath(path: Path): string {
  return path
    .map((step, at) => {
      if (/^[0-9]+$/.test(step)) return `[${step}]`;
      const plain = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step);
      return plain ? `${at === 0 ? '' : '.'}${step}` : `[${JSON.stringify(step)}]`;
    })
    .join('');
}

export function parsePointer(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
    root,
  );
}
