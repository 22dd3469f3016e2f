/** Withholds entries of a folder once it gets a message, to be killed meanwhile: `FOLDER STATE SEQ…`. */
import { once } from 'node:events';

import { openSqliteLog } from './store.ts';

const [folder = '', state, ...seqs] = process.argv.slice(2);
await using log = await openSqliteLog({ folder });
process.send?.('opened');
await once(process, 'message');
await log.withhold(seqs.map(Number), 'spam', state === 'hidden' ? state : 'withheld');
process.send?.('withheld');
process.disconnect?.();
