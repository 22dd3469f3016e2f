/**
 * `npm run sbom [FILE]`: writes what the installed command consists of, with the licence of each part,
 * as a CycloneDX document (`sbom.cdx.json`), and prints how many parts have which licence.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { asArray, asObject, type JsonObject } from '../conformance/value.ts';
import { install, packAll, ROOT, run } from '../test/packages/packed.ts';

/** Of a project into which the packages were installed: what npm finds there, and what the pages contain. */
export async function billOfMaterials(project: string): Promise<JsonObject> {
  const npm = await run('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'], {
    cwd: project,
  });
  const bill = asObject(JSON.parse(npm.stdout));
  const web = asObject(JSON.parse(await readFile(join(ROOT, 'packages/web/package.json'), 'utf8')));
  const { vite: _, ...bundled } = asObject(web['devDependencies']);
  const components = await Promise.all(Object.keys(bundled).map(bundledComponent));
  return { ...bill, components: [...asArray(bill['components']), ...components] };
}

/** A package whose code is part of the built pages. */
async function bundledComponent(name: string): Promise<JsonObject> {
  const manifest = join(ROOT, 'node_modules', name, 'package.json');
  const { version, license } = asObject(JSON.parse(await readFile(manifest, 'utf8')));
  const purl = `pkg:npm/${name.replace('@', '%40')}@${String(version)}`;
  return {
    'bom-ref': purl,
    type: 'library',
    name,
    version,
    purl,
    licenses: [{ license: { id: license } }],
  };
}

/** How the licence of a component is given, or `none`. */
export function licenceOf(component: unknown): string {
  const [first] = asArray(asObject(component)['licenses'] ?? []);
  const { license, expression } = asObject(first ?? {});
  const { id, name } = asObject(license ?? {});
  const given = expression ?? id ?? name;
  return typeof given === 'string' ? given : 'none';
}

async function main(target: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'presence-sbom-'));
  try {
    const project = join(folder, 'project');
    const packed = await packAll(join(folder, 'built'));
    await install(project, ...packed.map(({ tarball }) => tarball));
    const bill = await billOfMaterials(project);
    await writeFile(target, `${JSON.stringify(bill, undefined, 2)}\n`);
    const parts = Map.groupBy(asArray(bill['components']), licenceOf);
    for (const [licence, { length }] of parts) console.log(`${length}\t${licence}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await main(process.argv[2] ?? 'sbom.cdx.json');
