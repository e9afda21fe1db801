export default defineEventHandler(async (event) => {
  const { name } = getQuery(event);
  console.log(`waits ${name}`);
  event.node.req.on('close', () => console.log(`left ${name}`));
  await new Promise(() => {});
});
