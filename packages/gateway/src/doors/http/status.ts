/** How the gateway is (PROTOCOL.md section 2): told to visitors, and to probes. */
import { statusDocument } from '@open-presence/protocol';

import { ABOUT } from '../about/links.ts';
import { answer, inTongue, json, JSON_TYPE, NOT_KEPT, vary } from './answer.ts';
import { tongueFor, type Exchange, type Threshold } from './exchange.ts';

/** Where something chose this form, its headers are `varied` by. */
export async function status(
  exchange: Exchange<Threshold>,
  ...varied: readonly string[]
): Promise<void> {
  const { house, request } = exchange;
  const tongue = tongueFor(request);
  const document = statusDocument(house.language, house.state(), tongue, new Date());
  const headers = { ...NOT_KEPT, ...inTongue(tongue, ...varied), ...ABOUT };
  await answer(exchange, { status: 200, type: JSON_TYPE, headers, body: json(document) });
}

/** While the process lives. */
export function healthz(exchange: Exchange<Threshold>): Promise<void> {
  return probe(exchange, 200);
}

/** While entries can be stored. */
export function readyz(exchange: Exchange<Threshold>): Promise<void> {
  return probe(exchange, exchange.house.state() === 'breathing' ? 200 : 503);
}

function probe(exchange: Exchange<Threshold>, status: number): Promise<void> {
  const body = json({ status: exchange.house.state() });
  return answer(exchange, { status, type: JSON_TYPE, headers: { ...NOT_KEPT, ...vary() }, body });
}
