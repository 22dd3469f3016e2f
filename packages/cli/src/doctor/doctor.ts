/** `presence doctor`: checks what a gateway needs, and says what to mend. Changes nothing. */
import { runningGateway } from '@open-presence/gateway';
import { Command } from 'commander';

import { addGuide } from '../command-guide.ts';
import { addConfigOption } from '../configuration/configuration-file.ts';
import {
  type Configuration,
  metricsAddress,
  settingOption,
  SETTINGS,
} from '../configuration/configuration.ts';
import { EXIT_FAILED } from '../exit-codes.ts';
import { listenAddress } from '../configuration/listen-setting.ts';
import type { ProcessContext } from '../process-context.ts';
import { safeText } from '../safe-text.ts';
import { type Finding, ok } from './finding.ts';
import { checkFolder } from './folder-checks.ts';
import {
  checkDescriptors,
  checkListening,
  checkLogFolder,
  checkPages,
  checkServers,
  checkWords,
} from './start-checks.ts';

const MARKS: Readonly<Record<Finding['level'], string>> = {
  ok: 'ok',
  warning: 'look',
  fault: 'MEND',
};

export function doctorCommand(context: ProcessContext): Command {
  const command = new Command('doctor');
  for (const setting of SETTINGS) command.addOption(settingOption(setting));
  addConfigOption(command).option('--json', 'write JSON');
  addGuide(command, {
    examples: [
      'presence doctor --data ./presence-data',
      'presence doctor --config /etc/presence/presence.env',
    ],
    exitCodes: [0, 1],
    notes:
      'Run it as the user who runs the gateway, with its settings; the gateway may be running. It stores nothing.',
  });
  return command.action(async (options: Configuration & { readonly json?: boolean }) => {
    const findings = await findAll(options, context);
    const output = options.json === true ? `${JSON.stringify(findings)}\n` : text(findings);
    context.stdout.write(output);
    if (findings.some(({ level }) => level === 'fault')) context.setExitCode(EXIT_FAILED);
  });
}

async function findAll(
  options: Configuration,
  { nodeVersion, passedSockets }: ProcessContext,
): Promise<readonly Finding[]> {
  const address = listenAddress(options, passedSockets);
  const running = await runningOn(options.data);
  const place = running?.address === undefined ? '' : ` at ${running.address}`;
  const metrics = options.metrics === undefined ? undefined : metricsAddress(options.metrics);
  const start = running
    ? [ok('gateway', `one runs${place}`)]
    : [checkLogFolder(options), ...(await checkListening(address, metrics))];
  return [
    ok('Node.js', nodeVersion),
    await checkDescriptors(),
    await checkPages(),
    ...(await checkWords(options)),
    ...(await checkFolder(options.data)),
    ...start,
    ...(await checkServers(options.log)),
  ];
}

/** The gateway that runs on the folder. If it cannot be asked, such as another user's, its address is unknown. */
async function runningOn(data: string): ReturnType<typeof runningGateway> {
  return await runningGateway(data).catch(() => ({ address: undefined }));
}

function text(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, level, text: found, mend }) => {
    const line = `${MARKS[level].padEnd(4)}  ${check.padEnd(width)}  ${found}\n`;
    return mend === undefined ? line : `${line}${' '.repeat(width + 8)}${mend}\n`;
  });
  return safeText(lines.join(''));
}
