/** `presence cluster`: makes a cluster from a log, or turns a copy of a cluster's log into a log of its own. */
import { adoptIntoCluster, leaveCluster } from '@open-presence/gateway';
import { Argument, Command } from 'commander';

import { addGuide } from './command-guide.ts';
import {
  type Configuration,
  DATA_SETTING,
  LOG_SETTING,
  settingOption,
} from './configuration/configuration.ts';
import { masked } from './configuration/masked.ts';
import { EXIT_FAILED, fail } from './exit-codes.ts';
import type { ProcessContext } from './process-context.ts';

interface Options extends Pick<Configuration, 'data' | 'log'> {
  readonly acceptLoss?: boolean;
}

type Action = 'adopt' | 'leave';

const ACTIONS: Readonly<Record<Action, (options: Options) => Promise<string>>> = {
  async adopt({ data, log, acceptLoss = false }) {
    if (log === undefined) throw new Error('--log names the NATS servers.');
    if (acceptLoss) throw new Error('--accept-loss is for leave alone.');
    const { name, head } = await adoptIntoCluster(data, log);
    return `The log ${name}, with ${head} entries, is now a cluster's. Copy "${data}" to the other machines, and start all gateways with --log ${masked(log)}.`;
  },
  async leave({ data, log, acceptLoss = false }) {
    if (log === undefined && !acceptLoss)
      throw new Error('--log names the NATS servers; --accept-loss goes on without asking them.');
    const { name, head, wasCopy } = await leaveCluster(data, acceptLoss ? undefined : log);
    return `The log ${name}, with ${head} entries, is ${wasCopy ? 'now' : 'already'} a log of its own. Start its gateway without --log.`;
  },
};

export function clusterCommand(context: ProcessContext): Command {
  const command = new Command('cluster');
  addGuide(command, {
    examples: [
      'presence cluster adopt --data ./presence-data --log nats://node1,node2,node3',
      'presence cluster leave --data ./presence-data --log nats://node1,node2,node3',
    ],
    exitCodes: [0, 1],
    notes:
      'No gateway may be running on the folder. Both may be repeated after an interruption. After adopt, the other gateways start with copies of this folder. Before leave, stop all gateways of the cluster: it asks the servers whether the copy has all that was stored, and the log keeps its name, so that cursors stay good.',
  });
  command
    .addArgument(new Argument('<action>', 'what to do').choices(['adopt', 'leave']))
    .addOption(settingOption(DATA_SETTING, 'data folder'))
    .addOption(
      settingOption(
        LOG_SETTING,
        'NATS servers of the cluster, such as nats://a:4222,b:4222,c:4222, and /NAME of the stream if it is not PRESENCE',
      ),
    )
    .option(
      '--accept-loss',
      'leave with what this copy has, without asking the servers: entries may be missing, and the log gets a new name',
    );
  return command.action(async (action: Action, options: Options) => {
    try {
      context.stdout.write(`${await ACTIONS[action](options)}\n`);
    } catch (error) {
      fail(context, `${action} the log in "${options.data}"`, error, EXIT_FAILED);
    }
  });
}
