/** `presence serve`: runs a gateway until a signal stops it. */
import { resolve } from 'node:path';

import {
  hasPages,
  isShareable,
  LOG_FORMAT,
  startGateway,
  type Gateway,
  type ListenAddress,
  type RequestLogOptions,
} from '@open-presence/gateway';
import { Command } from 'commander';
import type { Logger } from 'pino';

import { addGuide } from '../command-guide.ts';
import { addConfigOption, unknownNames } from '../configuration/configuration-file.ts';
import {
  type Configuration,
  metricsAddress,
  READ_ONLY_OPTION,
  settingOption,
  SETTINGS,
} from '../configuration/configuration.ts';
import { describeListen, listenAddress } from '../configuration/listen-setting.ts';
import { masked } from '../configuration/masked.ts';
import type { ProcessContext } from '../process-context.ts';
import { PAGES_MEND } from '../doctor/start-checks.ts';
import { followForServing, type MirroredOrigin, mirroredOrigin } from './serve-mirror.ts';
import { startReport, type StartReport } from './start-report.ts';

export function serveCommand(context: ProcessContext): Command {
  const command = new Command('serve');
  for (const setting of SETTINGS) command.addOption(settingOption(setting));
  addConfigOption(command.addOption(READ_ONLY_OPTION));
  addGuide(command, {
    examples: ['presence serve --data ./presence-data --listen 127.0.0.1:7410'],
    exitCodes: [0, 1],
    notes:
      'Serves until Ctrl-C or SIGTERM: finishes what is under way then. A second signal ends it at once, and so does the first during the start.',
  });
  return command.action(async (configuration: Configuration) => {
    await serve(configuration, await unknownNames(command, context), context);
  });
}

async function serve(
  given: Configuration,
  unknown: Awaited<ReturnType<typeof unknownNames>>,
  context: ProcessContext,
): Promise<void> {
  const listen = listenAddress(given, context.passedSockets);
  const canShareAddress = isShareable(listen);
  const configuration = canShareAddress ? given : { ...given, threads: 1 };
  const logger = await context.logger(configuration.logLevel);
  for (const { name, place } of unknown)
    logger.warn({ name }, `the ${place} has what is no setting`);
  // Before the start, so that a signal during it is not lost.
  let isReloadDue = false;
  let reload = (): void => void (isReloadDue = true);
  const stopSignal = context.stopSignal(() => reload());
  let isStarting = true;
  void stopSignal.then((signal) => {
    logger.info({ signal }, isStarting ? 'resting: before the start was complete' : RESTING);
    if (isStarting) context.exit();
  });
  const terminal = context.stdout.isTTY === true ? context.serviceOutput('stdout') : undefined;
  const report = startReport(terminal, logger, { ...configuration, canShareAddress });
  const origin = await mirroredOrigin(configuration, logger);
  // Before the gateway, so that it goes on while the gateway stops.
  using manager = context.serviceManager();
  await using gateway = await start(configuration, { context, logger, report, origin, listen });
  isStarting = false;
  if (!(await hasPages()))
    logger.warn(`the pages are not built, and browsers get JSON. ${PAGES_MEND}`);
  const reason = gateway.readOnly();
  report.serving(gateway.address, {
    version: context.version,
    format: LOG_FORMAT,
    metrics: gateway.metricsUrl,
    state: gateway.state(),
    readOnly: reason,
    cluster: configuration.log && masked(configuration.log),
    mirror: configuration.mirror,
  });
  if (reason !== undefined)
    logger.warn({ reason }, 'read-only: nothing is stored until "presence read-only off"');
  if (gateway.lacksContact) logger.warn(NO_CONTACT);
  reload = () => void readAgain(gateway, logger);
  if (isReloadDue) reload();
  manager.ready(() => gateway.turn());
  await using _following = origin && followForServing(origin, gateway.mirroring, logger);
  await stopSignal;
}

const RESTING = 'resting: finishing what is under way; once more to end at once';

const NO_CONTACT =
  'the gateway is public, and says nowhere how to reach you: set "contact" in a language file (--language), and read docs/answering.md';

async function readAgain(gateway: Gateway, logger: Logger): Promise<void> {
  try {
    await gateway.reload();
    logger.info('reload: the language file and the texts for visitors were read again');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    logger.error({ message }, 'reload: refused; what was read before stays in force');
  }
}

