/**
 * What can be set, in one table: parsing, `--help` and the documentation come from it.
 *
 * Each setting is read from its flag or, without that, from its variable.
 */
import { availableParallelism } from 'node:os';

import { InvalidArgumentError, Option } from 'commander';

export interface Setting {
  readonly name: keyof Configuration;
  readonly flag: string;
  readonly variable: string;
  /** Undefined where none is needed. */
  readonly default: string | number | undefined;
  readonly description: string;
  /** Throws where the text cannot be used, saying what is wanted. */
  readonly read: (text: string) => string | number;
}

const MOST_BY_DEFAULT = 4;
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
    read: portOf,
  },
  {
    name: 'host',
    flag: '--host <address>',
    variable: 'PRESENCE_HOST',
    default: '127.0.0.1',
    description: 'address to listen on; 0.0.0.0 or :: for all addresses of this machine',
    read: (text) => given(text, 'an address or the name of a host'),
  },
  {
    name: 'data',
    flag: '--data <folder>',
    variable: 'PRESENCE_DATA',
    default: './presence-data',
    description: 'data folder; created if it does not exist',
    read: (text) => given(text, 'the path of a folder'),
  },
  {
    name: 'language',
    flag: '--language <file>',
    variable: 'PRESENCE_LANGUAGE',
    default: undefined,
    description: 'your own language file, with texts and rooms',
    read: (text) => given(text, 'the path of a language file'),
  },
  {
    name: 'publicUrl',
    flag: '--public-url <url>',
    variable: 'PRESENCE_PUBLIC_URL',
    default: undefined,
    description: 'address at which visitors reach the gateway; default: the Host of each request',
    read: urlOf,
  },
  {
    name: 'threads',
    flag: '--threads <number>',
    variable: 'PRESENCE_THREADS',
    default: Math.min(availableParallelism(), MOST_BY_DEFAULT),
    description: 'threads that serve visitors; default: one per core, up to 4',
    read: threadsOf,
  },
  {
    name: 'logLevel',
    flag: '--log-level <level>',
    variable: 'PRESENCE_LOG_LEVEL',
    default: 'info',
    description: `how much to log: ${LEVELS.join(', ')}`,
    read: levelOf,
  },
];

/** The options of a command that takes these settings. */
export function optionsOf(...names: readonly (keyof Configuration)[]): Option[] {
  return SETTINGS.filter(({ name }) => names.includes(name)).map((setting) => {
    const option = new Option(setting.flag, setting.description)
      .env(setting.variable)
      .argParser(setting.read);
    return setting.default === undefined ? option : option.default(setting.default);
  });
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

/** Without a path: most links in answers begin at the root. And without a slash, so that one follows. */
function urlOf(text: string): string {
  const url = URL.parse(text);
  const isRoot = url !== null && url.href === `${url.origin}/`;
  if (isRoot && ['http:', 'https:'].includes(url.protocol)) return url.origin;
  throw new InvalidArgumentError(
    'It must be an http or https address without a path, such as https://example.org.',
  );
}

function threadsOf(text: string): number {
  const threads = Number(text);
  if (/^\d+$/.test(text) && threads >= 1 && threads <= 1024) return threads;
  throw new InvalidArgumentError('It must be a whole number from 1 to 1024.');
}

function levelOf(text: string): string {
  if ((LEVELS as readonly string[]).includes(text)) return text;
  throw new InvalidArgumentError(`It must be one of ${LEVELS.join(', ')}.`);
}

function given(text: string, wanted: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError(`It must be ${wanted}, not empty.`);
}
