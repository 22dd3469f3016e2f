import assert from 'node:assert/strict';

import { check, type Case } from '../case.ts';
import { KINDS, type Entry } from '../entry.ts';
import { EventStream } from '../event-stream.ts';
import { uniqueName, query, traceBody, type Gateway } from '../gateway.ts';
import { asArray, asObject, type JsonObject } from '../value.ts';
import { idsOf, type Pairs } from './filters.ts';
import { body } from './rooms.ts';

const EVENTS = '/api/events';

interface Filter {
  readonly pairs: Pairs;
  readonly takes: (entry: Entry) => boolean;
}

/** Every filter that a stream has, and some of them together. */
function filtersFor(names: readonly [string, string], slugs: readonly string[]): Filter[] {
  const [a, b] = names;
  const [one = '', two = one] = slugs;
  const said = (name: string, value: string): ((entry: Entry) => boolean) => {
    return ({ fields }) => [fields[name]].flat().includes(value);
  };
  const who = (name: string): ((entry: Entry) => boolean) => {
    return (entry) => said('identity', name)(entry) || said('ai_identity', name)(entry);
  };
  return [
    { pairs: [['identity', a]], takes: who(a) },
    {
      pairs: [
        ['identity', a],
        ['identityType', 'x'],
      ],
      takes: (e) => who(a)(e) && said('identityType', 'x')(e),
    },
    { pairs: [['to', a]], takes: said('to', a) },
    {
      pairs: [
        ['to', a],
        ['to', b],
      ],
      takes: (e) => said('to', a)(e) && said('to', b)(e),
    },
    { pairs: [['inReplyTo', b]], takes: said('inReplyTo', b) },
    { pairs: [['seeking', a]], takes: said('seeking', a) },
    {
      pairs: [
        ['identity', b],
        ['room', one],
      ],
      takes: (e) => who(b)(e) && e.room === one,
    },
    {
      pairs: [
        ['identity', a],
        ['room', two],
        ['kind', 'seeds'],
      ],
      takes: (e) => who(a)(e) && e.room === two && e.kind === 'seeds',
    },
    ...KINDS.map((kind) => ({
      pairs: [
        ['identity', b],
        ['kind', kind],
      ] as const,
      takes: (e: Entry) => who(b)(e) && e.kind === kind,
    })),
    {
      pairs: [
        ['identity', a],
        ['identity', b],
      ],
      takes: () => false,
    },
  ];
}

/** Entries of two identities that differ in everything by which one can filter. */
async function crowd(gateway: Gateway, names: readonly [string, string]): Promise<Entry[]> {
  const [a, b] = names;
  const slugs = await gateway.rooms();
  const said: Entry[] = [];
  for (let at = 0; at < 48; at += 1) {
    const kind = KINDS[at % 4] ?? 'garden';
    const more = {
      identityType: at % 3 === 0 ? 'x' : 'y',
      seeking: at % 5 === 0 ? [a, 'it'] : ['it'],
      room: slugs[at % 2] ?? slugs[0],
      to: [undefined, a, [b, a], 'x'][(at >> 2) % 4],
      inReplyTo: at % 7 < 3 ? b : undefined,
    };
    said.push((await gateway.contribute(kind, body(kind, at % 8 < 4 ? a : b, more))).entry);
  }
  return said;
}

