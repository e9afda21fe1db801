export default defineEventHandler((event) => {
  setResponseHeader(event, 'Content-Type', 'text/plain; charset=utf-8');
  return '0123456789'.repeat(Number(getQuery(event).bytes) / 10);
});
