// A Socket.IO server as its documentation begins one: every transport, sessions in the process.
const { createServer } = require('node:http');
const { Server } = require('socket.io');

const server = createServer((request, response) => response.end(`page of ${process.pid}\n`));
const io = new Server(server);

io.on('connection', (socket) => {
  socket.emit('welcome', process.pid);
  socket.on('echo', (text, answer) => answer(text));
  socket.on('later', (ms, answer) => setTimeout(answer, ms, process.pid));
  socket.on('exit', () => process.exit(1));
});

server.listen(process.env.PORT ?? 3000);
