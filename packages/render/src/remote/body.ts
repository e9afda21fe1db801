/** Bodies of other services' answers, bounded. It must not know who is asked. */

/** The whole text. Rejects where it is longer than `bytes_max`, without reading the rest. */
export async function boundedText(response: Response, bytes_max: number): Promise<string> {
  if (response.body === null) return '';
  const announced = Number(response.headers.get('content-length') ?? 0);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  try {
    if (announced > bytes_max) throw new RangeError(`the answer has more than ${bytes_max} bytes`);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks).toString('utf8');
      bytes += value.byteLength;
      if (bytes > bytes_max) throw new RangeError(`the answer has more than ${bytes_max} bytes`);
      chunks.push(value);
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error;
  }
}
