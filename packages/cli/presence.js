#!/usr/bin/env node
/**
 * Starts the command, on a Node.js that can run it. In JavaScript, since older ones cannot read the
 * first TypeScript file, and since Node's compile cache must be enabled before it is loaded. With
 * the cache, later starts do not load the TypeScript compiler and its 15 MB in any thread.
 */
import * as module from 'node:module';

const REQUIRED_MAJOR = 24;
const { node } = process.versions;

if (Number.parseInt(node, 10) < REQUIRED_MAJOR) {
  process.stderr.write(
    `This needs Node.js ${REQUIRED_MAJOR} or later, and runs on ${node}. After "npm ci", one that fits is in node_modules/.bin.\n`,
  );
  process.exitCode = 1;
} else {
  // Files are flushed, read and compressed in one pool of threads, which is made at its first use.
  // Uploads take half of it at most: of Node's four, that would be two.
  process.env['UV_THREADPOOL_SIZE'] ??= '16';
  const { directory } = module.enableCompileCache();
  // Threads read it from the environment only.
  if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory;
  await import('./src/main.ts');
}
