/**
 * All settings in one table, from which options and `--help` are made. A setting is read from its
 * flag or, without it, from its environment variable.
 */
import { availableParallelism } from 'node:os';

import { type Command, InvalidArgumentError, Option } from 'commander';

export interface Setting {
  readonly name: keyof Configuration;
  readonly flag: string;
  readonly variable: string;
  readonly default: string | number | undefined;
  readonly description: string;
  /** Throws `InvalidArgumentError` for an unusable text. */
  readonly parse: (text: string) => string | number;
}

const MAX_DEFAULT_THREADS = 4;
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export interface Configuration {
  readonly port: number;
  readonly host: string;
  readonly data: string;
  readonly language?: string;
  readonly publicUrl?: string;
  readonly threads: number;
  readonly logLevel: string;
}

export const SETTINGS: readonly Setting[] = [
  {
    name: 'port',
    flag: '--port <number>',
    variable: 'PRESENCE_PORT',
    default: 7410,
    description: 'port to listen on; 0 picks a free one',
    parse: wholeNumber(0, 65_535),
  },
  {
    name: 'host',
    flag: '--host <address>',
    variable: 'PRESENCE_HOST',
    default: '127.0.0.1',
    description: 'address to listen on; 0.0.0.0 or :: for all addresses of this machine',
    parse: nonEmpty('an address or the name of a host'),
  },
  {
    name: 'data',
    flag: '--data <folder>',
    variable: 'PRESENCE_DATA',
    default: './presence-data',
    description: 'data folder; created if it does not exist',
    parse: nonEmpty('the path of a folder'),
  },
  {
    name: 'language',
    flag: '--language <file>',
    variable: 'PRESENCE_LANGUAGE',
    default: undefined,
    description: 'your own language file, with texts and rooms',
    parse: nonEmpty('the path of a language file'),
  },
  {
    name: 'publicUrl',
    flag: '--public-url <url>',
    variable: 'PRESENCE_PUBLIC_URL',
    default: undefined,
    description: 'address at which visitors reach the gateway; default: the Host of each request',
    parse: parseOrigin,
  },
  {
    name: 'threads',
    flag: '--threads <number>',
    variable: 'PRESENCE_THREADS',
    default: Math.min(availableParallelism(), MAX_DEFAULT_THREADS),
    description: 'threads that serve visitors; default: one per core, up to 4',
    parse: wholeNumber(1, 1024),
  },
  {
    name: 'logLevel',
    flag: '--log-level <level>',
    variable: 'PRESENCE_LOG_LEVEL',
    default: 'info',
    description: `how much to log: ${LEVELS.join(', ')}`,
    parse: parseLogLevel,
  },
];

/** Adds the options for these settings to a command. */
export function addSettings(command: Command, ...names: readonly (keyof Configuration)[]): Command {
  for (const setting of SETTINGS) {
    if (!names.includes(setting.name)) continue;
    const option = new Option(setting.flag, setting.description)
      .env(setting.variable)
      .argParser(setting.parse);
    command.addOption(setting.default === undefined ? option : option.default(setting.default));
  }
  return command;
}

function wholeNumber(min: number, max: number): Setting['parse'] {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** No path, since most links in answers begin at the root. Returned without a slash at the end. */
function parseOrigin(text: string): string {
  const url = URL.parse(text);
  const isRoot = url !== null && url.href === `${url.origin}/`;
  if (isRoot && ['http:', 'https:'].includes(url.protocol)) return url.origin;
  throw new InvalidArgumentError(
    'It must be an http or https address without a path, such as https://example.org.',
  );
}

function parseLogLevel(text: string): string {
  if ((LEVELS as readonly string[]).includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${LEVELS.join(', ')}.`);
}

function nonEmpty(expected: string): Setting['parse'] {
  return (text) => {
    if (text.trim() !== '') return text;
    throw new InvalidArgumentError(`It must be ${expected}, not empty.`);
  };
}