interface Start {
  readonly context: ProcessContext;
  readonly logger: Logger;
  readonly report: StartReport;
  readonly origin: MirroredOrigin | undefined;
  readonly listen: ListenAddress;
}

async function start(
  configuration: Configuration,
  { context, logger, report, origin, listen }: Start,
): Promise<Gateway> {
  const { fileThreads, nodeVersion } = context;
  const { logLevel: _, logRequests, metrics, mirror: address, ...config } = configuration;
  const mirror = address === undefined ? undefined : { origin: address, name: origin?.name };
  const { language, publicUrl } = config;
  const onWaking = report.waking;
  try {
    return await startGateway({
      ...config,
      listen,
      language,
      publicUrl,
      fileThreads,
      nodeVersion,
      logger,
      onWaking,
      mirror,
      metrics: metrics === undefined ? undefined : metricsAddress(metrics),
      requestLog: requestLogOf(logRequests, { context, logger }),
    });
  } catch (error) {
    throw describeFailure(error, configuration, listen);
  }
}

function requestLogOf(
  logRequests: Configuration['logRequests'],
  { context, logger }: Pick<Start, 'context' | 'logger'>,
): RequestLogOptions | undefined {
  if (logRequests === false) return undefined;
  return context.requestLog(logRequests === true ? undefined : logRequests, logger);
}

const NO_SUCH_ADDRESS = 'this machine has no such address. See --listen or PRESENCE_LISTEN.';
const NO_SUCH_HOST =
  'no address is known for this name. Use an address of this machine with --listen or PRESENCE_LISTEN.';
const TOO_FEW_FILES =
  'the process may open too few files (ulimit -n; LimitNOFILE= of systemd). 1024 are enough for some 700 connections.';
const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EMFILE: TOO_FEW_FILES,
  EADDRINUSE: 'it is in use. Choose another with --listen or PRESENCE_LISTEN.',
  EACCES: 'it is not permitted. Choose another, from 1024, with --listen or PRESENCE_LISTEN.',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  EINVAL: NO_SUCH_ADDRESS,
  EAFNOSUPPORT: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_HOST,
  EAI_AGAIN: NO_SUCH_HOST,
};

const SOCKET_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use, or a file that is not a socket. Choose another path with --listen.',
  // libuv reports ENOENT as this, too.
  EACCES:
    'its folder does not exist, or the user who runs the gateway may not write there. Choose another path with --listen.',
};
const NOT_INHERITED = 'the process has inherited no listening socket with this number.';

const CHOOSE_FOLDER = 'Choose another folder with --data or PRESENCE_DATA.';
const NOT_PERMITTED = `the user who runs the gateway may not read and write it. Give it to that user, or change its permissions. ${CHOOSE_FOLDER}`;
const FOLDER_ERRORS: Readonly<Record<string, string>> = {
  EMFILE: TOO_FEW_FILES,
  ENOTDIR: `it is a file, or in a file, and must be a folder. ${CHOOSE_FOLDER}`,
  ENOENT: `it does not exist and cannot be created there. ${CHOOSE_FOLDER}`,
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  EROFS: `it is on a disk that can only be read. ${CHOOSE_FOLDER}`,
  ENOSPC: `the disk is full. Make room, or choose another folder with --data or PRESENCE_DATA.`,
};

/** Names the setting to change, for errors of the operating system and of the store. */
function describeFailure(error: unknown, { data }: Configuration, listen: ListenAddress): unknown {
  if (error instanceof Error && /EMFILE|too many open files/.test(error.message))
    return new Error(`Cannot start: ${TOO_FEW_FILES}`, { cause: error });
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const isListenError =
    'syscall' in error && ['listen', 'bind', 'getaddrinfo'].includes(String(error.syscall));
  if (isListenError) {
    const reason = describeListenError(code, listen) ?? error.message;
    return new Error(`Cannot listen on ${describeListen(listen)}: ${reason}`, { cause: error });
  }
  const reason = FOLDER_ERRORS[code] ?? `${error.message}. ${CHOOSE_FOLDER}`;
  const path = 'path' in error ? String(error.path) : resolve(data);
  const subject = path === resolve(data) ? '' : ` (${path})`;
  return new Error(`Cannot use the data folder "${data}"${subject}: ${reason}`, { cause: error });
}

function describeListenError(code: string, listen: ListenAddress): string | undefined {
  if ('port' in listen) return LISTEN_ERRORS[code];
  return 'path' in listen ? SOCKET_ERRORS[code] : NOT_INHERITED;
}
