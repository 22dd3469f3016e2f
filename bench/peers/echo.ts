/**
 * The least that can answer a POST with JSON: reads the body, parses it, says it back with 201,
 * stores nothing. Started as `node echo.ts PORT`.
 */
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const said: unknown = JSON.parse(Buffer.concat(pieces).toString());
    const text = JSON.stringify(said);
    response.writeHead(201, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
