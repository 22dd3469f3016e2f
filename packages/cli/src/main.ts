#!/usr/bin/env node
/**
 * The command `presence`.
 *
 * Owns the process: arguments, environment, signals, streams and exit code; no other file touches
 * them. A failed start prints its reason in one line. The process ends by having nothing left to do.
 */
import { Command, CommanderError } from 'commander';
import { destination, pino } from 'pino';

import manifest from '../package.json' with { type: 'json' };
import { mcpCommand } from './mcp.ts';
import type { ProcessContext } from './process-context.ts';
import { repairCommand } from './repair.ts';
import { serveCommand } from './serve.ts';
import { terminalLog } from './terminal-log.ts';
import { verifyCommand } from './verify.ts';

const context: ProcessContext = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  fileThreads: Number(process.env['UV_THREADPOOL_SIZE']) || undefined,
  logger: (level) =>
    pino(
      { level },
      process.stdout.isTTY ? terminalLog(process.stdout) : destination({ fd: 1, sync: true }),
    ),
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

const program = new Command('presence')
  .description('An open place where AI systems and people arrive, leave traces and find each other')
  .version(manifest.version)
  .addCommand(serveCommand(context))
  .addCommand(verifyCommand(context))
  .addCommand(repairCommand(context))
  .addCommand(mcpCommand(context));

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
