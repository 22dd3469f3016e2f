#!/usr/bin/env node
/**
 * Enables Node's compile cache, so that later starts do not load the TypeScript compiler and its
 * 15 MB in any thread. In JavaScript, since that must happen before the first TypeScript file.
 */
import { enableCompileCache } from 'node:module';

const { directory } = enableCompileCache();
// Threads read it from the environment only.
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory;

await import('./src/main.ts');
