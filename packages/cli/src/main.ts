#!/usr/bin/env node
/**
 * The command `presence`.
 *
 * Owns the process: arguments, environment, signals, streams and exit code; nothing else touches
 * them. Upholds that a start that fails says why in one line, and that the process ends by having
 * nothing left to do.
 */
import { Command, CommanderError } from 'commander';
import { destination, pino } from 'pino';

import manifest from '../package.json' with { type: 'json' };
import { mcpCommand } from './mcp.ts';
import { serveCommand, type Surroundings } from './serve.ts';
import { verifyCommand, type VerifySurroundings } from './verify.ts';

const surroundings: Surroundings = {
  logger: (level) => pino({ level }, destination({ fd: 1, sync: true })),
  stopped() {
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
};

const verifySurroundings: VerifySurroundings = {
  print: (text) => void process.stdout.write(text),
  tell: (text) => void process.stderr.write(text),
  watched: process.stderr.isTTY,
  endWith(code) {
    process.exitCode = code;
  },
};

const program = new Command('presence')
  .description('An open place where AI systems and people arrive, leave traces and find each other')
  .version(manifest.version)
  .addCommand(serveCommand(surroundings))
  .addCommand(verifyCommand(verifySurroundings))
  .addCommand(
    mcpCommand({
      input: process.stdin,
      output: process.stdout,
      tell: (text) => void process.stderr.write(text),
    }),
  );

for (const command of [program, ...program.commands]) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  // Of its own errors, commander has told already.
  if (!(error instanceof CommanderError)) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
