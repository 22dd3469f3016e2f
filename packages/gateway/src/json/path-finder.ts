/** Finds values by their paths in a JSON text of any size, and holds nothing of the text. */
import { JsonHandler, type ValueType } from './handler.ts';

/** Names of members, in ASCII; null for each element of an array. */
export type JsonPath = readonly (string | null)[];

/** Offsets are in bytes of the whole text; `end` is exclusive. */
export interface FoundValue {
  readonly path: JsonPath;
  readonly type: ValueType;
  /** Where the name of the member starts; for an element, the value. */
  readonly nameStart: number;
  readonly start: number;
  readonly end: number;
}

interface PathNode {
  /** Set where a path ends. */
  path?: JsonPath;
  readonly members: Map<string, PathNode>;
  element?: PathNode;
}

interface OpenValue extends Omit<FoundValue, 'path' | 'end'> {
  readonly node: PathNode | undefined;
}

export class PathFinder extends JsonHandler {
  readonly #root: PathNode = { members: new Map() };
  readonly #longestName: number;
  readonly #onValue: (value: FoundValue) => void;
  /** The values around the current one, by their depth. */
  readonly #open: OpenValue[] = [];
  #name = '';
  #nameStart: number | undefined;

  /** Values are reported when they end, so before the value that contains them. */
  constructor(paths: readonly JsonPath[], onValue: (value: FoundValue) => void) {
    super();
    this.#onValue = onValue;
    for (const path of paths) this.#add(path);
    const names = paths.flat().map((step) => step?.length ?? 0);
    this.#longestName = Math.max(0, ...names);
  }

  override startName(at: number): boolean {
    this.#name = '';
    this.#nameStart = this.offset + at;
    return true;
  }

  override text(from: number, to: number): void {
    // One character more than the longest name is enough to tell that this is another one.
    if (this.#name.length > this.#longestName) return;
    const end = Math.min(to, from + this.#longestName + 1);
    this.#name += this.piece.toString('latin1', from, end);
  }

  override escaped(code: number): void {
    if (this.#name.length <= this.#longestName) this.#name += String.fromCodePoint(code);
  }

  override startValue(type: ValueType, depth: number, at: number): boolean {
    const start = this.offset + at;
    const node = depth === 0 ? this.#root : this.#childOf(this.#open[depth - 1]);
    this.#open[depth] = { node, type, nameStart: this.#nameStart ?? start, start };
    this.#nameStart = undefined;
    if (type === 'object') return (node?.members.size ?? 0) > 0;
    return type === 'array' && node?.element !== undefined;
  }

  override endValue(depth: number, at: number): void {
    const value = this.#open[depth];
    const path = value?.node?.path;
    if (value === undefined || path === undefined) return;
    const { type, nameStart, start } = value;
    this.#onValue({ path, type, nameStart, start, end: this.offset + at });
  }

  #childOf(parent: OpenValue | undefined): PathNode | undefined {
    const { node, type } = parent ?? {};
    return type === 'array' ? node?.element : node?.members.get(this.#name);
  }

  #add(path: JsonPath): void {
    let node = this.#root;
    for (const step of path) {
      let next = step === null ? node.element : node.members.get(step);
      next ??= { members: new Map() };
      if (step === null) node.element = next;
      else node.members.set(step, next);
      node = next;
    }
    node.path = path;
  }
}
