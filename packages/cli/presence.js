#!/usr/bin/env node
/**
 * Where the command begins. Plain JavaScript, since what it does must come before the first
 * TypeScript: it lets Node keep what it compiles, so that later starts neither load the compiler
 * nor its 15 MB, in any thread.
 */
import { enableCompileCache } from 'node:module';

const { directory } = enableCompileCache();
// Threads learn of it from the environment only.
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory;

await import('./src/main.ts');
