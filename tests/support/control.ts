// Asks a gateway's control socket directly, as the command line does, without a process for each question.
import net from 'node:net';
import path from 'node:path';
import { once } from 'node:events';

/** Longest wait, as that of the command line. */
const ANSWER_MS_MAX = 10_000;

/** The reply to a command that needs no arguments. Throws where no gateway runs in `runDir`, or it refuses. */
export async function askControl(
  runDir: string,
  command: 'status' | 'classes',
): Promise<Record<string, unknown>> {
  const socket = net.connect(path.join(runDir, 'control.sock'));
  socket.setEncoding('utf8').setTimeout(ANSWER_MS_MAX, () => {
    socket.destroy(new Error(`the gateway in ${runDir} gave no answer to ${command}`));
  });
  try {
    await once(socket, 'connect');
    socket.write(`${JSON.stringify({ command })}\n`);
    let text = '';
    for await (const part of socket) if ((text += String(part)).includes('\n')) break;
    if (!text.endsWith('\n'))
      throw new Error(`the gateway in ${runDir} closed before it answered ${command}`);
    const reply = JSON.parse(text) as Record<string, unknown>;
    if (reply['ok'] !== true) throw new Error(`the gateway refused ${command}: ${text}`);
    return reply;
  } finally {
    socket.destroy();
  }
}
