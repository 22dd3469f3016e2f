/**
 * Names that the owner keeps out of presence and of lists of names, although visitors with these names may be
 * here. They are in a file of the data folder, which a restart reads. In a cluster, each gateway takes the
 * newest list that it hears of.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface HiddenNames {
  readonly names: readonly string[];
  /** When the list was made, in ms since 1970; 0 for none. */
  readonly at: number;
}

export const NONE_HIDDEN: HiddenNames = { names: [], at: 0 };

export function readHiddenNames(folder: string): HiddenNames {
  try {
    const found: unknown = JSON.parse(readFileSync(fileIn(folder), 'utf8'));
    const isList = typeof found === 'object' && found !== null && 'names' in found && 'at' in found;
    if (!isList || !Array.isArray(found.names)) return NONE_HIDDEN;
    return { names: found.names.map(String), at: Number(found.at) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return NONE_HIDDEN;
    throw error;
  }
}

export function writeHiddenNames(folder: string, hidden: HiddenNames): void {
  const unfinished = `${fileIn(folder)}.new`;
  writeFileSync(unfinished, JSON.stringify(hidden), { flush: true });
  renameSync(unfinished, fileIn(folder));
}

/** The list with this name, or without it. */
export function changedNames(
  { names, at }: HiddenNames,
  name: string,
  isHidden: boolean,
): HiddenNames {
  const others = names.filter((one) => one !== name);
  return { names: isHidden ? [...others, name] : others, at: Math.max(Date.now(), at + 1) };
}

function fileIn(folder: string): string {
  return join(folder, 'hidden-names');
}
