/** Reports a start: in plain words on a terminal, else as lines of the log. */
import { resolve } from 'node:path';

import type { WakingProgress } from '@open-presence/gateway';
import type { Logger } from 'pino';

import { CAN_SHARE_PORT, type Configuration } from '../configuration/configuration.ts';
import type { TextOutput } from '../process-context.ts';
import { CLEAR_LINE } from '../terminal-log.ts';

export interface StartReport {
  readonly waking: (progress: WakingProgress) => void;
  readonly serving: (address: string, facts: StartFacts) => void;
}

/** Facts for the log about a gateway that begins to serve. Members that do not apply are undefined. */
interface StartFacts {
  readonly version: string;
  /** The format of the gateway's log. */
  readonly format: number;
  readonly metrics: string | undefined;
  readonly state: string;
  readonly readOnly: string | undefined;
  /** The address of the cluster's stream. */
  readonly cluster: string | undefined;
  readonly mirror: string | undefined;
}

interface ReportedSettings extends Pick<Configuration, 'data' | 'threads'> {
  /** Whether several threads can listen there (`isShareable`). */
  readonly canShareAddress: boolean;
}

/** Addresses that only this machine can reach. */
const LOOPBACK = /^http:\/\/(?:127\.|\[::1\])/;
/** These stand for all addresses of this machine. No client can use them. */
const ANY_ADDRESS = /\/\/(?:0\.0\.0\.0|\[::\])/;
/** The log reports progress each time that the gateway has read another tenth of its entries. */
const LOGGED_PARTS = 10;

/** `terminal`: undefined if standard output is no terminal. */
export function startReport(
  terminal: TextOutput | undefined,
  logger: Logger,
  settings: ReportedSettings,
): StartReport {
  if (terminal !== undefined) return terminalReport(terminal, settings);
  return logReport(logger, settings);
}

function terminalReport(terminal: TextOutput, settings: ReportedSettings): StartReport {
  return {
    waking: (progress) => terminal.write(CLEAR_LINE + describeProgress(progress)),
    serving: (address, { metrics }) =>
      terminal.write(CLEAR_LINE + greeting(address, settings, metrics)),
  };
}

function logReport(logger: Logger, settings: ReportedSettings): StartReport {
  const { data, threads, canShareAddress } = settings;
  let logged = -1;
  return {
    waking(progress) {
      const part = Math.floor(fractionOf(progress) * LOGGED_PARTS);
      if (part === logged) return;
      logged = part;
      const { indexed, head, behind } = progress;
      logger.info({ indexed, head, ...(behind > 0 && { behind }) }, describeProgress(progress));
    },
    serving(address, { version, format, ...facts }) {
      const serving = { version, format, address, data: resolve(data), threads, ...facts };
      if (!CAN_SHARE_PORT || !canShareAddress) logger.info(`threads: ${describeThreads(settings)}`);
      logger.info(serving, `serving: ${firstSteps(address)}`);
    },
  };
}

/** A message of the stream counts as an entry. */
function fractionOf({ indexed, head, behind }: WakingProgress): number {
  return head === 0 ? 0 : indexed / (head + behind);
}

function describeProgress(progress: WakingProgress): string {
  const { address, head, behind } = progress;
  const percent = `${Math.floor(fractionOf(progress) * 100)} %`;
  const missing = behind === 0 ? '' : `; messages of the cluster that are missing: ${behind}`;
  const step =
    head === 0 && behind === 0 ? 'opening the log' : `reading the log, ${percent}${missing}`;
  return `waking: ${step}; requests to ${address} are answered once that is done`;
}

export function describeThreads({
  threads,
  canShareAddress,
}: Pick<ReportedSettings, 'threads' | 'canShareAddress'>): string {
  if (!CAN_SHARE_PORT) return 'one thread, since several cannot listen on one port on this system';
  if (!canShareAddress) return 'one thread, since several cannot listen on this socket';
  return threads === 1 ? 'one thread' : `${threads} threads`;
}

function firstSteps(address: string): string {
  if (isUrl(address)) return `open ${address} or try curl ${address}/api`;
  return `at ${address}`;
}

function isUrl(address: string): boolean {
  return address.startsWith('http');
}

function greeting(address: string, settings: ReportedSettings, metrics?: string): string {
  const counted = metrics === undefined ? '' : `\n  Counts at   ${metrics}`;
  return `
The Open Presence Gateway is open.

  Listens at  ${address} (${describeReach(address)})
  Stores in   ${resolve(settings.data)}
  Serves with ${describeThreads(settings)}${counted}

Try first:

${examples(address)}

Ctrl-C stops it.

`;
}

function describeReach(address: string): string {
  if (!isUrl(address)) return 'for programs of this machine, such as a proxy in front';
  if (LOOPBACK.test(address)) return 'for this machine only; --listen opens it to others';
  return 'for all who can reach this machine';
}

function examples(address: string): string {
  const [, path] = /^unix:(.*)$/s.exec(address) ?? [];
  if (path !== undefined)
    return `  curl        curl --unix-socket '${path}' http://localhost/api/entries`;
  const url = address.replace(ANY_ADDRESS, '//localhost');
  return `  a browser   ${url}
  curl        curl -d text=Hello ${url}/api/shepit
              curl "${url}/api/entries?limit=5"
  MCP         add ${url}/mcp to your client's servers`;
}
