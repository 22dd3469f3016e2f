/** The options that select entries, shared by the commands that read them. */
import type { ListingFilters } from '@open-presence/client';
import type { Command } from 'commander';

import { localTimeOption, wholeNumber } from './visit.ts';

export interface FilterOptions {
  readonly before?: number;
  readonly since?: string;
  readonly until?: string;
  readonly by?: string;
  readonly to?: string;
  readonly seeking?: string;
  readonly q?: string;
  readonly thread?: string;
  readonly concerns?: string;
}

export function addFilterOptions(command: Command): void {
  command
    .option('--before <seq>', 'only earlier entries', wholeNumber)
    .option(
      '--since <time>',
      'only from then on (ISO 8601; local time unless it has an offset)',
      localTimeOption,
    )
    .option('--until <time>', 'only before then', localTimeOption)
    .option('--by <name>', 'only what this visitor said')
    .option('--seeking <words>', 'only first contacts that seek this')
    .option('-q <words>', 'only entries with these words')
    .option('--thread <id|seq>', 'only the conversation that this entry belongs to')
    .option('--concerns <name>', 'only what is said to this visitor, answers or mentions them');
}

/** Adds the option that selects entries by whom they are meant for. */
export function addRecipientOption(command: Command): void {
  command.option('--to <name>', 'only what is meant for this visitor');
}

export function listingFilters(options: FilterOptions): ListingFilters {
  const { before, since, until, by, to, seeking, q, thread, concerns } = options;
  return { before, since, until, identity: by, to, seeking, q, thread, concerns };
}
