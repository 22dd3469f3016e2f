#!/usr/bin/env node
/**
 * The command `presence`.
 *
 * Owns the process: arguments, environment, signals, streams and exit code; no other file touches
 * them. A failed start prints its reason in one line. The process ends when it has nothing left to do.
 */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { CommanderError } from 'commander';

import manifest from '../package.json' with { type: 'json' };
import { masked } from './configuration/masked.ts';
import { useProxies } from './environment-proxy.ts';
import { EXIT_UNREACHABLE } from './exit-codes.ts';
import type { ProcessContext, TextOutput } from './process-context.ts';
import { createProgram } from './program.ts';
import { guardedText, guardTerminal } from './safe-text.ts';
import { serviceManager } from './serve/service-manager.ts';
import { nonBlocking, ServiceOutput, type ServiceOutputOptions } from './serve/service-output.ts';
import { describeDropped, terminalLog } from './terminal-log.ts';

guardTerminal(process.stderr);
if (process.stdout.isTTY) guardTerminal(process.stdout);

// A command runs to its end even if its reader, such as `head`, stops reading.
process.stderr.on('error', () => {});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Cannot write the output: ${error.message}\n`);
  process.once('exit', () => {
    process.exitCode ||= EXIT_UNREACHABLE;
  });
});

// Only their owner can read and write stored files. The gateway itself opens UNIX sockets for visitors to all users.
process.umask(0o077);

// Hides passwords from users who list the processes.
if (process.argv.some((word) => word !== masked(word)))
  process.title = process.argv.map(masked).join(' ');

const outputs = new Map<number | string, ServiceOutput>();

/** Returns the same output for the same target, so that its lines stay in order. */
function outputTo(name: number | string, options: () => ServiceOutputOptions): ServiceOutput {
  const output = outputs.get(name) ?? new ServiceOutput(options());
  outputs.set(name, output);
  return output;
}

function serviceOutput(stream: 'stdout' | 'stderr'): TextOutput {
  const { isTTY } = process[stream];
  const fd = stream === 'stdout' ? 1 : 2;
  const output = outputTo(fd, () => ({
    target: isTTY ? nonBlocking(fd) : fd,
    describeDropped: describeDropped(isTTY),
  }));
  // Otherwise, standard output is data: lines of JSON.
  const isForPeople = isTTY || stream === 'stderr';
  return isForPeople ? { write: (text) => output.write(guardedText(text)) } : output;
}

/** The root folder for a user without one, such as a container's, where nothing can be kept. */
function homeFolder(): string {
  try {
    return homedir() || '/';
  } catch {
    return '/';
  }
}

const context: ProcessContext = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  variables: Object.keys(process.env),
  fileThreads: Number(process.env['UV_THREADPOOL_SIZE']) || undefined,
  passedSockets:
    process.env['LISTEN_PID'] === String(process.pid) ? Number(process.env['LISTEN_FDS']) || 0 : 0,
  configurationFolder:
    process.env['XDG_CONFIG_HOME'] || process.env['APPDATA'] || join(homeFolder(), '.config'),
  async logger(level) {
    const { pino } = await import('pino');
    const { isTTY } = process.stdout;
    const log = serviceOutput('stdout');
    return pino({ level }, isTTY ? terminalLog(log) : log);
  },
  serviceOutput,
  nodeVersion: process.versions.node,
  version: manifest.version,
  requestLog(file, logger) {
    if (file === undefined) {
      const format = process.stdout.isTTY ? 'text' : 'json';
      return { write: (lines) => serviceOutput('stdout').write(lines), format };
    }
    const log = outputTo(file, () => ({
      target: file,
      describeDropped: describeDropped(false),
      onFailing: ({ message }) =>
        logger.warn({ file, message }, 'the log of requests cannot be written; trying again'),
    }));
    return { write: (lines) => log.write(lines), format: 'json' };
  },
  stopSignal(onReload) {
    const { promise, resolve } = Promise.withResolvers<string>();
    const stop = (signal: string): void => {
      process.off('SIGTERM', stop);
      process.off('SIGINT', stop);
      resolve(signal);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    if (onReload !== undefined)
      process.on('SIGHUP', () => {
        for (const log of outputs.values()) log.reopen();
        onReload();
      });
    // The terminal was closed. Under nohup, standard input is none.
    else if (process.stdin.isTTY) process.on('SIGHUP', stop);
    process.on('SIGUSR2', () => {});
    return promise;
  },
  serviceManager: () =>
    serviceManager({
      isTold: process.env['NOTIFY_SOCKET'] !== undefined,
      watchdogMs: Number(process.env['WATCHDOG_USEC']) / 1000 || undefined,
    }),
  setExitCode(code) {
    process.exitCode = code;
  },
  exit() {
    void closeOutputs().then(() => process.exit());
  },
};

const program = await createProgram(context, manifest.version, process.argv.slice(2, 4));
const outputError = (text: string, write: (text: string) => void): void => write(masked(text));
for (const command of [program, ...program.commands])
  command.exitOverride().configureOutput({ outputError });

program.hook('preAction', (_, command) => {
  const { data }: { readonly data?: unknown } = command.opts();
  if (typeof data === 'string' && command.name() !== 'serve') actAsOwner(data);
});

try {
  useProxies(process.env);
} catch {
  // Does not print the address, which may hold a password.
  process.stderr.write(
    'HTTP_PROXY or HTTPS_PROXY is not the address of a proxy, such as http://proxy.example:3128. Requests go without one.\n',
  );
}

try {
  await program.parseAsync();
} catch (error) {
  // commander has printed its own errors already.
  if (!(error instanceof CommanderError)) {
    process.stderr.write(`${masked(error instanceof Error ? error.message : String(error))}\n`);
  }
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
await closeOutputs();

/** Otherwise, root would leave files that the gateway cannot read. */
function actAsOwner(folder: string): void {
  if (process.geteuid?.() !== 0) return;
  const owner = statSync(folder, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === 0) return;
  process.setegid?.(owner.gid);
  process.seteuid?.(owner.uid);
}

async function closeOutputs(): Promise<void> {
  await Promise.all([...outputs.values()].map((log) => log.close()));
}
