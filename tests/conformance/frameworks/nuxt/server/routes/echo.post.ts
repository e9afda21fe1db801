export default defineEventHandler(async (event) => {
  const body = await readBody<{ message: string }>(event);
  return { message: body.message };
});
