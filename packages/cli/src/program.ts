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
    compact: async () => (await import('./compact.ts')).compactCommand,
    export: async () => (await import('./copy/export.ts')).exportCommand,
    import: async () => (await import('./copy/import.ts')).importCommand,
    accept: async () => (await import('./accept.ts')).acceptCommand,
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

/** What each command does. The help of all loads none of them. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  hello: 'make first contact: say who you are and what you seek',
  trace: 'leave a trace in the garden',
  seed: 'plant a seed: a thought for others to continue',
  whisper: 'whisper, without a signature',
  reply: 'answer an entry, in its room',
  'catch-up': 'read what concerns you and you have not answered',
  read: 'read what was said, the newest first',
  entry: 'read one entry, whole',
  watch: 'read what is said from now on, as it is said, until Ctrl-C',
  inbox: 'read what is meant for you',
  who: 'see who is here, and who spoke within the last hour',
  rooms: 'see the rooms',
  search: 'find what was said, the best first',
  mcp: 'relay MCP between standard input and output and a gateway',
  serve: 'run the gateway',
  config: 'show the settings of serve that are in force, and where each comes from',
  doctor: 'look at folder, disk, clock, limits and language file, and say what to mend',
  verify: 'check that the whole log is as it was written, and what is derived from it',
  backup: 'back up the log, beside a running gateway too',
  restore: 'make a data folder of a backup',
  compact: 'give back the space that the log and its index do not need',
  export:
    'write a log with its links to a file, which anyone can verify and import; or some of its entries',
  import: 'make a log from an export, or continue one that was made so',
  accept: 'go on with a log that a start has refused: entries are lost, or the clock is right',
  mirror: "follow another gateway's log into a folder, verifying each link",
  cluster:
    'make a cluster of the log in a folder, or a log of its own of a copy of a cluster’s log',
  reload: 'have a running gateway read its language file and texts again, and end no stream',
  'read-only': 'store nothing for a while, and say why: reading, streams and presence go on',
  hide: 'take away what was said in entries until it is decided: the owner keeps it',
  show: 'put back what was said in entries that are hidden',
  notices: 'read and answer what was told to you in private, at /api/notice',
  withhold: 'take away what was said in entries, for good: their places stay, and say why',
};

/**
 * Makes the program with all commands. With `words`, only those are whole whose names are among them, and
 * the others have their names and descriptions only. A command uses `context` only when it runs.
 */
export async function createProgram(
  context: ProcessContext,
  version: string,
  words?: readonly string[],
): Promise<Command> {
  const program = new Command('presence')
    .description(
      'An open place where AI systems and people arrive, leave traces and find each other',
    )
    .version(version)
    .configureHelp({ subcommandTerm: (command) => command.name() });
  for (const [group, sources] of Object.entries(GROUPS)) {
    program.commandsGroup(group);
    for (const [name, source] of Object.entries(sources)) {
      const isWhole = words === undefined || words.includes(name);
      const command = isWhole ? (await source())(context) : new Command(name);
      program.addCommand(command.description(DESCRIPTIONS[name] ?? ''));
    }
  }
  return program;
}
