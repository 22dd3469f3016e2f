/** Runs the bundled visit of `try-packages.ts` in workerd: `node visit-by-workerd.mjs PROJECT GATEWAY`. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [project = '', address = ''] = process.argv.slice(2);
const { Miniflare } = createRequire(join(project, 'package.json'))('miniflare');
const visit = await readFile(join(project, 'bundle.js'), 'utf8');
const script = `${visit}\nexport default { fetch: async () => new Response(await visit('${address}')) };`;
const workerd = new Miniflare({ modules: true, script, compatibilityDate: '2026-01-01' });
console.log(await (await workerd.dispatchFetch('http://localhost/')).text());
await workerd.dispose();
