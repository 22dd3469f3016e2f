/** What is told to the owner in private. */
import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { asString } from '../value.ts';

const BROWSER = { accept: 'text/html' };
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
  check('23.3', 'page', async (gateway) => {
    const form = (await gateway.get('/notice?about=%2Fentries%2F1&lang=en', BROWSER)).expect(200);
    assert.match(form.text, /<form[^>]* action="\/api\/notice\?page=/);
    assert.match(form.text, / value="\/entries\/1"/);
    const post = async (page: string, why: string) =>
      await gateway.request(
        'POST',
        `${PATH}?page=${encodeURIComponent(page)}`,
        { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded' },
        new URLSearchParams({ what: 'nothing <b>', why, more: 'and this' }).toString(),
      );
    for (const page of ['/notice/{number}', '//other.example']) {
      const location = (await post(page, 'Close it')).expect(303).header('location') ?? '';
      assert.match(location, /^\/notice\/\d{8}T\d{6}Z-/);
      const state = await gateway.get(location, BROWSER);
      // Of a cluster, only the gateway that received it knows it.
      if (gateway.reading === undefined) assert.match(state.expect(200).text, /datetime=/i);
    }
    const refused = (await post('/', ' ')).expect(422);
    assert.equal(refused.type, 'text/html');
    assert.match(refused.text, / value="nothing &lt;b(?:>|&gt;)"/);
    assert.match(refused.text, /name="more"[^>]*>\s*and this</);
  }),
];
