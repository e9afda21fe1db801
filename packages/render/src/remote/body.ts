/** Bodies of other services' answers, bounded. It must not know who is asked. */

/** The whole text. Rejects where it is longer than `bytes_max`, without reading the rest. */
export async function boundedText(response: Response, bytes_max: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > bytes_max) throw new RangeError(`the answer has more than ${bytes_max} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
