/** What an `EventSource` hears, a real browser's or another, across everything that happens. */
import assert from 'node:assert/strict';

import { until } from '../../conformance/until.ts';
import { allEntries, type RestartableGateway, Writers } from './restartable-gateway.ts';
import { pluck } from '../../conformance/value.ts';

const SPEAKERS = 4;
/** After each beginning, so that what comes live is cut too. */
const HEARD_BETWEEN = 100;

export interface ReceivedEvent {
  readonly id: string;
  readonly kind: string;
  readonly data: string;
}

export interface EventReceiver {
  /** How much it has heard so far; throws where it has given up. */
  count(): Promise<number>;
  /** All that it has heard, in order. */
  received(): Promise<readonly ReceivedEvent[]>;
}

/**
 * Ends the gateway and wakes it again, several times while others speak. In the end the listener
 * must have heard every entry once, in order, as the listings have it. Resolves with their number.
 */
export async function receivesAllAcrossRestarts(
  gateway: RestartableGateway,
  listener: EventReceiver,
): Promise<number> {
  const speakers = new Writers(gateway.url, SPEAKERS);
  const more = async (): Promise<void> => {
    const from = await listener.count();
    await reaches(listener, from + HEARD_BETWEEN);
  };
  await more();
  for (const end of ['crash', 'crash', 'restart', 'crash'] as const) {
    await gateway[end]();
    await more();
  }
  const said = await speakers.finish();
  const wanted = await allEntries(gateway.url);
  assert.equal(wanted.length, said, 'each number is an entry');
  await reaches(listener, said);
  const heard = await listener.received();
  assert.deepEqual(
    pluck(heard, 'id'),
    wanted.map(({ seq }) => String(seq)),
  );
  for (const [at, { text, kind }] of wanted.entries()) {
    assert.deepEqual([heard[at]?.kind, heard[at]?.data], [kind, text]);
  }
  return said;
}

async function reaches(listener: EventReceiver, count: number): Promise<void> {
  await until(
    () => listener.count(),
    (received) => received >= count,
    (received) => `only ${received} of ${count} entries are ever received`,
  );
}
