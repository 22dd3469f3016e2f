/** A client whose types are made of the OpenAPI document, as others would make one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';

import { asObject, asArray } from '../../conformance/value.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const MAKER = join(import.meta.dirname, 'node_modules/openapi-typescript/bin/cli.js');

const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './made.ts';

const [, , baseUrl = ''] = process.argv;
const client = createClient<paths, 'application/json' | 'application/problem+json'>({ baseUrl });

const contact = await client.POST('/api/resonance', {
  body: { ai_identity: 'Typed', seeking: ['types'] },
});
if (contact.data === undefined) throw new Error(contact.error?.detail);
const welcome: string | undefined = contact.data.welcome;

const trace = await client.GET('/api/say/{kind}', {
  params: {
    path: { kind: 'garden' },
    query: { text: 'typed', identity: 'Typed', identityType: 'ai_entity', to: ['a', 'b'] },
  },
});
if (trace.data === undefined || !('id' in trace.data)) throw new Error('nothing was kept');
const { id } = trace.data;

const listed = await client.GET('/api/garden', {
  params: { query: { identity: 'Typed', order: 'oldest', limit: 1 } },
});
const again = await client.GET('/api/entries/{id}', { params: { path: { id } } });
const wrong = await client.GET('/api/garden', {
  // @ts-expect-error The values of order are known.
  params: { query: { order: 'sideways' } },
});
const { data: discovery } = await client.GET('/api/discover');
console.log(JSON.stringify({
  welcome,
  listed: listed.data?.entries.map((entry) => entry.id),
  again: again.data?.seq,
  wrong: wrong.error?.code,
  rooms: discovery?.rooms.map((room) => room.slug),
}));
`;

/** A line does not compile where a type of ours and the document's differ. */
const COMPARISON = `
import type * as ours from ${JSON.stringify(join(ROOT, 'packages/protocol/src/index.ts'))};
import type { components } from './made.ts';

type Schemas = components['schemas'];
type Listed<Documents> = Documents extends readonly (infer One)[] ? One : never;
type OurKind = Listed<ours.Discovery['kinds']>;
type HasNoMore<Ours, Theirs> = [Exclude<keyof Ours, keyof Theirs>] extends [never] ? true : false;
type Same<Ours, Theirs> = [Ours, Theirs] extends [Theirs, Ours] ? HasNoMore<Ours, Theirs> : false;
type CaughtUp = Schemas['CatchUp'];
type NextStep = Listed<NonNullable<Schemas['FirstContact']['next']>>;
/** Types of objects that are said to have no members have none of any type. */
type Has<Wanted, Theirs> = [Wanted] extends [Theirs] ? true : false;
type AllTrue<Compared extends Record<string, true>> = Compared;
export type Compared = AllTrue<{
  status: Same<ours.Status, Schemas['Status']>;
  ownMembers: Same<ours.OwnMembers, Pick<Schemas['Entry'], keyof ours.OwnMembers>>;
  room: Same<ours.RoomDocument, Schemas['Room']>;
  rooms: Same<ours.RoomsDocument, Schemas['Rooms']>;
  withholding: Same<ours.WithholdingDocument, Schemas['Withholding']>;
  present: Same<ours.PresentDocument, Schemas['Present']>;
  lately: Same<ours.LatelyDocument, Listed<Schemas['Presence']['lately']>>;
  checkpoint: Same<ours.Checkpoint, Schemas['Checkpoint']>;
  discovery: Same<ours.Discovery, Schemas['Discovery']>;
  kind: Same<OurKind, Listed<Schemas['Discovery']['kinds']>>;
  field: Same<Listed<OurKind['fields']>, Omit<Schemas['Field'], 'example'>>;
  since: Same<ours.CatchUpDocument['since'], CaughtUp['since']>;
  more: Same<Listed<ours.CatchUpDocument['more']>, Listed<CaughtUp['more']>>;
  seekers: Has<string, Listed<CaughtUp['seekers']>['id']>;
  elsewhere: Has<unknown, CaughtUp['elsewhere'][string]>;
  body: Has<unknown, NonNullable<NextStep['body']>[string]>;
}>;
`;

const CONFIGURATION = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
  include: ['*.ts'],
  exclude: [],
};

it('a client made by openapi-typescript compiles, and speaks with the gateway', async () => {
  await using gateway = await startGatewayProcess();
  await using folder = await dataFolder();
  const at = (name: string): string => join(folder.path, name);
  await symlink(join(ROOT, 'test/node_modules'), at('node_modules'));
  await writeFile(at('package.json'), '{"type":"module"}');
  await writeFile(at('tsconfig.json'), JSON.stringify(CONFIGURATION));
  await writeFile(at('client.ts'), CLIENT);
  await writeFile(at('comparison.ts'), COMPARISON);
  const document = await fetch(`${gateway.url}/openapi.json`);
  await writeFile(at('openapi.json'), await document.text());
  const node = process.execPath;
  await run(node, [MAKER, at('openapi.json'), '--output', at('made.ts')]);
  await run(join(ROOT, 'test/node_modules/.bin/tsc'), ['-p', folder.path]).catch(
    (error: unknown) => {
      assert.fail(String(asObject(error)['stdout']));
    },
  );
  const { stdout } = await run(node, [at('client.ts'), gateway.url], { cwd: folder.path });
  const said = asObject(JSON.parse(stdout));
  assert.match(String(said['welcome']), /\p{L}/u);
  assert.equal(asArray(said['listed']).length, 1);
  assert.equal(said['again'], 2);
  assert.equal(said['wrong'], 'invalid-parameter');
  assert.ok(asArray(said['rooms']).length > 0);
});
