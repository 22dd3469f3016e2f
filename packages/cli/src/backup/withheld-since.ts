/** Finds the cases of withholding, hiding and showing since a backup was made, and repeats them in a restored log. */
import { readFile, stat } from 'node:fs/promises';

import { Gateway } from '@open-presence/client';
import { openFolderLog, repeatWithholdings } from '@open-presence/gateway';

export interface RepeatedCases {
  /** How many entries had another state in the replaced log; undefined if there is none, or it cannot be read. */
  readonly missing?: number | undefined;
  readonly repeated?: number;
  /** Cases of entries that the restored log lacks. */
  readonly unknown?: number;
}

export interface Case {
  readonly number: number;
  readonly id: string;
  readonly seq: number;
  readonly time: number;
  readonly reason: string;
  readonly state: 'withheld' | 'hidden' | 'shown';
}

/** Counts `RepeatedCases.missing`. `replaced`: the folder with the log that was there before, if there was one. */
export async function missingCases(
  data: string,
  replaced: string | undefined,
): Promise<number | undefined> {
  if (replaced === undefined) return undefined;
  using restored = openFolderLog(data);
  const last = new Map<number, Case>();
  try {
    for await (const one of casesOfFolder(replaced)) last.set(one.seq, one);
  } catch {
    // The replaced log may be damaged, which may be the reason for the restore.
    return undefined;
  }
  const differs = ({ id, seq, state }: Case): boolean => {
    const here = restored.stateOf(seq);
    return here?.id === id && here.state !== state;
  };
  return [...last.values()].filter(differs).length;
}

export async function repeatCases(
  data: string,
  name: string,
  cases: readonly Case[],
): Promise<RepeatedCases> {
  const known = ((): readonly Case[] => {
    using restored = openFolderLog(data);
    return cases.filter(({ id, seq }) => restored.stateOf(seq)?.id === id);
  })();
  const inOrder = known.toSorted((a, b) => a.number - b.number);
  if (inOrder.length > 0) await repeatWithholdings(data, name, inOrder);
  return { repeated: inOrder.length, unknown: cases.length - inOrder.length };
}

/** All cases of a gateway, a file or a data folder. Throws if it does not have all of them. */
export async function casesOf(source: string): Promise<readonly Case[]> {
  if (/^https?:/.test(source))
    return (await Array.fromAsync(new Gateway(source).withholdings())).map((one) => caseIn(one));
  return (await stat(source)).isDirectory()
    ? await Array.fromAsync(casesOfFolder(source))
    : casesIn(await readFile(source, 'utf8')).map((one) => caseIn(one));
}

async function* casesOfFolder(folder: string): AsyncGenerator<Case> {
  using log = openFolderLog(folder);
  for await (const { number, metadata, time, reason, state } of log.withholdings())
    yield { number, id: metadata.id, seq: metadata.seq, time, reason, state };
}

/** The cases in the JSON or the NDJSON of `/api/withheld`. */
function casesIn(text: string): readonly unknown[] {
  const page = jsonIn(text);
  if (page === undefined || !('withheld' in page))
    return text.split('\n').flatMap((line) => (line === '' ? [] : [jsonIn(line) ?? line]));
  const { withheld, next } = { next: null, ...page };
  if (next !== null)
    throw new Error(
      'The file has the newest cases of /api/withheld alone. "Accept: application/x-ndjson" in the request gives all of them.',
    );
  return Array.isArray(withheld) ? withheld : [withheld];
}

/** Undefined if the text is no JSON object. */
function jsonIn(text: string): object | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

function caseIn(value: unknown): Case {
  const found: Record<string, unknown> =
    typeof value === 'object' && value !== null ? { ...value } : {};
  const { number, id, seq, at, reason, state = 'withheld' } = found;
  const time = Date.parse(String(at));
  const isWhole =
    typeof number === 'number' &&
    typeof id === 'string' &&
    typeof seq === 'number' &&
    typeof reason === 'string' &&
    !Number.isNaN(time) &&
    (state === 'withheld' || state === 'hidden' || state === 'shown');
  if (isWhole) return { number, id, seq, time, reason, state };
  throw new Error(`This is no case of /api/withheld: ${JSON.stringify(value).slice(0, 200)}`);
}
