import assert from 'node:assert/strict';

import type { Answer } from '../answer.ts';
import { check, type Case } from '../case.ts';
import { contactBody, uniqueName, type Gateway } from '../gateway.ts';
import { asObject, asArray, asNonBlank } from '../value.ts';

const CHOICES: readonly (readonly [string, string])[] = [
  ['uk', 'uk'],
  ['en', 'en'],
  ['UK', 'uk'],
  ['en-GB', 'en'],
  ['uk-UA,uk;q=0.9,en;q=0.8', 'uk'],
  ['uk;q=0.2, en;q=0.9', 'en'],
  ['de, uk;q=0.3', 'uk'],
  ['de,fr;q=0.9,en;q=0.1,uk;q=0.05', 'en'],
  ['uk;q=0, en', 'en'],
];
const NO_CHOICE = ['de', '*', 'uk;q=0', 'de, *;q=0.5', '???'];

function statusTexts({ json }: Answer): unknown[] {
  return [json['service'], json['message'], json['invitation']];
}

async function inTongue(gateway: Gateway, locale: string | undefined): Promise<Answer[]> {
  const headers = locale === undefined ? {} : { 'accept-language': locale };
  return [
    await gateway.get('/api', headers),
    await gateway.get('/api/rooms', headers),
    await gateway.get('/api/discover', headers),
    await gateway.post('resonance', contactBody(uniqueName(), []), headers),
    await gateway.get('/api/nowhere', headers),
    await gateway.post('garden', '{}', headers),
  ];
}

/** What must not change with the locale. */
function names(answers: readonly Answer[]): unknown[] {
  const [status, rooms, discover, contacted, ...errors] = answers.map(({ json }) => json);
  return [
    Object.keys(status ?? {}),
    status?.['endpoints'],
    status?.['status'],
    asArray(rooms?.['rooms']).map((room) => [asObject(room)['slug'], asObject(room)['path']]),
    Object.keys(discover ?? {}),
    asArray(discover?.['kinds']).map((kind) => [asObject(kind)['kind'], asObject(kind)['path']]),
    asArray(discover?.['doors']).map((door) => [asObject(door)['name'], asObject(door)['path']]),
    Object.keys(contacted ?? {}),
    errors.map((error) => [error['code'], error['status'], error['type'], error['known']]),
  ];
}

export const locales: readonly Case[] = [
  ...CHOICES.map(([header, locale]) =>
    check(
      '1.9',
      'locales',
      async (gateway) => {
        const plain = await gateway.get('/api', { 'accept-language': locale });
        const chosen = await gateway.get('/api', { 'accept-language': header });
        assert.equal(chosen.header('content-language'), locale);
        assert.deepEqual(statusTexts(chosen), statusTexts(plain));
        for (const text of statusTexts(chosen)) asNonBlank(text);
      },
      header,
    ),
  ),
  check('1.9', 'by-default', async (gateway) => {
    const plain = await gateway.get('/api');
    for (const header of NO_CHOICE) {
      const answer = await gateway.get('/api', { 'accept-language': header });
      assert.deepEqual(statusTexts(answer), statusTexts(plain), header);
      assert.equal(answer.header('content-language'), undefined, header);
    }
  }),
  check('1.9', 'same-names', async (gateway) => {
    const plain = names(await inTongue(gateway, undefined));
    for (const locale of ['uk', 'en']) {
      assert.deepEqual(names(await inTongue(gateway, locale)), plain);
    }
  }),
  check('1.9', 'vary', async (gateway) => {
    const [slug = ''] = await gateway.rooms();
    const room = `/api/rooms/${slug}?identity=${uniqueName()}`;
    for (const locale of ['uk', 'en', undefined]) {
      const headers = locale === undefined ? {} : { 'accept-language': locale };
      const listed = await gateway.get(room, headers);
      for (const answer of [...(await inTongue(gateway, locale)), listed]) {
        assert.equal(answer.header('content-language'), locale);
        assert.match(answer.header('vary') ?? '', /accept-language/i);
      }
    }
  }),
];
