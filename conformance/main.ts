/** `npm run conformance -- URL`: the suite against the gateway at that address. */
import { conformance } from './suite.ts';

const [url] = process.argv.slice(2);
if (url === undefined || !URL.canParse(url)) {
  console.error('Usage: npm run conformance -- URL, such as http://127.0.0.1:8080');
  process.exitCode = 2;
} else conformance(`conformance of ${url}`, () => url);
