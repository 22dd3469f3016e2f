/**
 * A minimal JSON server: parses the body of a POST and returns it with 201, storing nothing. Started
 * as `node echo.ts PORT`.
 */
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    const text = JSON.stringify(value);
    response.writeHead(201, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
