// Adds ten duplicate handlers in each simulated hour, which lasts HOUR_MS; of real routes there are twenty.
const express = require('express');

const app = express();
for (let id = 0; id < 20; id += 1) {
  app.get(`/page/${id}`, (_request, response) => response.send('page'));
}

function subscribe() {
  app.get('/news', (_request, response) => response.send('news')); // leaks
}

subscribe();
setInterval(subscribe, Number(process.env.HOUR_MS) / 10).unref();
app.listen(process.env.PORT);
