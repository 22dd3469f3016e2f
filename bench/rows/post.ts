/** Durable POST of garden entries, beside a server that only parses them and says them back. */
import type { Bench } from '../bench.ts';
import { emptyFolder } from '../folders.ts';
import { startGateway } from '../gateway.ts';
import { gardener } from '../garden.ts';
import { ask, headOf } from '../http.ts';
import { allKnown } from '../known.ts';
import { load, type LoadPlan } from '../load.ts';
import { startEcho } from '../peers/peer.ts';
import { takeTurns } from '../rounds.ts';
import { atLeast, fact, type Line } from '../table.ts';

const TARGET = 0.8;

export async function post(bench: Bench): Promise<Line[]> {
  await using folder = await emptyFolder(bench);
  await using gateway = await startGateway(bench, folder.path);
  await using peer = await startEcho(bench);
  await stores(gateway.url);
  const seconds = bench.quick ? 1 : 5;
  const lines: Line[] = [];
  let [acknowledged, unread] = [1, 0];
  const plan = (url: string, connections: number): LoadPlan => {
    return { url: `${url}/api/garden`, connections, seconds, post: true };
  };
  for (const connections of [64, 512]) {
    bench.note(`POST with ${connections} connections`);
    const peerRound = async (): Promise<number> =>
      (await load(bench, plan(peer.url, connections))).perSecond;
    const ourRound = async (): Promise<number> => {
      const round = await load(bench, plan(gateway.url, connections));
      acknowledged += round.answers;
      unread += connections;
      // It must not go on reading words while the peer is measured.
      await allKnown(bench, gateway.url);
      return round.perSecond;
    };
    // Until the code of both is warm.
    await peerRound();
    await ourRound();
    const rounds = await takeTurns(bench.quick ? 3 : 5, { ours: ourRound, peer: peerRound });
    lines.push(atLeast(`durable POST, ${connections} connections`, rounds, 'requests/s', TARGET));
  }
  const head = await headOf(gateway.url);
  requireAll(head, acknowledged, unread);
  lines.push(fact('  entries in the log', `${head}`, `${acknowledged} acknowledged`));
  return lines;
}

/** Every acknowledged entry is there, and no more than those whose answer wrk did not wait for. */
export function requireAll(stored: number, acknowledged: number, unread: number): void {
  if (stored >= acknowledged && stored <= acknowledged + unread) return;
  throw new Error(
    `Cannot trust the figures: ${acknowledged} entries were acknowledged (at most ${unread} more may be stored), the log grew by ${stored}`,
  );
}

async function stores(url: string): Promise<void> {
  const entry = gardener()();
  const answer = await ask(`${url}/api/garden`, { body: JSON.stringify(entry) });
  const newest = await ask(`${url}/api/garden?limit=1`);
  if (answer.status !== 201 || !newest.text.includes(entry.text)) {
    throw new Error(`Cannot store an entry: got ${answer.status} ${answer.text.slice(0, 500)}`);
  }
}
