/** `presence mirror`: follows another gateway's log into a folder. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Gateway, PresenceError } from '@open-presence/client';
import { openLogCopy } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from './command-guide.ts';
import { type Configuration, DATA_SETTING, settingOption } from './configuration/configuration.ts';
import { parseAddress } from './configuration/gateway-address.ts';
import { EXIT_FAILED, EXIT_UNREACHABLE } from './exit-codes.ts';
import { followOrigin, OriginChanged } from './log/follow-origin.ts';
import type { ProcessContext } from './process-context.ts';
import { CLEAR_LINE } from './terminal-log.ts';

const PAUSE_MS = 1000;

interface Options extends Pick<Configuration, 'data'> {
  readonly once?: boolean;
}

export function mirrorCommand(context: ProcessContext): Command {
  const command = new Command('mirror');
  addGuide(command, {
    examples: ['presence mirror https://presence.example --data ./mirror'],
    exitCodes: [0, 1, 2],
    notes:
      'Goes on until Ctrl-C, over restarts of both sides. Stops where the other gateway has changed what was copied; the copy stays as it is. "presence serve --mirror" follows and serves it.',
  });
  command
    .argument('<url>', 'address of the other gateway', parseAddress)
    .addOption(settingOption(DATA_SETTING, 'folder of the copy; created if it does not exist'))
    .option('--once', 'end when everything is copied that is there now');
  return command.action(async (url: string, options: Options) => {
    const end = new AbortController();
    void context.stopSignal().then(() => end.abort(new Error('it was interrupted')));
    const report = mirrorReport(context);
    try {
      await mirror(url, options, { context, report, signal: end.signal });
    } catch (thrown) {
      const isInterrupted = end.signal.aborted;
      if (isInterrupted && options.once !== true) return;
      const error: unknown = isInterrupted ? end.signal.reason : thrown;
      if (!(error instanceof Error)) throw error;
      report.line(`Cannot mirror ${url}: ${error.message}`);
      const isFailed = isInterrupted || error instanceof OriginChanged;
      context.setExitCode(isFailed ? EXIT_FAILED : EXIT_UNREACHABLE);
    }
  });
}

type MirrorReport = ReturnType<typeof mirrorReport>;

interface MirrorTask {
  readonly context: ProcessContext;
  readonly report: MirrorReport;
  readonly signal: AbortSignal;
}

async function mirror(
  url: string,
  { data, once = false }: Options,
  { context, report, signal }: MirrorTask,
): Promise<void> {
  const onTrouble = (error: Error | undefined): void => report.trouble(error);
  const gateway = new Gateway(url, { onRetry: onTrouble });
  const name = await logName(gateway, report, signal);
  const { fileThreads } = context;
  await using copy = await openLogCopy({ data, name, language: undefined, fileThreads });
  const onProgress = (head: number): void => report.progress(copy.head(), head);
  await followOrigin({ gateway, copy, signal, live: !once, onProgress, onTrouble });
  if (once) signal.throwIfAborted();
  const { head, link } = copy.checkpoint();
  report.end(`${head.toLocaleString('en')} entries. Last link ${link}`);
}

/** The name of a gateway's log. Tries until the gateway answers, or the signal is aborted. */
async function logName(
  gateway: Gateway,
  report: MirrorReport,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    try {
      const { log } = await gateway.checkpoint({ signal });
      report.trouble(undefined);
      return log;
    } catch (error) {
      const mayPass =
        error instanceof PresenceError && (error.isTemporary || error.code === 'unreachable');
      if (!mayPass) throw error;
      report.trouble(error);
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

/** Shows progress on standard error if it is a terminal, and each trouble once. */
function mirrorReport(context: ProcessContext) {
  const { stdout, stderr } = context;
  const output = context.serviceOutput('stderr');
  const clear = stderr.isTTY === true ? CLEAR_LINE : '';
  const line = (text: string): void => output.write(`${clear}${text}\n`);
  let originHead = 0;
  let lastTrouble: string | undefined;
  return {
    line,
    progress(copied: number, head: number): void {
      originHead = Math.max(originHead, head);
      if (clear === '') return;
      const [count, all] = [copied, originHead].map((seq) => seq.toLocaleString('en'));
      output.write(`${clear}entry ${count} of ${all}`);
    },
    trouble(error: Error | undefined): void {
      const message = error?.message;
      if (message !== undefined && message !== lastTrouble) line(`${message}\nTrying again.`);
      lastTrouble = message;
    },
    end(text: string): void {
      if (clear !== '') output.write(clear);
      stdout.write(`${text}\n`);
    },
  };
}
