import express from 'express';

const app = express();

app.get('/{:name}', (request, response) => {
  response.type('text').send(`Hello, ${request.params.name ?? 'world'}, from process ${process.pid}\n`);
});

app.listen(process.env.PORT ?? 3000);
