#!/usr/bin/env node
/**
 * Starts the command, on a Node.js that can run it. In JavaScript, since older ones cannot read the
 * first TypeScript file, and since Node's compile cache must be enabled before it is loaded. With
 * the cache, no thread loads the TypeScript compiler, which takes 15 MB.
 */
import { existsSync, readdirSync, rmdirSync, symlinkSync } from 'node:fs';
import * as module from 'node:module';
import { basename, dirname, join } from 'node:path';

// Without a listener, this signal opens a debugger, in which anybody on this machine can run code.
process.on('SIGUSR1', () => {});

const REQUIRED = [24, 12];
const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);

if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  process.stderr.write(
    `The command "presence" needs Node.js ${REQUIRED.join('.')} or later, and runs on ${node} (${process.execPath}). Install a later one (https://nodejs.org). In a clone of the repository, "npm ci" has put one in node_modules/.bin.\n`,
  );
  process.exitCode = 1;
} else {
  // Files are flushed, read and compressed in one pool of threads, which is made at its first use.
  // Uploads take half of it at most: of Node's four, that would be two.
  process.env['UV_THREADPOOL_SIZE'] ??= '16';
  // In the repository, filled by `npm ci` (`scripts/fill-compile-cache.ts`).
  enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/presence'));
  await import('./src/main.ts');
}

/** @param {string} installed */
function enableCompileCache(installed) {
  // Without a folder, and where that of another user cannot be written: the one for temporary files.
  const { status } = module.enableCompileCache(existsSync(installed) ? installed : undefined);
  if (status === module.constants.compileCacheStatus.FAILED) module.enableCompileCache();
  // One for each version of Node, and for each user: "v26.10.0-x64-310b2ce3-1000".
  const folder = module.getCompileCacheDir();
  if (folder === undefined) return;
  // Threads read it from the environment only.
  process.env['NODE_COMPILE_CACHE'] ??= dirname(folder);
  if (dirname(folder) !== installed) replaceByLink(folder, installed);
}

/**
 * Puts a link to what `npm ci` has compiled in place of a folder that is empty.
 *
 * @param {string} folder
 * @param {string} installed
 */
function replaceByLink(folder, installed) {
  const version = basename(folder).replace(/[^-]*$/, '');
  try {
    const compiled = readdirSync(installed).find((name) => name.startsWith(version));
    if (compiled === undefined) return;
    rmdirSync(folder);
    symlinkSync(join(installed, compiled), folder, 'junction');
  } catch {
    // It is not empty, or nothing is installed: what is missing in it is compiled.
  }
}
