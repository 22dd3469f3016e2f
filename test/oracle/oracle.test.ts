// A gateway and the simplest thing that could be one are told the same, and asked the same.
// ORACLE_SEED repeats a run, ORACLE_ROUNDS makes it longer.
import { randomInt } from 'node:crypto';
import { test } from 'node:test';

import { dataFolder } from '../gateway-process.ts';
import { Crowd } from './crowd.ts';
import { Dice } from './dice.ts';
import { House } from './house.ts';
import { randomPost, randomQuestion } from './traffic.ts';

const seed = Number(process.env['ORACLE_SEED'] ?? randomInt(2 ** 32));
const rounds = Number(process.env['ORACLE_ROUNDS'] ?? 3);

test(`a gateway agrees with the model (ORACLE_SEED=${seed})`, async () => {
  const dice = new Dice(seed);
  await using folder = await dataFolder();
  await using house = new House(folder.path);
  await house.open();
  await flooded(house, dice);
  for (let round = 0; round < rounds; round += 1) {
    await alone(house, dice, 300);
    await together(house, dice);
    await house.end('stop');
    await house.open();
    await house.compareAll(dice);
    await alone(house, dice, 100);
    await togetherKilled(house, dice);
    await house.compareAll(dice);
    await house.end('kill');
    await house.open();
    await house.compareAll(dice);
  }
});

async function alone(house: House, dice: Dice, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    const roll = dice.throw();
    if (roll < 0.5) await house.say(randomPost(dice, house.kept, house.posts));
    else if (roll < 0.92) await house.ask(randomQuestion(dice, house.kept), dice);
    else if (roll < 0.96 && house.kept.length > 0) await house.read(dice.pick(house.kept));
    else if (roll < 0.98) await house.compareRooms();
    else await house.compareDiscovery();
  }
}

async function flooded(house: House, dice: Dice): Promise<void> {
  const crowd = new Crowd(house);
  await crowd.flood(dice, 32, 150);
  await crowd.settle();
}

async function together(house: House, dice: Dice): Promise<void> {
  const crowd = new Crowd(house);
  await crowd.visit(dice, 16, 60);
  await crowd.settle();
}

async function togetherKilled(house: House, dice: Dice): Promise<void> {
  const crowd = new Crowd(house);
  await crowd.visitKilled(dice, 16, 60);
  await house.open();
  await crowd.settle();
}
