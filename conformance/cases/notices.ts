/** What is told to the owner in private. */
import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { asString } from '../value.ts';

const PATH = '/api/notice';
const NOTICE = JSON.stringify({
  what: 'nothing',
  why: 'The conformance suite has sent this: close it.',
});

export const notices: readonly Case[] = [
  check('23.1', 'notice', async (gateway) => {
    const answer = (await gateway.request('POST', PATH, {}, NOTICE)).expect(201);
    assert.equal(answer.header('location'), `${PATH}/${asString(answer.json['number'])}`);
    assert.equal(answer.json['state'], 'open');
    (await gateway.request('POST', PATH, {}, JSON.stringify({ what: 'nothing' }))).problem(
      422,
      'invalid-entry',
    );
  }),
  check('23.2', 'state', async (gateway) => {
    const { json } = (await gateway.request('POST', PATH, {}, NOTICE)).expect(201);
    const state = await gateway.get(asString(json['path']));
    // Of a cluster, only the gateway that received it knows it.
    if (gateway.reading !== undefined) {
      state.problem(404, 'not-found');
      return;
    }
    state.expect(200);
    const { number, received } = json;
    assert.deepEqual(state.json, { number, received, state: 'open' });
    (await gateway.get(`${PATH}/unknown`)).problem(404, 'not-found');
  }),
];
