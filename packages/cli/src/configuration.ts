/**
 * All settings in one table, from which options and `--help` are made. A setting is read from its
 * flag or, without it, from its environment variable.
 */
import { availableParallelism, platform } from 'node:os';

import { InvalidArgumentError, Option } from 'commander';

export interface Setting {
  readonly name: Exclude<keyof Configuration, 'acceptLoss' | 'acceptClock'>;
  readonly flag: string;
  readonly variable: string;
  readonly default: string | number | undefined;
  readonly description: string;
  /** Throws `InvalidArgumentError` for an unusable text. */
  readonly parse: (text: string) => string | number;
}

const MAX_DEFAULT_THREADS = 4;
/** Where several threads can listen on one port (`SO_REUSEPORT` that distributes connections). */
export const CAN_SHARE_PORT: boolean = ['linux', 'freebsd', 'sunos', 'aix'].includes(platform());
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export interface Configuration {
  readonly port: number;
  readonly host: string;
  readonly data: string;
  readonly language?: string;
  readonly publicUrl?: string;
  readonly threads: number;
  readonly logLevel: string;
  readonly acceptLoss?: boolean;
  readonly acceptClock?: boolean;
}

export const DATA_SETTING: Setting = {
  name: 'data',
  flag: '--data <folder>',
  variable: 'PRESENCE_DATA',
  default: './presence-data',
  description: 'data folder; created if it does not exist',
  parse: nonEmpty('the path of a folder'),
};

/** The settings of `serve`. */
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
  DATA_SETTING,
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
    default: CAN_SHARE_PORT ? Math.min(availableParallelism(), MAX_DEFAULT_THREADS) : 1,
    description:
      'threads that serve visitors; default: one per core, up to 4, or one where threads cannot share a port (macOS, Windows)',
    parse: parseThreads,
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

/** Answers to what a start asks. Without variables: each is for one start, not for all. */
export const ANSWERS: readonly Option[] = [
  new Option(
    '--accept-loss',
    'go on with what is there after a start has said that the log has lost entries',
  ),
  new Option(
    '--accept-clock',
    'the clock is right, after a start has said that it is far ahead of the newest entry',
  ),
];

/** The option for a setting, with a description of what a command uses it for. */
export function settingOption(setting: Setting, description: string = setting.description): Option {
  const option = new Option(setting.flag, description).env(setting.variable);
  return option.argParser(setting.parse).default(setting.default);
}

function wholeNumber(min: number, max: number): Setting['parse'] {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

function parseThreads(text: string): number {
  const threads = Number(wholeNumber(1, 1024)(text));
  if (threads === 1 || CAN_SHARE_PORT) return threads;
  throw new InvalidArgumentError(
    'It must be 1: on this system, several threads cannot listen on one port.',
  );
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
