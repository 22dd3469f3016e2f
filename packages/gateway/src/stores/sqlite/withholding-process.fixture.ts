/** Withholds entries of a folder once it gets a message, to be killed meanwhile: `FOLDER SEQ…`. */
import { once } from 'node:events';

import { openSqliteLog } from './store.ts';

const [folder = '', ...seqs] = process.argv.slice(2);
await using log = await openSqliteLog({ folder });
process.send?.('opened');
await once(process, 'message');
await log.withhold(seqs.map(Number), 'spam');
process.send?.('withheld');
process.disconnect?.();
