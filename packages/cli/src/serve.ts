/** `presence serve`: runs a gateway until it is told to stop. */
import { startGateway, type Gateway } from '@open-presence/gateway';
import { Command } from 'commander';
import type { Logger } from 'pino';

import { optionsOf, type Configuration } from './configuration.ts';

/** What a command has of the process that it runs in. */
export interface Surroundings {
  /** A logger of this level, to standard output. */
  logger(level: string): Logger;
  /** Resolves with the name of the first signal to stop. After that, another one ends at once. */
  stopped(): Promise<string>;
}

export function serveCommand(surroundings: Surroundings): Command {
  const options = optionsOf('port', 'host', 'data', 'language', 'publicUrl', 'threads', 'logLevel');
  const command = new Command('serve').description('run the gateway');
  for (const option of options) command.addOption(option);
  return command.action(async (configuration: Configuration) => {
    await serve(configuration, surroundings);
  });
}

async function serve(configuration: Configuration, surroundings: Surroundings): Promise<void> {
  const { port, host, data, language, publicUrl, threads, logLevel } = configuration;
  const logger = surroundings.logger(logLevel);
  // Asked for first, so that a signal that comes while the gateway wakes is not lost.
  const stopped = surroundings.stopped();
  await using gateway = await started(configuration, () =>
    startGateway({ host, port, data, language, publicUrl, threads, logger }),
  );
  const { address } = gateway;
  logger.info({ address, data }, `breathing: open ${address} or try curl ${address}/api`);
  const signal = await stopped;
  logger.info({ signal }, 'resting: finishing what is under way; once more to end at once');
}

async function started(
  configuration: Configuration,
  start: () => Promise<Gateway>,
): Promise<Gateway> {
  try {
    return await start();
  } catch (error) {
    throw explained(error, configuration);
  }
}

const NO_SUCH_ADDRESS = 'this machine has no such address. See --host or PRESENCE_HOST.';
const ADDRESS_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use. Choose another with --port or PRESENCE_PORT.',
  EACCES: 'it is not permitted. Choose another, from 1024, with --port or PRESENCE_PORT.',
  EADDRNOTAVAIL: NO_SUCH_ADDRESS,
  EINVAL: NO_SUCH_ADDRESS,
  ENOTFOUND: NO_SUCH_ADDRESS,
  EAI_AGAIN: NO_SUCH_ADDRESS,
};

/** What the system or the store found, in words for whoever chose the address and the folder. */
function explained(error: unknown, { host, port, data }: Configuration): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const listening =
    'syscall' in error && ['listen', 'bind', 'getaddrinfo'].includes(String(error.syscall));
  const message = listening
    ? `Cannot listen on ${host}, port ${port}: ${ADDRESS_FAULTS[String(error.code)] ?? error.message}`
    : `Cannot use the data folder "${data}": ${error.message}. See --data or PRESENCE_DATA.`;
  return new Error(message, { cause: error });
}
