// An app that brings its database up to date when it starts, with Umzug and SQLite.
import http from 'node:http';
import Database from 'libsql';
import { Umzug } from 'umzug';

const database = new Database(process.env.DATABASE_FILE ?? 'app.db');
database.exec('PRAGMA busy_timeout = 5000');
database.exec('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)');

// What a migration of a large table takes.
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const migration = (name, statements) => ({
  name,
  up: async () => {
    for (const statement of statements) {
      await wait(100);
      database.exec(statement);
    }
  },
});

const umzug = new Umzug({
  migrations: [
    migration('001-create-visits', ['CREATE TABLE visits (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL)']),
    migration('002-visits-have-a-path', ["ALTER TABLE visits ADD COLUMN path TEXT NOT NULL DEFAULT ''"]),
    migration('003-first-visit', ["INSERT INTO visits (pid, path) VALUES (0, 'made by a migration')"]),
  ],
  storage: {
    executed: async () => database.prepare('SELECT name FROM migrations').all().map(({ name }) => name),
    logMigration: async ({ name }) => database.prepare('INSERT INTO migrations VALUES (?)').run(name),
    unlogMigration: async ({ name }) => database.prepare('DELETE FROM migrations WHERE name = ?').run(name),
  },
  logger: console,
});
await umzug.up();

http
  .createServer((request, response) => {
    if (request.method === 'POST') {
      database.prepare('INSERT INTO visits (pid, path) VALUES (?, ?)').run(process.pid, request.url);
      response.writeHead(201).end();
      return;
    }
    const migrations = database.prepare('SELECT name FROM migrations ORDER BY name').all();
    const visits = database.prepare('SELECT path FROM visits ORDER BY id').all();
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        migrations: migrations.map(({ name }) => name),
        visits: visits.map(({ path }) => path),
      }),
    );
  })
  .listen(process.env.PORT ?? 3000);
