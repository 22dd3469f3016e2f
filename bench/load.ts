/** Load made by wrk, with one thread. */
import { fileURLToPath } from 'node:url';

import type { Bench } from './bench.ts';
import { run } from './children.ts';
import { saidBy } from './said.ts';
import { pathOf } from './tools.ts';

const SCRIPT = fileURLToPath(import.meta.resolve('./load.lua'));

export interface LoadPlan {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** With each request a garden entry, instead of a GET. */
  readonly post?: boolean;
}

export interface Load {
  /** Answers with a status below 400. */
  readonly answers: number;
  readonly perSecond: number;
  /** Bytes of an answer with its headers, on average. */
  readonly answerBytes: number;
}

/**
 * Throws where an answer was no success or a connection broke. When the time is up, wrk leaves
 * without the answers it still waits for: up to one for each connection is not counted.
 */
export async function load(bench: Bench, plan: LoadPlan): Promise<Load> {
  const size = [`-c${plan.connections}`, `-d${plan.seconds}s`, '--timeout', '60s'];
  const mode = plan.post === true ? ['--', 'post'] : [];
  const said = await run(bench, [pathOf('wrk'), '-t1', ...size, '-s', SCRIPT, plan.url, ...mode]);
  const told = saidBy(said);
  const answers = told.number('requests');
  if (told.number('refused') > 0 || told.number('broken') > 0 || answers === 0) {
    throw new Error(`Cannot count ${plan.url}, not every answer was a success:\n${said}`);
  }
  const perSecond = answers / told.number('seconds');
  return { answers, perSecond, answerBytes: told.number('bytes') / answers };
}
