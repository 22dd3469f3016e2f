/**
 * Fastify that stores entries in PostgreSQL, one row each: `node server.ts PORT FOLDER ENTRIES`. The
 * folder has PostgreSQL's socket. The table has that many entries at the start. Queries, pool and cursor
 * are as the documentation of pg shows them.
 */
import fastify from 'fastify';
import pg from 'pg';
import QueryStream from 'pg-query-stream';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const [port, folder, entries] = process.argv.slice(2);
const pool = new pg.Pool({ host: folder, user: 'postgres', database: 'postgres' });

while (!(await isReady())) await sleep(20);
await pool.query(`CREATE TABLE garden (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  time timestamptz NOT NULL DEFAULT clock_timestamp(),
  text text NOT NULL,
  identity text NOT NULL,
  "identityType" text NOT NULL
)`);
await pool.query('CREATE INDEX garden_time ON garden (time)');
await pool.query(
  `INSERT INTO garden (text, identity, "identityType")
   SELECT 'Trace ' || n || repeat(' a trace of light', 11), 'visitor-' || n % 1000, 'ai_entity'
   FROM generate_series(1, $1) AS n`,
  [entries],
);
await pool.query('VACUUM (ANALYZE) garden');
await pool.query('CHECKPOINT');

const said = {
  text: { type: 'string' },
  identity: { type: 'string' },
  identityType: { type: 'string' },
};
const entry = {
  type: 'object',
  properties: { seq: { type: 'string' }, time: { type: 'string', format: 'date-time' }, ...said },
};
const app = fastify();

app.post(
  '/api/garden',
  {
    schema: {
      body: { type: 'object', required: Object.keys(said), properties: said },
      response: { 201: entry },
    },
  },
  async (request, reply) => {
    const { text, identity, identityType } = request.body;
    const { rows } = await pool.query(
      'INSERT INTO garden (text, identity, "identityType") VALUES ($1, $2, $3) RETURNING *',
      [text, identity, identityType],
    );
    return reply.code(201).send(rows[0]);
  },
);

app.get(
  '/api/garden',
  {
    schema: {
      querystring: { type: 'object', properties: { limit: { type: 'integer' } } },
      response: {
        200: { type: 'object', properties: { entries: { type: 'array', items: entry } } },
      },
    },
  },
  async (request) => {
    const { rows } = await pool.query('SELECT * FROM garden ORDER BY time DESC LIMIT $1', [
      request.query.limit,
    ]);
    return { entries: rows };
  },
);

/** All of them, newest first, by a cursor. */
app.get('/api/garden/all', async (_request, reply) => {
  const client = await pool.connect();
  const rows = client.query(new QueryStream('SELECT * FROM garden ORDER BY seq DESC'));
  rows.once('close', () => client.release());
  return reply.type('application/json').send(Readable.from(joined(rows)));
});

app.get('/count', async () => {
  const { rows } = await pool.query('SELECT count(*) FROM garden');
  return rows[0];
});

await app.listen({ port: Number(port), host: '127.0.0.1' });

/** The body, in pieces of some dozen KiB. */
async function* joined(rows: AsyncIterable<unknown>): AsyncGenerator<string> {
  let piece = '{"entries":[';
  let joiner = '';
  for await (const row of rows) {
    piece += joiner + JSON.stringify(row);
    joiner = ',';
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}`;
}

/** PostgreSQL refuses connections while it starts. */
async function isReady(): Promise<boolean> {
  return await pool.query('SELECT 1').then(
    () => true,
    () => false,
  );
}
