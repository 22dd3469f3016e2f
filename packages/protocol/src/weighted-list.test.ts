import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { weightedList, weightIn } from './weighted-list.ts';

const read = (header: string): (readonly [string, number])[] =>
  [...weightedList(header, ['a', 'b', 'c', 'd', 'gzip', 'br'])].map(
    (element) => [element.name, weightIn(element)] as const,
  );

describe('a weighted list', () => {
  it('gives an element without a weight the weight 1', () => {
    assert.deepEqual(read('gzip, BR'), [
      ['gzip', 1],
      ['br', 1],
    ]);
  });

  it('finds the weight anywhere among the parameters, in any case and spacing', () => {
    assert.deepEqual(read('a;q=0.5, b;x=1;Q = 0 ;y=2,c; q=1.'), [
      ['a', 0.5],
      ['b', 0],
      ['c', 1],
    ]);
  });

  it('gives an element with a malformed weight the weight 1', () => {
    assert.deepEqual(
      read('a;q=,b;q=2,c;q=x,d;qq=0').map(([, weight]) => weight),
      [1, 1, 1, 1],
    );
  });

  it('skips empty elements', () => {
    assert.deepEqual(read(',, ;q=0.1,a,'), [['a', 1]]);
  });

  it('gives the first element with each of the names', () => {
    const list = 'xa, a;q=0.1 ,ab,A;b=a,a b;a, */*, b+c;a, b+c;q=0,*/*;x';
    const found = [...weightedList(list, ['a', 'b+c', '*/*', 'x'])];
    assert.deepEqual(found, [
      { name: 'a', parameters: 'q=0.1 ' },
      { name: '*/*', parameters: undefined },
      { name: 'b+c', parameters: 'a' },
    ]);
  });

  it('finds a name after half a million others, or half a million repetitions', () => {
    for (const other of ['a,', 'br,', 'br;q=0,', ',', ' ,', 'gzip-x,']) {
      const found = [...weightedList(`${other.repeat(500_000)}gzip`, ['br', 'gzip'])];
      assert.equal(found.at(-1)?.name, 'gzip', other);
    }
  });
});
