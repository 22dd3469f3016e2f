import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import type { Command } from 'commander';

import { guideOf } from './command-guide.ts';
import { createProgram } from './program.ts';

// No command runs here.
const unused = {} as Parameters<typeof createProgram>[0];
const program = await createProgram(unused, '1.2.3');

/** The words of a command line. Some are in quotes. */
function words(line: string): string[] {
  const found = line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return [...found].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
}

suite('each command', () => {
  for (const command of program.commands) {
    test(`${command.name()} is the same if it is loaded alone`, async () => {
      const alone = await createProgram(unused, '1.2.3', [command.name()]);
      const found = alone.commands.find((one) => one.name() === command.name());
      assert.equal(found?.helpInformation(), command.helpInformation());
    });

    test(`${command.name()} has a guide whose examples it accepts`, () => {
      const guide = guideOf(command);
      assert.ok(guide !== undefined, 'call addGuide()');
      assert.equal(guide.exitCodes[0], 0);
      for (const example of guide.examples) accepts(command, example);
    });
  }
});

function accepts(command: Command, example: string): void {
  // The commands before the last bar feed this one.
  const line = example.split(' | ').at(-1) ?? '';
  const [program, name, ...args] = words(line.split(' > ')[0] ?? '');
  assert.deepEqual([program, name], ['presence', command.name()]);
  const { operands, unknown } = command.exitOverride().parseOptions(args);
  assert.deepEqual(
    unknown.filter((word) => word !== '--' && word.startsWith('--')),
    [],
  );
  const required = command.registeredArguments.filter((argument) => argument.required);
  assert.ok(operands.length + unknown.length >= required.length, example);
}
