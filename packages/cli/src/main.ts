#!/usr/bin/env node
/**
 * The command `presence`.
 *
 * Owns the process: arguments, environment, signals, streams and exit code; no other file touches
 * them. A failed start prints its reason in one line. The process ends by having nothing left to do.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

import { CommanderError } from 'commander';
import { destination, pino } from 'pino';

import manifest from '../package.json' with { type: 'json' };
import { EXIT_UNREACHABLE } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';
import { createProgram } from './program.ts';
import { terminalLog } from './terminal-log.ts';

// A command goes on to its end when its reader, such as head, has enough.
process.stderr.on('error', () => {});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Cannot write the output: ${error.message}\n`);
  process.once('exit', () => {
    process.exitCode ||= EXIT_UNREACHABLE;
  });
});

const context: ProcessContext = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  fileThreads: Number(process.env['UV_THREADPOOL_SIZE']) || undefined,
  passedSockets:
    process.env['LISTEN_PID'] === String(process.pid) ? Number(process.env['LISTEN_FDS']) || 0 : 0,
  configurationFolder:
    process.env['XDG_CONFIG_HOME'] ?? process.env['APPDATA'] ?? join(homedir(), '.config'),
  stateFolder: process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'),
  logger: (level) =>
    pino(
      { level },
      process.stdout.isTTY ? terminalLog(process.stdout) : destination({ fd: 1, sync: true }),
    ),
  nodeVersion: process.versions.node,
  requestLog: { fd: 1, format: process.stdout.isTTY ? 'text' : 'json' },
  stopSignal() {
    const { promise, resolve } = Promise.withResolvers<string>();
    const stop = (signal: string): void => {
      process.off('SIGTERM', stop);
      process.off('SIGINT', stop);
      resolve(signal);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    return promise;
  },
  setExitCode(code) {
    process.exitCode = code;
  },
};

const program = await createProgram(context, manifest.version, process.argv[2]);
for (const command of [program, ...program.commands]) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  // commander has printed its own errors already.
  if (!(error instanceof CommanderError)) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
