/** Requests of tests to a gateway, where its client would hide what is sent. */
import assert from 'node:assert/strict';

import { asArray, asObject, asString, type JsonObject } from '../conformance/value.ts';

/** Stores an entry; resolves with its id. */
export async function contribute(url: string, kind: string, members: object): Promise<string> {
  const body = JSON.stringify(members);
  const answer = await fetch(`${url}/api/${kind}`, { method: 'POST', body });
  assert.equal(answer.status, 201);
  return asString(asObject(await answer.json())['id']);
}

/** Stores entries by one request. */
export async function contributeLines(
  url: string,
  kind: string,
  entries: readonly object[],
): Promise<void> {
  const answer = await fetch(`${url}/api/${kind}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: entries.map((members) => JSON.stringify(members)).join('\n'),
  });
  const text = await answer.text();
  assert.ok(answer.ok && !text.includes('"status":4'), text);
}

/** The object that an address answers with. */
export async function objectAt(address: string, options: RequestInit = {}): Promise<JsonObject> {
  return asObject(await (await fetch(address, options)).json());
}

/** The entries that an address lists. */
export async function entriesAt(address: string): Promise<JsonObject[]> {
  return asArray((await objectAt(address))['entries']).map(asObject);
}

/** The body that an address answers with. */
export async function textAt(address: string, options: RequestInit = {}): Promise<string> {
  return await (await fetch(address, options)).text();
}
