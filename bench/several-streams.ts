/**
 * What several streams in place of one would give and take: a simulation, for docs/scaling.md. Rooms are
 * spread over streams by a hash. `npm exec -c 'node bench/several-streams.ts SEED'` prints a table; the same
 * seed gives the same table.
 */
const STREAMS = [1, 2, 4, 8, 16] as const;
const ROOMS = [6, 1000] as const;
/** Ways to spread the rooms; figures are medians over these. */
const SPREADS = 201;
const READS = 20_000;
/** How long a gateway waits for the next message of a stream, on average. */
const LAG_MS = 5;

const seed = Number(process.argv[2] ?? 1);
if (!Number.isSafeInteger(seed)) throw new TypeError(`"${process.argv[2]}" is no seed.`);

console.log(`seed ${seed}`);
console.log('streams  gain, 6 rooms  gain, 1,000 rooms  wait of all rooms  cursor');
for (const streams of STREAMS) {
  const random = randomFrom(seed);
  const [few, many] = ROOMS.map((rooms) => gain(rooms, streams, random).toFixed(1));
  const wait = `${waitForAll(streams, random).toFixed(1)} ms`;
  const cursor = `${cursorOf(streams, random).length} bytes`;
  console.log(
    [String(streams).padStart(7), few?.padStart(13), many?.padStart(17), wait.padStart(17), cursor]
      .join('  ')
      .trimEnd(),
  );
}

/**
 * How many times the rate of one stream all streams carry when the busiest one is full. The room of rank n
 * has 1/n of what the first one has.
 */
function gain(rooms: number, streams: number, random: () => number): number {
  const gains = Array.from({ length: SPREADS }, () => {
    const loads = Array.from({ length: streams }, () => 0);
    for (let rank = 1; rank <= rooms; rank += 1) {
      const stream = Math.floor(random() * streams);
      loads[stream] = (loads[stream] ?? 0) + 1 / rank;
    }
    return loads.reduce((sum, load) => sum + load) / Math.max(...loads);
  });
  return gains.toSorted((one, other) => one - other)[(SPREADS - 1) / 2] ?? 0;
}

/**
 * How long a reader of all rooms waits, on average, until an entry may be given: until each stream has
 * shown that it has nothing earlier.
 */
function waitForAll(streams: number, random: () => number): number {
  let sum = 0;
  for (let read = 0; read < READS; read += 1) {
    const lags = Array.from({ length: streams }, () => -LAG_MS * Math.log(1 - random()));
    sum += Math.max(...lags);
  }
  return sum / READS;
}

/** A seq of each stream, after a hundred million entries in all. */
function cursorOf(streams: number, random: () => number): string {
  const shares = Array.from({ length: streams }, () => 0.5 + random());
  const all = shares.reduce((sum, share) => sum + share);
  return shares.map((share) => Math.round((1e8 * share) / all)).join('.');
}

/** Numbers from 0 to 1 by Mulberry32. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
