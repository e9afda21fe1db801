/**
 * The answer to a request that failed in development: for browsers a page with Vite's overlay, which comes back by itself once
 * the mistake is fixed; for others the stack. It must not know what was asked for.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import type { Plugin, ViteDevServer } from 'vite';

/** Bounds what is shown of a message and a stack, in characters. */
const SHOWN_MAX = 20_000;

/** Error as Vite's overlay shows it; from Vite's plugins with a place and the lines around it. */
interface Shown {
  readonly message: string;
  readonly stack: string;
  readonly id?: string;
  readonly frame?: string;
  readonly plugin?: string;
}

export class ErrorPages {
  /** A browser shows the overlay of a file that it may not have asked for, so that Vite tells it nothing of changes. */
  #isShown = false;

  /** Plugin by which browsers that show an error load the page again when a file has changed. */
  readonly plugin: Plugin = {
    name: 'sluice:error-pages',
    hotUpdate: {
      order: 'post',
      handler: ({ server }) => {
        if (!this.#isShown) return;
        this.#isShown = false;
        server.environments.client.hot.send({ type: 'full-reload' });
      },
    },
  };

  answer(vite: ViteDevServer, thrown: unknown, request: IncomingMessage, response: ServerResponse): void {
    const error = shownOf(vite, thrown);
    vite.config.logger.error(error.stack);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const isForBrowser = request.headers.accept?.includes('text/html') === true;
    this.#isShown ||= isForBrowser;
    response
      .writeHead(500, {
        'content-type': `text/${isForBrowser ? 'html' : 'plain'}; charset=utf-8`,
        'cache-control': 'no-store',
      })
      .end(isForBrowser ? page(`${vite.config.base}@vite/client`, error) : error.stack);
  }
}

/** Anything can be thrown, and reading it may throw as well. */
function shownOf(vite: ViteDevServer, thrown: unknown): Shown {
  try {
    if (!(thrown instanceof Error)) return { message: textOf(String(thrown)), stack: textOf(String(thrown)) };
    vite.ssrFixStacktrace(thrown);
    const message = textOf(thrown.message);
    const { id, frame, plugin } = thrown as Partial<Record<'id' | 'frame' | 'plugin', unknown>>;
    return {
      message,
      stack: textOf(thrown.stack ?? message),
      ...(typeof id === 'string' && { id: textOf(id) }),
      ...(typeof frame === 'string' && { frame: textOf(frame) }),
      ...(typeof plugin === 'string' && { plugin: textOf(plugin) }),
    };
  } catch {
    const message = 'Something was thrown that cannot be read';
    return { message, stack: message };
  }
}

function textOf(text: string): string {
  return stripVTControlCharacters(text).slice(0, SHOWN_MAX);
}

function page(client: string, error: Shown): string {
  const json = JSON.stringify(error).replaceAll('<', String.raw`\u003c`);
  const text = error.stack.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Error</title><link rel="icon" href="data:,">
<script type="module">
import { ErrorOverlay } from ${JSON.stringify(client)};
document.body.append(new ErrorOverlay(${json}));
</script></head><body><pre>${text}</pre></body></html>`;
}
