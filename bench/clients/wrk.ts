/** Runs wrk with one thread. */
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../options.ts';
import { runCommand } from '../processes/child-process.ts';
import { parseJsonOutput } from '../processes/json-output.ts';
import { pathOf } from '../processes/external-tools.ts';

const SCRIPT = fileURLToPath(import.meta.resolve('./wrk.lua'));

export interface WrkOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** The method of requests that send a garden entry each; without it they are GET. */
  readonly sendBy?: 'POST' | 'PUT';
  /** Whether each of these has an idempotency key of its own. */
  readonly keyed?: boolean;
  /** The value of `Accept-Encoding`, if there is to be one. */
  readonly accept?: string;
}

export interface WrkResult {
  /** Responses with a status below 400. */
  readonly responses: number;
  readonly perSecond: number;
  /** Average size of a response with its headers. */
  readonly responseBytes: number;
}

/**
 * Throws if a response was an error or a connection broke. When the time is up, wrk does not wait
 * for pending responses: up to one per connection is not counted.
 */
export async function runWrk(bench: BenchContext, options: WrkOptions): Promise<WrkResult> {
  const size = [`-c${options.connections}`, `-d${options.seconds}s`, '--timeout', '60s'];
  const { accept } = options;
  const header = accept === undefined ? [] : ['-H', `Accept-Encoding: ${accept}`];
  const key = options.keyed === true ? ['keyed'] : [];
  const mode = options.sendBy === undefined ? [] : ['--', options.sendBy, ...key];
  const output = await runCommand(bench, [
    pathOf('wrk'),
    '-t1',
    ...size,
    ...header,
    '-s',
    SCRIPT,
    options.url,
    ...mode,
  ]);
  const summary = parseJsonOutput(output);
  const answers = summary.number('requests');
  if (summary.number('refused') > 0 || summary.number('broken') > 0 || answers === 0) {
    throw new Error(`Cannot count ${options.url}, some requests failed:\n${output}`);
  }
  const perSecond = answers / summary.number('seconds');
  return { responses: answers, perSecond, responseBytes: summary.number('bytes') / answers };
}
