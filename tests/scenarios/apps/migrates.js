// At its boot this app does what many do: it brings its data up to date, in steps that nobody else may take at the same
// time. MIGRATE_DIR is its database, MIGRATE_MS says how long the migration takes. Two at once break each other: the second
// finds the lock of the first and exits, as Strapi and Actual do. A later boot finds nothing to do.
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

const dir = process.env.MIGRATE_DIR;
const journal = (word) => fs.appendFileSync(path.join(dir, 'journal'), `${word} ${process.pid}\n`);

journal('boot');
if (!fs.existsSync(path.join(dir, 'table'))) {
  try {
    fs.writeFileSync(path.join(dir, 'lock'), '', { flag: 'wx' });
  } catch {
    journal('clash');
    console.error('Error: table "users" is being created by another process');
    process.exit(1);
  }
}
setTimeout(
  () => {
    fs.writeFileSync(path.join(dir, 'table'), '');
    fs.rmSync(path.join(dir, 'lock'), { force: true });
    http
      .createServer((request, response) => {
        const until = Date.now() + Number(/^\/spin\/(\d+)/.exec(request.url)?.[1] ?? 0);
        while (Date.now() < until);
        response.end(String(process.pid));
      })
      .listen(process.env.PORT, () => journal('listens'));
  },
  Number(process.env.MIGRATE_MS ?? 0),
);
