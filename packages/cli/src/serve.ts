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
  const options = optionsOf('port', 'host', 'data', 'language', 'logLevel');
  const command = new Command('serve').description('run the gateway');
  for (const option of options) command.addOption(option);
  return command.action(async (configuration: Configuration) => {
    await serve(configuration, surroundings);
  });
}

async function serve(configuration: Configuration, surroundings: Surroundings): Promise<void> {
  const { port, host, data, language, logLevel } = configuration;
  const logger = surroundings.logger(logLevel);
  // Asked for first, so that a signal that comes while the gateway wakes is not lost.
  const stopped = surroundings.stopped();
  await using gateway = await started(configuration, () =>
    startGateway({ host, port, data, language, logger }),
  );
  const { address } = gateway;
  logger.info({ address, data }, `breathing: open ${address} or try curl ${address}/api`);
  const signal = await stopped;
  logger.info({ signal }, 'resting: finishing what is under way; once more to end at once');
}

async function started(
  { host, port, data }: Configuration,
  start: () => Promise<Gateway>,
): Promise<Gateway> {
  try {
    return await start();
  } catch (error) {
    throw explained(error, { host, port, data });
  }
}

/** The same error in words for whoever chose the address. */
function explained(
  error: unknown,
  { host, port }: Pick<Configuration, 'host' | 'port' | 'data'>,
): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const place = `Cannot listen on ${host}, port ${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(`${place}: it is in use. Choose another with --port or PRESENCE_PORT.`);
    case 'EACCES':
      if (!('port' in error)) return error;
      return new Error(`${place}: not permitted. Ports below 1024 often are not; choose another.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new Error(`${place}: this machine has no such address. See --host, PRESENCE_HOST.`);
    default:
      return error;
  }
}
