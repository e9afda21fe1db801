// Express with its session middleware and the store that it has by default, which is the process's memory.
const express = require('express');
const session = require('express-session');

const app = express();
app.set('trust proxy', true);
app.use(session({ secret: 'of this test', resave: false, saveUninitialized: false }));
app.post('/login', (request, response) => {
  request.session.user = request.query.user;
  response.json({ pid: process.pid, user: request.session.user });
});
app.get('/me', (request, response) => {
  response.json({ pid: process.pid, user: request.session.user ?? null, cookie: request.get('cookie') ?? '' });
});
app.post('/exit', () => process.exit(1));
app.listen(process.env.PORT ?? 3000);
