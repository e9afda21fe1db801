// Reads server-sent events out of pieces of text, wherever they are cut.
export interface ServerEvent {
  id: string | null;
  name: string;
  data: string;
}

export class EventReader {
  #rest = '';

  /** The events that end in this piece. */
  push(piece: string): ServerEvent[] {
    const blocks = (this.#rest + piece).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.map(parse).filter((event) => event !== null);
  }
}

function parse(block: string): ServerEvent | null {
  let [id, name]: [string | null, string] = [null, 'message'];
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    const field = line.slice(0, colon);
    if (field === 'id') id = value;
    else if (field === 'event') name = value;
    else if (field === 'data') data.push(value);
  }
  return data.length === 0 ? null : { id, name, data: data.join('\n') };
}
