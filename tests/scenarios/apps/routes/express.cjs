// Routes of Express, 5 or 4 by EXPRESS, with what is wrong with tables planted: a duplicate, routes behind others, a growing one.
const express = require(process.env.EXPRESS ?? 'express');

const app = express();
const router = express.Router();
const inner = express();
const say = (text) => (_request, response) => response.send(text);

app.use(function logs(_request, _response, next) {
  next();
});
app.get('/users/:id', (request, response) => response.send(request.params.id));
app.get('/users/me', say('never')); // behind-never
app.get('/list', (_request, _response, next) => next());
app.get('/list', say('list')); // duplicate
app.post('/users/me', say('posted'));
router.get('/items/:id', say('item'));
router.get('/items/new', say('behind')); // behind-nested
router.get(/^\/digits\/\d+$/, say('digits'));
app.use('/shop', router);
inner.get('/inside', say('inside'));
app.use('/inner', inner);
app.get('/grow', (request, response) => {
  for (let count = Number(request.query.n ?? 1); count > 0; count -= 1) {
    app.get('/grown', say('grown')); // grows
  }
  response.send('grown');
});
app.use((error, _request, response, _next) => response.status(500).send(error.message));
app.listen(process.env.PORT);
