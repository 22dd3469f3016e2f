/**
 * All settings in one table, from which options and `--help` are made. A setting comes from its flag,
 * else from its environment variable, else, if the command has `--config`, from that file (see
 * `configuration-file.ts`).
 */
import { availableParallelism, platform } from 'node:os';
import { resolve } from 'node:path';

import type { MetricsAddress } from '@open-presence/gateway';
import { parseStreamAddress } from '@open-presence/gateway/replica';
import { type Command, InvalidArgumentError, Option } from 'commander';

import { parseAddress } from './gateway-address.ts';
import { parseListen } from './listen-setting.ts';

export interface Setting {
  readonly name: Exclude<keyof Configuration, 'readOnly'>;
  readonly flag: string;
  readonly variable: string;
  readonly default: string | number | boolean | undefined;
  readonly description: string;
  /** Throws `InvalidArgumentError` for an unusable text. */
  readonly parse: (text: string) => string | number | boolean;
  /** Understood, but not told: another setting says the same. */
  readonly isFormer?: true;
}

const MAX_DEFAULT_THREADS = 4;
/** Storing and indexing have threads of their own. */
const CORES_FOR_THE_STORE = 1;
/** Whether several threads can listen on one port: on these systems, `SO_REUSEPORT` distributes connections. */
export const CAN_SHARE_PORT: boolean = ['linux', 'freebsd', 'sunos', 'aix'].includes(platform());
/** One thread for each core that the store does not need: more would only compete for the cores. */
const DEFAULT_THREADS = Math.max(
  1,
  Math.min(availableParallelism() - CORES_FOR_THE_STORE, MAX_DEFAULT_THREADS),
);
const LEVELS: readonly string[] = ['error', 'warn', 'info', 'debug'];
/** Others that the logger has. Operators need none of them. */
const RARE_LEVELS: readonly string[] = ['fatal', 'trace', 'silent'];

export interface Configuration {
  readonly listen?: string;
  readonly port: number;
  readonly host: string;
  readonly data: string;
  readonly language?: string;
  readonly publicUrl?: string;
  readonly threads: number;
  readonly logLevel: string;
  /** Whether to log requests, or the file to log them to. */
  readonly logRequests: boolean | string;
  /** Such as `127.0.0.1:7411`. */
  readonly metrics?: string;
  readonly mirror?: string;
  /** Such as `nats://a:4222,b:4222,c:4222`. */
  readonly log?: string;
  readonly readOnly?: string;
}

export const DATA_SETTING: Setting = {
  name: 'data',
  flag: '--data <folder>',
  variable: 'PRESENCE_DATA',
  default: './presence-data',
  description: 'data folder; created if it does not exist',
  parse: nonEmpty('the path of a folder'),
};

export const LANGUAGE_SETTING: Setting = {
  name: 'language',
  flag: '--language <file>',
  variable: 'PRESENCE_LANGUAGE',
  default: undefined,
  description: 'your own language file, with texts and rooms',
  parse: nonEmpty('the path of a language file'),
};

export const PUBLIC_URL_SETTING: Setting = {
  name: 'publicUrl',
  flag: '--public-url <url>',
  variable: 'PRESENCE_PUBLIC_URL',
  default: undefined,
  description: 'address at which visitors reach the gateway; default: the Host of each request',
  parse: parseOrigin,
};

export const LOG_SETTING: Setting = {
  name: 'log',
  flag: '--log <address>',
  variable: 'PRESENCE_LOG',
  default: undefined,
  description:
    'NATS servers of a cluster of gateways, such as nats://a:4222,b:4222,c:4222, and /NAME of the stream if it is not PRESENCE; with tls:// in place of nats:// and ?ca=FILE&cert=FILE&key=FILE&creds=FILE for TLS and credentials; without it, the log is in the data folder alone',
  parse: parseLogAddress,
};

