import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';

import { GROUPS } from './cases.ts';
import { faultsOf, sectionsOf, type Gate } from './gate.ts';
import { BEYOND_REACH, REQUIREMENTS } from './requirements.ts';

const protocol = readFileSync(new URL('../PROTOCOL.md', import.meta.url), 'utf8');

suite('the gate of the conformance suite', () => {
  test('finds every requirement tested and every section cited', () => {
    const cases = Object.values(GROUPS).flat();
    const faults = faultsOf({
      protocol,
      requirements: REQUIREMENTS,
      beyondReach: BEYOND_REACH,
      cases,
    });
    assert.deepEqual(faults, []);
  });

  test('reads the numbers of sections from the contract', () => {
    const sections = sectionsOf('## 1. A\n\n1.1. b\n\n1.10. c 1.2. d\n\n## 2. E\n\n1. no\n');
    assert.deepEqual(sections, ['1.1', '1.10', '2']);
  });

  const whole: Gate = {
    protocol: '## 1. A\n\n1.1. b\n\n1.2. c\n',
    requirements: { '1.1': { one: 'One.' } },
    beyondReach: { '1.2': 'Why.' },
    cases: [{ section: '1.1', id: 'one' }],
  };
  const wrong: readonly (readonly [string, Partial<Gate>, readonly string[]])[] = [
    ['nothing', {}, []],
    ['a requirement without a case', { cases: [] }, ['no case tests 1.1 one']],
    [
      'a case without a requirement',
      { cases: [...whole.cases, { section: '1.1', id: 'two' }] },
      ['a case tests 1.1 two, which nothing requires'],
    ],
    [
      'a case for a section that does not exist',
      { cases: [...whole.cases, { section: '9.9', id: 'one' }] },
      ['PROTOCOL.md has no section 9.9', 'a case tests 9.9 one, which nothing requires'],
    ],
    [
      'a requirement of a section that does not exist',
      { protocol: '## 1. A\n\n1.2. c\n' },
      ['PROTOCOL.md has no section 1.1'],
    ],
    ['a section without a requirement', { beyondReach: {} }, ['section 1.2 has no requirement']],
  ];
  for (const [name, change, faults] of wrong) {
    test(`names ${name}`, () => assert.deepEqual(faultsOf({ ...whole, ...change }), faults));
  }
});
