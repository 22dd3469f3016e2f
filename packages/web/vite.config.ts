/**
 * Builds the pages: first the files for browsers (`dist/client`), then, with `--ssr`, the renderer and the
 * module that draws cards (`dist/server`). The renderer has the hashed names of the files for browsers.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';

import scalarPlugin from '@scalar/fastify-api-reference';
import { defineConfig, type Plugin } from 'vite';

const CLIENT = join(import.meta.dirname, 'dist/client');

/** Only these are compressed. Fonts and PNG images are compressed already. */
const COMPRESSIBLE = /\.(?:css|js|svg)$/;

/** In bytes. */
const LARGE = 1_000_000;

/** Writes each file also compressed, with the HTTP name of the encoding after its own. */
function precompress(): Plugin {
  // The best quality takes ten seconds for Scalar's script, and makes it a tenth smaller.
  const brotli = (size: number) => ({
    params: { [constants.BROTLI_PARAM_QUALITY]: size > LARGE ? 9 : 11 },
  });
  const zstd = { params: { [constants.ZSTD_c_compressionLevel]: 19 } };
  return {
    name: 'precompress',
    writeBundle(_, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!COMPRESSIBLE.test(name)) continue;
        const path = join(CLIENT, name);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, brotli(bytes.length)));
        writeFileSync(`${path}.gzip`, gzipSync(bytes, { level: 9 }));
        writeFileSync(`${path}.zstd`, zstdCompressSync(bytes, zstd));
      }
    },
  };
}

/** Copies the licence of the typeface beside it, as the licence demands. */
function fontLicense(): Plugin {
  const source = fileURLToPath(import.meta.resolve('@fontsource-variable/literata/LICENSE'));
  return {
    name: 'font-license',
    writeBundle: () => copyFileSync(source, join(CLIENT, 'OFL.txt')),
  };
}

/**
 * `virtual:scalar` exports the address of Scalar's script for browsers. It comes from Scalar's plugin for
 * Fastify, which is a tenth of the package that has it as a file.
 */
function scalar(): Plugin {
  const name = 'virtual:scalar';
  return {
    name: 'scalar',
    resolveId: (id) => (id === name ? id : undefined),
    async load(id) {
      if (id !== name) return undefined;
      const source = await scalarScript();
      const script = this.emitFile({ type: 'asset', name: 'scalar.js', source });
      return `export default import.meta.ROLLUP_FILE_URL_${script};`;
    },
    writeBundle: () => {
      const license = fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'));
      copyFileSync(join(dirname(license), '../LICENSE'), join(CLIENT, 'scalar.txt'));
    },
  };
}

/** The parts of Fastify's route options and reply by which the plugin serves its script. */
interface PluginRoute {
  readonly url: string;
  readonly handler: (request: undefined, reply: PluginReply) => void;
}

interface PluginReply {
  header(): PluginReply;
  send(body: string): void;
}

type FastifyPlugin = (fastify: object, options: object, done: () => void) => void;

/** The plugin gives its script only to a Fastify instance, so this registers it on one. */
async function scalarScript(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reply: PluginReply = { header: () => reply, send: resolve };
  const route = ({ url, handler }: PluginRoute): void => {
    if (url.endsWith('.js')) handler(undefined, reply);
  };
  const register = scalarPlugin as unknown as FastifyPlugin;
  register({ route }, { configuration: { url: '/' } }, () => {
    reject(new Error('@scalar/fastify-api-reference has no route for its script'));
  });
  return await promise;
}

/** The scripts that cards can have. */
const CARD_FONTS = ['cyrillic', 'cyrillic-ext', 'greek', 'latin', 'latin-ext', 'vietnamese'];

const RESVG = `resvg.wasm is @resvg/resvg-wasm 2.6.2, unchanged, under the Mozilla Public License 2.0
(https://www.mozilla.org/MPL/2.0/). Its source is at https://github.com/thx/resvg-js/tree/v2.6.2.
`;

/** Copies the files that drawing cards needs beside the module that draws them. */
function cardFiles(): Plugin {
  const folder = join(import.meta.dirname, 'dist/server/card-files');
  const copy = (source: string, name: string): void =>
    copyFileSync(fileURLToPath(import.meta.resolve(source)), join(folder, name));
  return {
    name: 'card-files',
    writeBundle() {
      mkdirSync(folder, { recursive: true });
      copy('@resvg/resvg-wasm/index_bg.wasm', 'resvg.wasm');
      // As its licence demands.
      writeFileSync(join(folder, 'resvg.txt'), RESVG);
      for (const script of CARD_FONTS) {
        const name = `literata-${script}-wght-normal.woff2`;
        copy(`@fontsource-variable/literata/files/${name}`, name);
      }
    },
  };
}

function clientManifest(): string {
  return readFileSync(join(CLIENT, '.vite/manifest.json'), 'utf8');
}

export default defineConfig(({ isSsrBuild = false }) => ({
  root: import.meta.dirname,
  base: '/web/',
  publicDir: false,
  logLevel: 'warn',
  define: isSsrBuild ? { CLIENT_MANIFEST: clientManifest() } : {},
  ssr: { noExternal: true },
  plugins: isSsrBuild ? [cardFiles()] : [scalar(), precompress(), fontLicense()],
  build: {
    target: 'baseline-widely-available',
    outDir: isSsrBuild ? 'dist/server' : 'dist/client',
    emptyOutDir: true,
    manifest: !isSsrBuild,
    minify: !isSsrBuild,
    // The content security policy allows no `data:` fonts.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: true,
    rolldownOptions: {
      input: isSsrBuild
        ? { renderer: 'src/renderer.tsx', card: 'src/draw-card.ts' }
        : ['src/client.tsx', 'src/reference/client.ts'],
      // On a slow machine, whoever installs the gateway would see these warnings.
      checks: { bundlerTimings: false, ineffectiveDynamicImport: !isSsrBuild },
    },
  },
}));
