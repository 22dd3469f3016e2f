/** A gateway and the simplest thing that could be one are told the same, and asked the same. */
import { SeededRandom } from '../seeded-random.ts';
import { ComparedGateway, type Starting } from './compared-gateway.ts';
import { ConcurrentVisitors } from './concurrent-visitors.ts';
import { randomPost, randomListingQuery } from './traffic.ts';

/** Throws where they differ. The gateway is stopped, killed and started again in each round. */
export async function agree(start: Starting, seed: number, rounds: number): Promise<void> {
  const random = new SeededRandom(seed);
  await using gateway = new ComparedGateway(start);
  await gateway.open();
  await flooded(gateway, random);
  for (let round = 0; round < rounds; round += 1) {
    await alone(gateway, random, 300);
    await together(gateway, random);
    await gateway.end('stop');
    await gateway.open();
    await gateway.compareAll(random);
    await alone(gateway, random, 100);
    await togetherKilled(gateway, random);
    await gateway.compareAll(random);
    await gateway.end('kill');
    await gateway.open();
    await gateway.compareAll(random);
  }
}

async function alone(gateway: ComparedGateway, random: SeededRandom, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    const roll = random.next();
    if (roll < 0.5) await gateway.submit(randomPost(random, gateway.entries, gateway.posts));
    else if (roll < 0.92)
      await gateway.checkListing(randomListingQuery(random, gateway.entries), random);
    else if (roll < 0.96 && gateway.entries.length > 0)
      await gateway.checkEntry(random.pick(gateway.entries));
    else if (roll < 0.98) await gateway.compareRooms();
    else await gateway.compareDiscovery();
  }
}

async function flooded(gateway: ComparedGateway, random: SeededRandom): Promise<void> {
  const crowd = new ConcurrentVisitors(gateway);
  await crowd.flood(random, 32, 150);
  await crowd.reconcile();
}

async function together(gateway: ComparedGateway, random: SeededRandom): Promise<void> {
  const crowd = new ConcurrentVisitors(gateway);
  await crowd.visit(random, 16, 60);
  await crowd.reconcile();
}

async function togetherKilled(gateway: ComparedGateway, random: SeededRandom): Promise<void> {
  const crowd = new ConcurrentVisitors(gateway);
  await crowd.visitKilled(random, 16, 60);
  await gateway.open();
  await crowd.reconcile();
}
