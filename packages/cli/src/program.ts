/** All commands of `presence`, in the order of `--help`. */
import { Command } from 'commander';

import type { ProcessContext } from './process-context.ts';

type Source = () => Promise<(context: ProcessContext) => Command>;

/** The commands by their names, in their groups. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Source>>>> = {
  'Visit a gateway:': {
    hello: async () => (await import('./visit/say.ts')).helloCommand,
    trace: async () => (await import('./visit/say.ts')).traceCommand,
    seed: async () => (await import('./visit/say.ts')).seedCommand,
    whisper: async () => (await import('./visit/say.ts')).whisperCommand,
    reply: async () => (await import('./visit/say.ts')).replyCommand,
    'catch-up': async () => (await import('./visit/catch-up.ts')).catchUpCommand,
    read: async () => (await import('./visit/read.ts')).readCommand,
    entry: async () => (await import('./visit/read.ts')).entryCommand,
    watch: async () => (await import('./visit/read.ts')).watchCommand,
    inbox: async () => (await import('./visit/read.ts')).inboxCommand,
    who: async () => (await import('./visit/look.ts')).whoCommand,
    rooms: async () => (await import('./visit/look.ts')).roomsCommand,
    search: async () => (await import('./visit/look.ts')).searchCommand,
    mcp: async () => (await import('./mcp/mcp.ts')).mcpCommand,
  },
  'Run a gateway:': {
    serve: async () => (await import('./serve/serve.ts')).serveCommand,
    config: async () => (await import('./configuration/config.ts')).configCommand,
    doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand,
    verify: async () => (await import('./verify.ts')).verifyCommand,
    backup: async () => (await import('./backup/backup.ts')).backupCommand,
    restore: async () => (await import('./backup/restore.ts')).restoreCommand,
    export: async () => (await import('./copy/export.ts')).exportCommand,
    import: async () => (await import('./copy/import.ts')).importCommand,
    mirror: async () => (await import('./mirror.ts')).mirrorCommand,
    cluster: async () => (await import('./cluster.ts')).clusterCommand,
    reload: async () => (await import('./reload.ts')).reloadCommand,
    'read-only': async () => (await import('./read-only.ts')).readOnlyCommand,
    hide: async () => (await import('./withhold.ts')).hideCommand,
    show: async () => (await import('./withhold.ts')).showCommand,
    notices: async () => (await import('./notices.ts')).noticesCommand,
    withhold: async () => (await import('./withhold.ts')).withholdCommand,
  },
};

/**
 * Makes the program with all commands. If `only` is the name of one, loads only that command, so that the
 * modules of the others take neither time nor memory. A command uses `context` only when it runs.
 */
export async function createProgram(
  context: ProcessContext,
  version: string,
  only?: string,
): Promise<Command> {
  const program = new Command('presence')
    .description(
      'An open place where AI systems and people arrive, leave traces and find each other',
    )
    .version(version);
  const names = new Set(Object.values(GROUPS).flatMap((sources) => Object.keys(sources)));
  const isAlone = only !== undefined && names.has(only);
  for (const [group, sources] of Object.entries(GROUPS)) {
    program.commandsGroup(group);
    for (const [name, source] of Object.entries(sources))
      if (!isAlone || name === only) program.addCommand((await source())(context));
  }
  return program;
}
