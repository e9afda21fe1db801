/**
 * The shop's database: one SQLite file, which all processes open. The first one makes it; the others wait for that. It must not know
 * goods or pages.
 */

import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { migrations } from './migrations.js';

export type Shop = Database.Database;

/** How long a statement waits for the lock of another process. The thread waits with it, so transactions are short. */
const busy_timeout_ms = 5_000;

/**
 * Opens the database in a folder, which is made where it lacks, and brings its tables up to date. `:memory:` for one that is gone with the
 * process. Throws an Error that says which folder, where the file cannot be opened or comes from a newer version of the shop.
 */
export function openDatabase(folder: string): Shop {
  try {
    if (folder === ':memory:') return prepared(new Database(':memory:'));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'shop.sqlite');
    const database = new Database(file);
    // Names and addresses are in it.
    chmodSync(file, 0o600);
    return prepared(database);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `The shop's database in ${folder} cannot be used: ${why}. STOREFRONT_DATA names another folder.`,
      { cause },
    );
  }
}

function prepared(database: Shop): Shop {
  database.pragma(`busy_timeout = ${busy_timeout_ms}`);
  database.pragma('journal_mode = WAL');
  // The last orders before a power cut may be lost, a killed process loses none.
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  migrate(database);
  return database;
}

function migrate(database: Shop): void {
  if (versionOf(database) === migrations.length) return;
  // The lock comes before the second look: of processes that start at once, one does the work.
  writing(database, () => {
    const version = versionOf(database);
    if (version > migrations.length)
      throw new Error(`it has version ${version}, and this shop knows ${migrations.length}`);
    for (const step of migrations.slice(version)) database.exec(step);
    database.pragma(`user_version = ${migrations.length}`);
  });
}

function versionOf(database: Shop): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** Runs `work` in a transaction that has the lock for writing from its begin. A throw rolls it back. */
export function writing<T>(database: Shop, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** A secret that the first process makes and all share. */
export function secretOf(database: Shop): string {
  database
    .prepare("INSERT OR IGNORE INTO setting (name, value) VALUES ('secret', ?)")
    .run(randomBytes(32).toString('base64url'));
  return (database.prepare("SELECT value FROM setting WHERE name = 'secret'").get() as { value: string })
    .value;
}
