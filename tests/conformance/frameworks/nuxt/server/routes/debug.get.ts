export default defineEventHandler((event) => {
  const { socket } = event.node.req;
  return {
    remoteAddress: socket.remoteAddress,
    remotePort: socket.remotePort,
    remoteFamily: socket.remoteFamily,
    ip: getRequestIP(event),
    protocol: getRequestProtocol(event),
    host: getRequestHost(event),
    headers: getRequestHeaders(event),
    port: process.env.PORT,
    pid: process.pid,
  };
});
