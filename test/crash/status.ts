/** How a gateway says that it is (PROTOCOL.md section 2). */
import type { Gateway } from '../../conformance/gateway.ts';
import { until } from '../../conformance/until.ts';
import { asString } from '../../conformance/value.ts';
import type { Disk } from './disk.ts';
import type { Ledger } from './ledger.ts';

export async function stateOf(visitor: Gateway): Promise<string> {
  return asString((await visitor.get('/api')).expect(200).json['status']);
}

/** Resolves when the gateway says that it stores. */
export function untilWritable(visitor: Gateway): Promise<void> {
  return becomes(visitor, 'breathing', 200);
}

/** Resolves when the gateway says that it cannot store. */
export function untilReadOnly(visitor: Gateway): Promise<void> {
  return becomes(visitor, 'holding', 503);
}

/** Takes what room comes free again, such as by a checkpoint, until the gateway says that it cannot store. */
export async function untilFull(disk: Disk, visitor: Gateway): Promise<void> {
  await until(
    async () => {
      await disk.fill();
      await visitor.post('seeds', '{}');
      return await stateOf(visitor);
    },
    (now) => now === 'holding',
  );
  await untilReadOnly(visitor);
}

/** Until the two say the same: the state may change between one answer and the next. */
async function becomes(visitor: Gateway, state: string, ready: number): Promise<void> {
  await until(
    async () => {
      const now = await stateOf(visitor);
      const probe = await visitor.get('/readyz');
      return [now, probe.status, probe.json['status']].join(' ');
    },
    (now) => now === [state, ready, state].join(' '),
    (now) => `the gateway stays ${now} instead of ${state}`,
  );
  (await visitor.get('/healthz')).expect(200);
}

/** Everything that was acknowledged can be read, in the listings and each by itself. */
export async function assertAllReadable(ledger: Ledger, visitor: Gateway): Promise<void> {
  await ledger.compare(visitor);
  for (const saying of ledger.acknowledged.slice(-50)) await ledger.read(visitor, saying);
  (await visitor.get('/api/discover')).expect(200);
  (await visitor.get('/api/rooms')).expect(200);
}
