// nginx and HAProxy before Node processes: how each is configured and run. One thread each, as Sluice's gateway has: on few cores
// more threads only add to what a request costs.
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { freePort } from '../../tests/support/ports.ts';
import { answering, configuration, find, run, temporaryDir } from './run.ts';

export interface Front {
  port: number;
  child: ChildProcess;
}

/** Ports of the processes that get what begins with a path. */
export interface Pool {
  path: string;
  ports: number[];
}

/** nginx, which gives each request to the least occupied process of its pool. */
export async function runNginx(pools: Pool[]): Promise<Front> {
  const port = await freePort();
  const dir = temporaryDir('bench-nginx-');
  fs.chmodSync(dir, 0o755);
  const file = path.join(dir, 'nginx.conf');
  fs.writeFileSync(file, configuration('nginx.conf', nginxConfig(dir, port, pools)));
  const child = run(find('nginx'), ['-p', dir, '-c', file, '-e', path.join(dir, 'error.log')]);
  child.once('exit', () => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  await answering(port, child);
  return { port, child };
}

/** Idle connections are closed before Node does it after 5 s, so that no request meets the end of one. */
function nginxConfig(dir: string, port: number, pools: Pool[]): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${dir}/${name};`,
  );
  const upstreams = pools.map(
    ({ ports }, at) => `  upstream pool${at} {
    least_conn;
${ports.map((each) => `    server 127.0.0.1:${each} max_fails=0;\n`).join('')}    keepalive 64;
    keepalive_requests 1000000;
    keepalive_timeout 4s;
  }
`,
  );
  const locations = pools.map(
    (pool, at) => `    location ${pool.path} {
      proxy_pass http://pool${at};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_buffers 32 16k;
      proxy_busy_buffers_size 64k;
    }
`,
  );
  return `daemon off;
pid ${dir}/nginx.pid;
worker_processes 1;
error_log ${dir}/error.log crit;
events {
  worker_connections 16384;
}
http {
  access_log off;
${temp.join('\n')}
  keepalive_timeout 75s;
  keepalive_requests 1000000;
${upstreams.join('')}  server {
    listen 127.0.0.1:${port};
${locations.join('')}  }
}
`;
}

/** Way in which HAProxy distributes requests to its processes. */
export type Balance =
  /** One request at a time; the others wait in HAProxy's queue. */
  | 'one-each'
  /** Any number of requests, each to the least occupied process. */
  | 'leastconn';

const HAPROXY_NAMES: Record<Balance, string> = { 'one-each': 'maxconn 1', leastconn: 'leastconn' };

/** `more`: further lines of the backend. */
export async function runHaproxy(
  workerPorts: number[],
  more: string[] = [],
  balance: Balance = 'one-each',
): Promise<Front> {
  const port = await freePort();
  const dir = temporaryDir('bench-haproxy-');
  const file = path.join(dir, 'haproxy.cfg');
  const text = haproxyConfig(port, workerPorts, more, balance);
  fs.writeFileSync(file, configuration(`haproxy.cfg, ${HAPROXY_NAMES[balance]}`, text));
  const child = run(find('haproxy'), ['-db', '-q', '-f', file]);
  await answering(port, child);
  fs.rmSync(dir, { recursive: true, force: true });
  return { port, child };
}

/** No `log` line, so it logs nothing. Connections are kept on both sides, and any client's request may use any of the server's. */
function haproxyConfig(port: number, workerPorts: number[], more: string[], balance: Balance): string {
  const limit = balance === 'one-each' ? ' maxconn 1' : '';
  const servers = workerPorts.map((worker, at) => `  server node${at} 127.0.0.1:${worker}${limit}`);
  const backend = [balance === 'leastconn' ? 'balance leastconn' : 'balance roundrobin', ...more];
  return `global
  nbthread 1
  maxconn 8000
defaults
  mode http
  option http-keep-alive
  option redispatch
  retries 3
  http-reuse always
  timeout connect 5s
  timeout client 75s
  timeout server 60s
  timeout queue 60s
frontend clients
  bind 127.0.0.1:${port}
  default_backend workers
backend workers
${backend.map((line) => `  ${line}\n`).join('')}${servers.join('\n')}
`;
}
