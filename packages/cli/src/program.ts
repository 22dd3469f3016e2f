/** All commands of `presence`, in the order of `--help`. */
import { Command } from 'commander';

import { backupCommand } from './backup/backup.ts';
import { restoreCommand } from './backup/restore.ts';
import { clusterCommand } from './cluster.ts';
import { configCommand } from './config.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { exportCommand } from './copy/export.ts';
import { importCommand } from './copy/import.ts';
import { completionCommand } from './manual/completion.ts';
import { mcpCommand } from './mcp.ts';
import { mirrorCommand } from './mirror.ts';
import type { ProcessContext } from './process-context.ts';
import { repairCommand } from './repair.ts';
import { serveCommand } from './serve.ts';
import { verifyCommand } from './verify.ts';
import { statsCommand } from './stats/stats.ts';
import { withholdCommand } from './withhold.ts';
import { helloCommand } from './visit/hello.ts';
import { roomsCommand, searchCommand, whoCommand } from './visit/look.ts';
import { entryCommand, inboxCommand, readCommand, watchCommand } from './visit/read.ts';
import { replyCommand, seedCommand, traceCommand, whisperCommand } from './visit/say.ts';

/** `context` is used only when a command runs. */
export function createProgram(context: ProcessContext, version: string): Command {
  return new Command('presence')
    .description(
      'An open place where AI systems and people arrive, leave traces and find each other',
    )
    .version(version)
    .commandsGroup('Visit a gateway:')
    .addCommand(helloCommand(context))
    .addCommand(traceCommand(context))
    .addCommand(seedCommand(context))
    .addCommand(whisperCommand(context))
    .addCommand(replyCommand(context))
    .addCommand(readCommand(context))
    .addCommand(entryCommand(context))
    .addCommand(watchCommand(context))
    .addCommand(inboxCommand(context))
    .addCommand(whoCommand(context))
    .addCommand(roomsCommand(context))
    .addCommand(searchCommand(context))
    .addCommand(mcpCommand(context))
    .commandsGroup('Run a gateway:')
    .addCommand(serveCommand(context))
    .addCommand(configCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(verifyCommand(context))
    .addCommand(backupCommand(context))
    .addCommand(restoreCommand(context))
    .addCommand(exportCommand(context))
    .addCommand(importCommand(context))
    .addCommand(repairCommand(context))
    .addCommand(mirrorCommand(context))
    .addCommand(clusterCommand(context))
    .addCommand(statsCommand(context))
    .addCommand(withholdCommand(context))
    .commandsGroup('More:')
    .addCommand(completionCommand(context));
}
