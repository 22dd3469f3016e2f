// The compose files name only what is there: files, volumes, services, variables and the ports of one another.
import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { parse } from 'yaml';

const DEPLOY = join(import.meta.dirname, '../../deploy');

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly image?: string;
  readonly depends_on?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly volumes?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

async function composeOf(name: string): Promise<Compose> {
  return parse(await readFile(join(DEPLOY, name), 'utf8')) as Compose;
}

for (const name of ['container/compose.yaml', 'cluster/compose.yaml'])
  test(`${name} names nothing that is not there`, async () => {
    const folder = dirname(join(DEPLOY, name));
    const { services, volumes } = await composeOf(name);
    const used = new Set<string>();
    const settings = await readFile(join(DEPLOY, 'presence.env'), 'utf8');
    for (const service of Object.values(services)) {
      const { build, image, depends_on: others = [] } = service;
      assert.notEqual(build === undefined, image === undefined);
      assert.match(image ?? 'docker.io/x/y:1.0', /^docker\.io\/[\w/-]+:v?\d+\.[\w.-]+$/);
      if (build !== undefined) await access(join(folder, build.context, build.dockerfile));
      for (const other of others) assert.ok(other in services, other);
      for (const file of service.env_file ?? []) await access(join(folder, file));
      for (const variable of Object.keys(service.environment ?? {}))
        if (build !== undefined) assert.match(settings, new RegExp(`^#?${variable}=`, 'm'));
      for (const [source = ''] of (service.volumes ?? []).map((mount) => mount.split(':')))
        if (source.startsWith('$')) continue;
        else if (source.startsWith('.')) await access(join(folder, source));
        else used.add(source);
    }
    assert.deepEqual([...used].toSorted(), Object.keys(volumes).toSorted());
  });

test('the services of one machine find one another', async () => {
  const { gateway, prometheus, backup, caddy } = (await composeOf('container/compose.yaml'))
    .services;
  const scrape = await readFile(join(DEPLOY, 'container/prometheus.yml'), 'utf8');
  const [address, port] = gateway?.environment?.['PRESENCE_METRICS']?.split(':') ?? [];
  assert.equal(address, '0.0.0.0');
  assert.ok(scrape.includes(`'gateway:${port}'`));
  for (const [rules] of scrape.matchAll(/\S+-alerts\.yml/g))
    assert.ok(prometheus?.volumes?.includes(`../prometheus/${rules}:/etc/prometheus/${rules}:ro`));
  const image = await readFile(join(DEPLOY, 'container/Dockerfile'), 'utf8');
  for (const volume of backup?.volumes ?? [])
    assert.match(image, new RegExp(`chown 7410:7410.* ${volume.split(':')[1]}\\b`));
  const site = await readFile(join(DEPLOY, 'caddy/Caddyfile'), 'utf8');
  for (const variable of Object.keys(caddy?.environment ?? {}))
    assert.match(site, RegExp(variable));
});
