/** `presence serve`: runs a gateway until a signal stops it. */
import { startGateway, type Gateway } from '@open-presence/gateway';
import { Command } from 'commander';
import type { Logger } from 'pino';

import { addSettings, type Configuration } from './configuration.ts';
import type { ProcessContext } from './process-context.ts';

export function serveCommand(context: ProcessContext): Command {
  const command = new Command('serve').description('run the gateway');
  addSettings(command, 'port', 'host', 'data', 'language', 'publicUrl', 'threads', 'logLevel');
  return command.action(async (configuration: Configuration) => {
    await serve(configuration, context);
  });
}

async function serve(configuration: Configuration, context: ProcessContext): Promise<void> {
  const logger = context.logger(configuration.logLevel);
  // Before the start, so that a signal during it is not lost.
  const stopSignal = context.stopSignal();
  await using gateway = await start(configuration, logger);
  const { address } = gateway;
  const { data } = configuration;
  logger.info({ address, data }, `breathing: open ${address} or try curl ${address}/api`);
  const signal = await stopSignal;
  logger.info({ signal }, 'resting: finishing what is under way; once more to end at once');
}

async function start(configuration: Configuration, logger: Logger): Promise<Gateway> {
  const { port, host, data, language, publicUrl, threads } = configuration;
  try {
    return await startGateway({ host, port, data, language, publicUrl, threads, logger });
  } catch (error) {
    throw describeFailure(error, configuration);
  }
}

const NO_SUCH_ADDRESS = 'this machine has no such address. See --host or PRESENCE_HOST.';
const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use. Choose another with --port or PRESENCE_PORT.',
  EACCES: 'it is not permitted. Choose another, from 1024, with --port or PRESENCE_PORT.',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  EINVAL: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_ADDRESS,
  EAI_AGAIN: NO_SUCH_ADDRESS,
};

/** Names the setting to change, for errors of the operating system and of the store. */
function describeFailure(error: unknown, { host, port, data }: Configuration): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const isListenError =
    'syscall' in error && ['listen', 'bind', 'getaddrinfo'].includes(String(error.syscall));
  const message = isListenError
    ? `Cannot listen on ${host}, port ${port}: ${LISTEN_ERRORS[String(error.code)] ?? error.message}`
    : `Cannot use the data folder "${data}": ${error.message}. See --data or PRESENCE_DATA.`;
  return new Error(message, { cause: error });
}
