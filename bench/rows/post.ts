/** Durable POST of garden entries, beside a server that only parses and returns them. */
import type { BenchContext } from '../options.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { startGateway } from '../processes/gateway.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { sendRequest, headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { runWrk, type WrkOptions } from '../clients/wrk.ts';
import { startEcho } from '../peers/peer.ts';
import { alternate } from '../measure/rounds.ts';
import { atLeast, information, type ResultLine } from '../measure/table.ts';

const TARGET = 0.8;

export async function post(bench: BenchContext): Promise<ResultLine[]> {
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  await using peer = await startEcho(bench);
  await assertStores(gateway.url);
  const seconds = bench.quick ? 1 : 5;
  const lines: ResultLine[] = [];
  let [acknowledged, unread] = [1, 0];
  const plan = (url: string, connections: number): WrkOptions => {
    return { url: `${url}/api/garden`, connections, seconds, post: true };
  };
  for (const connections of [64, 512]) {
    bench.note(`POST with ${connections} connections`);
    const peerRound = async (): Promise<number> =>
      (await runWrk(bench, plan(peer.url, connections))).perSecond;
    const ourRound = async (): Promise<number> => {
      const round = await runWrk(bench, plan(gateway.url, connections));
      acknowledged += round.responses;
      unread += connections;
      // It must not be indexing while the peer is measured.
      await waitUntilIndexed(bench, gateway.url);
      return round.perSecond;
    };
    // Warm-up.
    await peerRound();
    await ourRound();
    const rounds = await alternate(bench.quick ? 3 : 5, { ours: ourRound, peer: peerRound });
    lines.push(atLeast(`durable POST, ${connections} connections`, rounds, 'requests/s', TARGET));
  }
  const head = await headOf(gateway.url);
  assertAllStored(head, acknowledged, unread);
  lines.push(information('  entries in the log', `${head}`, `${acknowledged} acknowledged`));
  return lines;
}

/** Every acknowledged entry is stored, and at most those beyond for which wrk did not wait. */
export function assertAllStored(stored: number, acknowledged: number, unread: number): void {
  if (stored >= acknowledged && stored <= acknowledged + unread) return;
  throw new Error(
    `Cannot trust the figures: ${acknowledged} entries were acknowledged (at most ${unread} more may be stored), the log grew by ${stored}`,
  );
}

async function assertStores(url: string): Promise<void> {
  const entry = gardenEntries()();
  const answer = await sendRequest(`${url}/api/garden`, { body: JSON.stringify(entry) });
  const newest = await sendRequest(`${url}/api/garden?limit=1`);
  if (answer.status !== 201 || !newest.text.includes(entry.text)) {
    throw new Error(`Cannot store an entry: got ${answer.status} ${answer.text.slice(0, 500)}`);
  }
}
