// Preloaded into a gateway: its log is not flushed, and nobody notices before the power fails.
import { DatabaseSync } from 'node:sqlite';

const exec: (this: DatabaseSync, sql: string) => void = Reflect.get(DatabaseSync.prototype, 'exec');

DatabaseSync.prototype.exec = function (sql: string): void {
  exec.call(this, sql.replace('synchronous = FULL', 'synchronous = OFF'));
};