/** The settings of `serve`. */
export const SETTINGS: readonly Setting[] = [
  {
    name: 'listen',
    flag: '--listen <address>',
    variable: 'PRESENCE_LISTEN',
    default: undefined,
    description:
      'where to listen: HOST:PORT, unix:PATH, or fd:NUMBER for a listening socket that the process inherits; default: a socket that systemd passes, else 127.0.0.1:7410',
    parse(text) {
      parseListen(text);
      return text;
    },
  },
  {
    name: 'port',
    flag: '--port <number>',
    variable: 'PRESENCE_PORT',
    default: 7410,
    description: 'TCP port to listen on; 0 picks a free one',
    parse: wholeNumber(0, 65_535),
    isFormer: true,
  },
  {
    name: 'host',
    flag: '--host <address>',
    variable: 'PRESENCE_HOST',
    default: '127.0.0.1',
    description: 'address to listen on; 0.0.0.0 or :: for all addresses of this machine',
    parse: nonEmpty('an address or the name of a host'),
    isFormer: true,
  },
  DATA_SETTING,
  LANGUAGE_SETTING,
  PUBLIC_URL_SETTING,
  {
    name: 'threads',
    flag: '--threads <number>',
    variable: 'PRESENCE_THREADS',
    default: CAN_SHARE_PORT ? DEFAULT_THREADS : 1,
    description:
      'threads that serve visitors; default: one for each core but one, up to 4, or one where threads cannot share a port (macOS, Windows)',
    parse: parseThreads,
  },
  {
    name: 'mirror',
    flag: '--mirror <url>',
    variable: 'PRESENCE_MIRROR',
    default: undefined,
    description: 'address of another gateway: follow its log and serve the copy, for reading only',
    parse: parseAddress,
  },
  LOG_SETTING,
  {
    name: 'logLevel',
    flag: '--log-level <level>',
    variable: 'PRESENCE_LOG_LEVEL',
    default: 'info',
    description: `how much to log: ${LEVELS.join(', ')}`,
    parse: parseLogLevel,
  },
  {
    name: 'logRequests',
    flag: '--log-requests [yes|no|file]',
    variable: 'PRESENCE_LOG_REQUESTS',
    default: false,
    description:
      'log a line for each request, without what visitors said and without who they are; to standard output, or to a file, given by a path with a slash',
    parse: parseRequestLog,
  },
  {
    name: 'metrics',
    flag: '--metrics <address:port>',
    variable: 'PRESENCE_METRICS',
    default: undefined,
    description: 'address for Prometheus, such as 127.0.0.1:7411; without it, nothing is counted',
    parse: parseMetricsAddress,
  },
];

/** For a single start. A variable would hold for all starts, so it has none. */
export const READ_ONLY_OPTION: Option = new Option(
  '--read-only <reason>',
  'store nothing, and tell everyone why, until "presence read-only off"',
).argParser((reason: string) => {
  if (reason.trim() === '') throw new InvalidArgumentError('It must say why.');
  return reason;
});

/** The option for a setting. `description`: what the command uses it for. */
export function settingOption(setting: Setting, description: string = setting.description): Option {
  const option = new Option(setting.flag, description).env(setting.variable);
  return option
    .argParser(setting.parse)
    .default(setting.default)
    .hideHelp(setting.isFormer === true);
}

/** Throws if `--data` was given beside what takes its place. A variable is for all commands, so it may be set. */
export function refuseData(command: Command, other: string): void {
  if (command.getOptionValueSource(DATA_SETTING.name) === 'cli')
    throw new Error(`Leave out --data, or ${other}: the log is read from one place.`);
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

/** Refuses a path, since most links in answers begin at the root. Removes the slash at the end. */
function parseOrigin(text: string): string {
  const url = URL.parse(text);
  const isRoot = url !== null && url.href === `${url.origin}/`;
  if (isRoot && ['http:', 'https:'].includes(url.protocol)) return url.origin;
  throw new InvalidArgumentError(
    'It must be an http or https address without a path, such as https://example.org.',
  );
}

function parseLogLevel(text: string): string {
  if ([...LEVELS, ...RARE_LEVELS].includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${LEVELS.join(', ')}.`);
}

function parseLogAddress(text: string): string {
  const { servers } = parseStreamAddress(text) ?? {};
  if (servers?.length === 2 || new Set(servers).size < (servers?.length ?? 0))
    throw new Error(
      'Name three NATS servers or more in --log or PRESENCE_LOG, each once. Two cannot go on when one of them fails.',
    );
  if (servers !== undefined) return text;
  // Not an `InvalidArgumentError`: commander would show the text, which may hold a password.
  throw new Error(
    '--log or PRESENCE_LOG is no address of NATS servers, such as nats://a:4222,b:4222,c:4222, or tls://a:4222?ca=FILE&cert=FILE&key=FILE&creds=FILE, which has names in place of IP addresses. In a password, write % as %25.',
  );
}

/** The path of a file needs a slash, so that a misspelled word is not taken for one. */
function parseRequestLog(text: string): boolean | string {
  if (text === '-') return true;
  if (/[/\\]/.test(text)) return resolve(text);
  if (/^(?:yes|true|on|1)$/i.test(text)) return true;
  if (/^(?:no|false|off|0)$/i.test(text)) return false;
  throw new InvalidArgumentError(
    'It must be yes, no or the path of a file, with a slash, such as ./requests.log.',
  );
}

function parseMetricsAddress(text: string): string {
  metricsAddress(text);
  return text;
}

/** Prometheus connects by TCP. */
export function metricsAddress(text: string): MetricsAddress {
  try {
    const address = parseListen(text);
    if ('port' in address) return address;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError(
    'It must be an address and a port, such as 127.0.0.1:7411 or [::1]:7411.',
  );
}

export function nonEmpty(expected: string): Setting['parse'] {
  return (text) => {
    if (text.trim() !== '') return text;
    throw new InvalidArgumentError(`It must be ${expected}, not empty.`);
  };
}
