/** Requests for who is here. */
import assert from 'node:assert/strict';

import { fetchBytes, type TestGateway } from '../../gateway.fixture.ts';

interface Present {
  readonly identity: string;
  readonly via: string;
  readonly room: string | null;
  readonly seeking: readonly string[];
  readonly since: string;
  readonly lastSeen: string;
  readonly until: string | null;
}

interface Spoke {
  readonly identity: string;
  readonly kind: string;
  readonly room: string;
  readonly seeking: readonly string[];
  readonly entry: string;
}

export interface PresenceDocument {
  readonly here: readonly Present[];
  readonly lately: readonly Spoke[];
  readonly head: number;
}

export async function fetchPresence(gateway: TestGateway, query = ''): Promise<PresenceDocument> {
  const { status, bytes } = await fetchBytes(gateway, `/api/presence${query}`);
  assert.equal(status, 200, bytes.toString());
  const answer: unknown = JSON.parse(bytes.toString());
  if (!isAnswer(answer)) throw new Error(bytes.toString());
  return answer;
}

function isAnswer(value: unknown): value is PresenceDocument {
  return typeof value === 'object' && value !== null && 'here' in value && 'lately' in value;
}

export async function postEntry(
  gateway: TestGateway,
  kind: string,
  body: object,
): Promise<Record<string, unknown>> {
  const sent = { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(`${gateway.url}/api/${kind}`, sent);
  const said: unknown = await answer.json();
  assert.equal(answer.status, 201, JSON.stringify(said));
  return typeof said === 'object' ? { ...said } : {};
}

export const identitiesOf = (all: readonly { readonly identity: string }[]): string[] =>
  all.map(({ identity }) => identity);
