export default defineEventHandler((event) => {
  setResponseHeader(event, 'Content-Type', 'text/plain; charset=utf-8');
  const encoder = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(encoder.encode('first part\n'));
      await new Promise((resolve) => setTimeout(resolve, 300));
      controller.enqueue(encoder.encode('second part\n'));
      controller.close();
    },
  });
});
