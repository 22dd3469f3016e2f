/** `presence serve`: runs a gateway until a signal stops it. */
import { resolve } from 'node:path';

import { startGateway, type Gateway } from '@open-presence/gateway';
import { Command } from 'commander';
import type { Logger } from 'pino';

import { ANSWERS, type Configuration, settingOption, SETTINGS } from './configuration.ts';
import type { ProcessContext } from './process-context.ts';
import { startReport, type StartReport } from './start-report.ts';

export function serveCommand(context: ProcessContext): Command {
  const command = new Command('serve').description('run the gateway');
  for (const setting of SETTINGS) command.addOption(settingOption(setting));
  for (const answer of ANSWERS) command.addOption(answer);
  return command.action(async (configuration: Configuration) => {
    await serve(configuration, context);
  });
}

async function serve(configuration: Configuration, context: ProcessContext): Promise<void> {
  const logger = context.logger(configuration.logLevel);
  // Before the start, so that a signal during it is not lost.
  const stopSignal = context.stopSignal();
  const report = startReport(context, logger, configuration);
  await using gateway = await start(configuration, context, logger, report);
  report.serving(gateway.address);
  const signal = await stopSignal;
  logger.info({ signal }, 'resting: finishing what is under way; once more to end at once');
}

async function start(
  configuration: Configuration,
  { fileThreads }: ProcessContext,
  logger: Logger,
  report: StartReport,
): Promise<Gateway> {
  const { logLevel: _, ...config } = configuration;
  const { language, publicUrl } = config;
  const onWaking = report.waking;
  try {
    return await startGateway({ ...config, language, publicUrl, fileThreads, logger, onWaking });
  } catch (error) {
    throw describeFailure(error, configuration);
  }
}

const NO_SUCH_ADDRESS = 'this machine has no such address. See --host or PRESENCE_HOST.';
const NO_SUCH_HOST =
  'no address is known for this name. Use an address of this machine with --host or PRESENCE_HOST.';
const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use. Choose another with --port or PRESENCE_PORT.',
  EACCES: 'it is not permitted. Choose another, from 1024, with --port or PRESENCE_PORT.',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  EINVAL: NO_SUCH_ADDRESS,
  EAFNOSUPPORT: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_HOST,
  EAI_AGAIN: NO_SUCH_HOST,
};

const CHOOSE_FOLDER = 'Choose another folder with --data or PRESENCE_DATA.';
const NOT_PERMITTED = `the user who runs the gateway may not read and write it. Give it to that user, or change its permissions. ${CHOOSE_FOLDER}`;
const FOLDER_ERRORS: Readonly<Record<string, string>> = {
  ENOTDIR: `it is a file, or in a file, and must be a folder. ${CHOOSE_FOLDER}`,
  ENOENT: `it does not exist and cannot be created there. ${CHOOSE_FOLDER}`,
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  EROFS: `it is on a disk that can only be read. ${CHOOSE_FOLDER}`,
  ENOSPC: `the disk is full. Make room, or choose another folder with --data or PRESENCE_DATA.`,
};

/** Names the setting to change, for errors of the operating system and of the store. */
function describeFailure(error: unknown, { host, port, data }: Configuration): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const isListenError =
    'syscall' in error && ['listen', 'bind', 'getaddrinfo'].includes(String(error.syscall));
  if (isListenError) {
    const reason = LISTEN_ERRORS[code] ?? error.message;
    return new Error(`Cannot listen on ${host}, port ${port}: ${reason}`, { cause: error });
  }
  const reason = FOLDER_ERRORS[code] ?? `${error.message}. ${CHOOSE_FOLDER}`;
  const path = 'path' in error ? String(error.path) : resolve(data);
  const subject = path === resolve(data) ? '' : ` (${path})`;
  return new Error(`Cannot use the data folder "${data}"${subject}: ${reason}`, { cause: error });
}
