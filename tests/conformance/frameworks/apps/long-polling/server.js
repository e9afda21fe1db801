// A chat by long polling: `/poll?after=N` is answered when there is a message after the Nth, or with none after a while.
// Messages are lines of a file, so that every process knows them.
'use strict';

const fs = require('node:fs');
const express = require('express');

const file = process.env.CHAT_FILE ?? 'chat.txt';
fs.appendFileSync(file, '');
const messages = () => fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
const POLL_MS = Number(process.env.POLL_MS ?? 20_000);
const LOOK_MS = 50;

const app = express();
app.get('/', (_request, response) => response.send('a page'));
app.post('/say', express.text(), (request, response) => {
  fs.appendFileSync(file, `${request.body}\n`);
  response.status(204).end();
});
app.get('/poll', (request, response) => {
  const after = Number(request.query.after ?? 0);
  const until = Date.now() + POLL_MS;
  const look = setInterval(() => {
    const news = messages().slice(after);
    if (news.length === 0 && Date.now() < until) return;
    clearInterval(look);
    response.json(news);
  }, LOOK_MS);
  response.on('close', () => clearInterval(look));
});
app.listen(process.env.PORT ?? 3000);
