import express from 'express';

const app = express();

app.get('/', (request, response) => {
  response.send(`Hello, ${request.query.name ?? 'world'}, from process ${process.pid}\n`);
});

app.listen(process.env.PORT ?? 3000);