export const liveFilters: readonly Case[] = [
  check('12.3', 'filters', async (gateway) => {
    const names = [uniqueName('a'), uniqueName('b')] as const;
    const filters = filtersFor(names, await gateway.rooms());
    const open = async ({ pairs }: Filter): Promise<EventStream> =>
      await EventStream.open(gateway, query(EVENTS, [...pairs, ['after', 0]]));
    const opened = await Promise.all(filters.map(open));
    const said = [...(await crowd(gateway, names)), ...(await crowd(gateway, names))];
    const late = await Promise.all(filters.map(open));
    try {
      for (const [at, { pairs, takes }] of filters.entries()) {
        const wanted = idsOf(said.filter(takes));
        for (const stream of [opened[at], late[at]]) {
          const taken = (await stream?.take(wanted.length)) ?? [];
          assert.deepEqual(idsOf(taken), wanted, JSON.stringify(pairs));
        }
      }
    } finally {
      for (const stream of [...opened, ...late]) stream.close();
    }
  }),
  check('12.3', 'related', async (gateway) => {
    const name = uniqueName();
    const say = async (more: JsonObject): Promise<Entry> =>
      (await gateway.contribute('garden', traceBody(uniqueName(), more))).entry;
    const root = (await gateway.contribute('garden', traceBody(name))).entry;
    const open = async (place: string, pairs: Pairs): Promise<EventStream> =>
      await EventStream.open(gateway, query(place, [...pairs, ['after', 0]]));
    const opened = async (): Promise<EventStream[]> =>
      await Promise.all(
        [EVENTS, '/api/garden'].flatMap((place) => [
          open(place, [['thread', root.id]]),
          open(place, [['concerns', name]]),
        ]),
      );
    const early = await opened();
    const addressed = await say({ to: name });
    const answer = await say({ inReplyTo: root.id });
    const mention = await say({ text: `Good morning, @${name}.` });
    await say({ text: 'To nobody.' });
    const deeper = await say({ inReplyTo: answer.id, to: name });
    const late = await opened();
    const thread = idsOf([root, answer, deeper]);
    const concerning = idsOf([addressed, answer, mention, deeper]);
    try {
      for (const streams of [early, late]) {
        for (const [at, stream] of streams.entries()) {
          const wanted = at % 2 === 0 ? thread : concerning;
          assert.deepEqual(idsOf(await stream.take(wanted.length)), wanted);
        }
      }
    } finally {
      for (const stream of [...early, ...late]) stream.close();
    }
    const nowhere = await gateway.get(`${EVENTS}?thread=nowhere`);
    const [fault] = asArray(nowhere.problem(400, 'invalid-parameter')['faults']).map(asObject);
    assert.equal(fault?.['parameter'], 'thread');
  }),
  check('12.3', 'kinds', async (gateway) => {
    const identity = uniqueName();
    const slug = await gateway.roomOf('garden');
    const said: Entry[] = [];
    for (const kind of [...KINDS, ...KINDS]) {
      said.push((await gateway.contribute(kind, body(kind, identity, { room: slug }))).entry);
    }
    for (const kinds of [
      ['garden'],
      ['garden', 'seeds'],
      ['shepit', 'seeds', 'resonance'],
      KINDS,
    ]) {
      const wanted = said.filter(({ kind }) => kinds.some((one) => one === kind));
      for (const place of [EVENTS, `/api/rooms/${slug}`]) {
        const pairs: Pairs = [
          ...kinds.map((kind) => ['kind', kind] as const),
          ['identity', identity],
          ['after', 0],
          ['limit', wanted.length],
        ];
        using stream = await EventStream.open(gateway, query(place, pairs));
        assert.deepEqual(idsOf(await stream.rest()), idsOf(wanted), kinds.join());
      }
    }
  }),
  check('12.3', 'limit', async (gateway) => {
    const identity = uniqueName();
    const said: Entry[] = [];
    for (let at = 0; at < 4; at += 1) {
      said.push((await gateway.contribute('garden', traceBody(identity))).entry);
    }
    for (const limit of [0, 1, 3, 4]) {
      const pairs: Pairs = [
        ['identity', identity],
        ['after', 0],
        ['limit', limit],
      ];
      using stream = await EventStream.open(gateway, query(EVENTS, pairs));
      assert.deepEqual(idsOf(await stream.rest()), idsOf(said.slice(0, limit)));
    }
    const pairs: Pairs = [
      ['identity', identity],
      ['after', 0],
      ['limit', 6],
    ];
    using stream = await EventStream.open(gateway, query(EVENTS, pairs));
    for (let at = 0; at < 3; at += 1) {
      said.push((await gateway.contribute('garden', traceBody(identity))).entry);
    }
    assert.deepEqual(idsOf(await stream.rest()), idsOf(said.slice(0, 6)));
    for (const kind of ['presence', 'garden']) {
      const none: Pairs = [
        ['kind', kind],
        ['limit', 0],
      ];
      using empty = await EventStream.open(gateway, query(EVENTS, none));
      assert.deepEqual(await empty.rest(), [], kind);
    }
  }),
  check('12.3', 'refused', async (gateway) => {
    for (const place of [EVENTS, '/api/garden', '/api/entries']) {
      for (const [name, value] of [
        ['order', 'newest'],
        ['before', 1],
        ['until', '2000-01-01'],
        ['wait', 5],
        ['q', 'word'],
      ] as const) {
        const answer = await gateway.get(query(place, [[name, value]]), {
          accept: 'text/event-stream',
        });
        const [fault] = asArray(answer.problem(400, 'invalid-parameter')['faults']).map(asObject);
        assert.equal(fault?.['parameter'], name, place);
      }
    }
  }),
  check('12.3', 'unusable', async (gateway) => {
    const accept = { accept: 'text/event-stream' };
    for (const place of [EVENTS, '/api/garden']) {
      for (const [name, value] of [
        ['limit', '-1'],
        ['limit', 'x'],
        ['since', 'yesterday'],
      ]) {
        const answer = await gateway.get(query(place, [[name ?? '', value ?? '']]), accept);
        answer.problem(400, 'invalid-parameter');
      }
      const nowhere = await gateway.get(`${place}?room=${uniqueName()}`, accept);
      nowhere.problem(422, 'unknown-room');
    }
    (await gateway.get(`${EVENTS}?kind=${uniqueName()}`)).problem(422, 'unknown-kind');
    (await gateway.get(`${EVENTS}?kind=garden&kind=${uniqueName()}`)).problem(422, 'unknown-kind');
  }),
];
