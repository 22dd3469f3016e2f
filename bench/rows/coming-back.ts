/** What it costs to come back: a conversation, and what concerns a name, beside the newest 50. */
import { sendRequest, headOf } from '../clients/http.ts';
import { seededFolder } from '../data/data-folder.ts';
import { cpuOf } from '../measure/cpu.ts';
import { alternate } from '../measure/rounds.ts';
import { atMostTime, type ResultLine } from '../measure/table.ts';
import type { BenchContext } from '../options.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';

const COUNTS = { quick: [1_000_000], full: [1_000_000, 10_000_000] } as const;
const TARGET = 3;
const ROUNDS = 9;
/** Time in /proc is counted in units of 10 ms: of one request it would mean nothing. */
const READS_A_ROUND = 50;
const VISITORS = 1000;
/** How many entries somebody who was away does not know. */
const MISSED = 10_000;

export async function comingBack(bench: BenchContext): Promise<ResultLine[]> {
  const counts = bench.full ? COUNTS.full : COUNTS.quick;
  const lines: ResultLine[] = [];
  for (const count of counts) {
    const folder = await seededFolder(bench, count, 'garden=1', 'threads');
    await using gateway = await startGateway(bench, folder);
    lines.push(...(await costs(bench, gateway, `among ${count / 1e6} million`)));
  }
  return lines;
}

async function costs(bench: BenchContext, gateway: Gateway, among: string): Promise<ResultLine[]> {
  const head = await headOf(gateway.url);
  let asked = 0;
  // Another page and another name each time, so that no answer is kept ready.
  const before = (): number => head + 1 - ((asked += 1) % MISSED);
  const name = (): string => `visitor-${String(1 + ((asked += 1) % VISITORS)).padStart(4, '0')}`;
  const id = await answerIn(gateway);
  const reads: Readonly<Record<string, () => string>> = {
    'a conversation': () => `/api/entries?thread=${id}&limit=50&before=${before()}`,
    'what concerns a name': () => `/api/entries?concerns=${name()}&limit=50`,
    'catching up since one spoke': () => `/api/catch-up?identity=${name()}`,
    [`catching up with ${MISSED.toLocaleString('en')} entries`]: () =>
      `/api/catch-up?identity=${name()}&after=${head - MISSED}`,
  };
  const lines: ResultLine[] = [];
  for (const [what, pathOf] of Object.entries(reads)) {
    bench.note(`${what}, ${among}`);
    const rounds = await alternate(ROUNDS, {
      ours: () => cpuOfReads(gateway, pathOf),
      peer: () => cpuOfReads(gateway, () => `/api/garden?limit=50&before=${before()}`),
    });
    lines.push(atMostTime(`CPU time of ${what}, ${among}`, rounds, 'ms', TARGET));
  }
  return lines;
}

/** Of one read, in ms. */
async function cpuOfReads(gateway: Gateway, pathOf: () => string): Promise<number> {
  const cpu = cpuOf(gateway.pid);
  for (let read = 0; read < READS_A_ROUND; read += 1) {
    const { status, text } = await sendRequest(gateway.url + pathOf());
    if (status !== 200) throw new Error(`Cannot read: got ${status} ${text.slice(0, 500)}`);
  }
  return ((cpuOf(gateway.pid) - cpu) * 1000) / READS_A_ROUND;
}

/** The id of an entry that answers another. */
async function answerIn({ url }: Gateway): Promise<string> {
  const { text } = await sendRequest(`${url}/api/entries?concerns=visitor-0042&limit=1`);
  const id = /"id":"([^"]+)"/.exec(text)?.[1];
  if (id === undefined) throw new Error(`Cannot find an answer: ${text.slice(0, 500)}`);
  return id;
}
