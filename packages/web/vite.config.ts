/**
 * Builds the pages: first the files for browsers (`dist/client`), then, with `--ssr`, the renderer
 * (`dist/server`). The renderer has the hashed names of the files for browsers.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';

import { defineConfig, type Plugin } from 'vite';

const CLIENT = join(import.meta.dirname, 'dist/client');

/** Only these are compressed. Fonts and PNG images are compressed already. */
const COMPRESSIBLE = /\.(?:css|js|svg)$/;

/** Writes each file also compressed, with the HTTP name of the encoding after its own. */
function precompress(): Plugin {
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  const zstd = { params: { [constants.ZSTD_c_compressionLevel]: 19 } };
  return {
    name: 'precompress',
    writeBundle(_, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!COMPRESSIBLE.test(name)) continue;
        const path = join(CLIENT, name);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, brotli));
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
  plugins: isSsrBuild ? [] : [precompress(), fontLicense()],
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
      input: isSsrBuild ? { renderer: 'src/renderer.tsx' } : ['src/browser/main.ts'],
      // On a slow machine, whoever installs the gateway would see these warnings.
      checks: { bundlerTimings: false, ineffectiveDynamicImport: !isSsrBuild },
    },
  },
}));
