/** An HTTP server that answers with renders of a page: what a render costs where it is sent, with all that Node does for it. */

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Contender } from './contenders.ts';

/** Requests of one measurement, for which the data is made before. */
const PORTION = 10;

export class Served {
  readonly #server: http.Server;
  readonly #client: ChildProcess;
  #next: (response: http.ServerResponse) => void = () => {};

  private constructor(client: ChildProcess) {
    this.#client = client;
    this.#server = http.createServer((_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      this.#next(response);
    });
  }

  static async start(): Promise<Served> {
    const served = new Served(fork(new URL('./client.mjs', import.meta.url)));
    served.#server.listen(0, '127.0.0.1');
    await once(served.#server, 'listening');
    return served;
  }

  /** CPU time of this process by request, milliseconds. The client's is not in it. */
  async cpu_ms({ data, serve }: Contender, count: number, seed: () => number): Promise<number> {
    let spent_us = 0;
    for (let done = 0; done < count; done += PORTION) {
      const all = Array.from({ length: PORTION }, () => data(seed()));
      this.#next = (response) => serve(all.pop(), response);
      const before = process.cpuUsage();
      this.#client.send({ port: (this.#server.address() as AddressInfo).port, count: PORTION });
      await once(this.#client, 'message');
      const used = process.cpuUsage(before);
      spent_us += used.user + used.system;
    }
    return spent_us / count / 1000;
  }

  stop(): void {
    this.#client.kill();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
