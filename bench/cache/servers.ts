// The caches that are compared, each before the same app, with one address for plain HTTP and one for TLS. Each is set up as a careful
// user would: kept connections, access log off, all pages in memory, one worker process or pool of threads as the server comes.
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/support/ports.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { startSluice } from '../../tests/support/sluice.ts';
import { familyOf, programOf } from '../lib/processes.ts';
import {
  answering,
  configuration,
  find,
  pidOf,
  removedAtExit,
  run,
  stopAll,
  temporaryDir,
} from '../lib/run.ts';
import { nodeEnvironment, startSluiceServer } from '../lib/servers.ts';

const entry = fileURLToPath(new URL('../apps/cache.cjs', import.meta.url));

export interface Cache {
  name: string;
  /** `http://127.0.0.1:3000`. */
  plain: string;
  tls: string;
  /** Processes that plain requests go through, and those of TLS. */
  plainPids: () => number[];
  tlsPids: () => number[];
  /** Pages that the app behind the plain address has rendered. */
  renders: () => number;
  stop: () => Promise<void>;
}

export interface Sizes {
  bytesMax: number;
  workers: number;
}

export interface Certificate {
  cert: string;
  key: string;
  /** Both in one file, as hitch wants it. */
  both: string;
}

/** Made on the spot; lasts as long as this process. */
export function makeCertificate(): Certificate {
  const dir = temporaryDir('bench-cert-');
  const at = (name: string): string => path.join(dir, name);
  const flags = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-keyout', at('key.pem'), '-out', at('cert.pem')];
  const made = spawnSync(find('openssl', 'openssl'), ['req', ...flags.split(' '), ...names, ...files]);
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr.toString()}`);
  fs.writeFileSync(at('both.pem'), fs.readFileSync(at('key.pem')));
  fs.appendFileSync(at('both.pem'), fs.readFileSync(at('cert.pem')));
  return { cert: at('cert.pem'), key: at('key.pem'), both: at('both.pem') };
}

/** Two gateways: one speaks TLS on its port, with HTTP/2, and the other does not. */
export async function startSluiceCache(certificate: Certificate, sizes: Sizes): Promise<Cache> {
  const app = { entry, workers: sizes.workers };
  const config = configuration('sluice.toml', `[cache]\nenabled = true\nbytes_max = ${sizes.bytesMax}\n`);
  const env = { SLUICE_SERVER_TLS_CERT: certificate.cert, SLUICE_SERVER_TLS_KEY: certificate.key };
  const renders = new Renders();
  const plain = await startSluiceServer(app, { config, env: renders.env });
  const tls = await startSluice({
    entry,
    workers: sizes.workers,
    config,
    env: { ...env, SLUICE_LOG_ACCESS: 'false' },
    waitUntilReady: false,
  });
  await eventually(async () => (await fetch(`${tls.admin}/ready`)).ok, { what: 'readiness' });
  const pid = await tls.gatewayPid();
  const tlsPids = familyOf(pid).filter((other) => programOf(other) === programOf(pid));
  const isRemoved = removedAtExit(tls.dir);
  return {
    name: 'Sluice',
    plain: plain.sluice.url,
    tls: `https://127.0.0.1:${tls.port}`,
    plainPids: () => plain.frontPids,
    tlsPids: () => tlsPids,
    renders: () => renders.count(),
    stop: async () => {
      await Promise.all([plain.stop(), tls.stop()]);
      isRemoved();
    },
  };
}

interface App {
  renders: Renders;
  port: number;
  child: ChildProcess;
}

async function startApp(): Promise<App> {
  const renders = new Renders();
  const port = await freePort();
  const child = run(
    process.execPath,
    [entry],
    nodeEnvironment({ entry, workers: 1, env: renders.env }, port),
  );
  await answering(port, child);
  return { renders, port, child };
}

/** Varnish with its defaults, and hitch before it for TLS, which says by PROXY what the client speaks. */
export async function startVarnish(certificate: Certificate, sizes: Sizes): Promise<Cache> {
  const app = await startApp();
  const [port, behind, tlsPort] = [await freePort(), await freePort(), await freePort()];
  const dir = temporaryDir('bench-varnish-');
  fs.chmodSync(dir, 0o755);
  const vcl = path.join(dir, 'default.vcl');
  fs.writeFileSync(
    vcl,
    configuration(
      'default.vcl',
      `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${app.port}"; }\n` +
        'sub vcl_backend_response { set beresp.grace = 0s; set beresp.keep = 0s; }\n',
    ),
  );
  const varnish = run(
    find('varnishd', 'varnish'),
    [
      '-F',
      '-n',
      path.join(dir, 'n'),
      '-f',
      vcl,
      '-j',
      'none',
      '-s',
      `malloc,${sizes.bytesMax}`,
      '-a',
      `127.0.0.1:${port}`,
      '-a',
      `127.0.0.1:${behind},PROXY`,
      '-p',
      'feature=+http2',
      // No server here caches answers without freshness of their own.
      '-p',
      'default_ttl=0',
    ],
    { isQuiet: true },
  );
  await answering(port, varnish);
  const conf = path.join(dir, 'hitch.conf');
  fs.writeFileSync(
    conf,
    configuration(
      'hitch.conf',
      `frontend = "[127.0.0.1]:${tlsPort}"\nbackend = "[127.0.0.1]:${behind}"\npem-file = "${certificate.both}"\n` +
        'alpn-protos = "h2, http/1.1"\nwrite-proxy-v2 = on\nworkers = 1\ndaemon = off\nquiet = on\n',
    ),
  );
  const hitch = run(find('hitch'), ['--config', conf, '--user', 'nobody'], { isQuiet: true });
  await answering(tlsPort, hitch);
  const [varnishPids, hitchPids] = [familyOf(pidOf(varnish)), familyOf(pidOf(hitch))];
  return {
    name: 'Varnish',
    plain: `http://127.0.0.1:${port}`,
    tls: `https://127.0.0.1:${tlsPort}`,
    plainPids: () => varnishPids,
    tlsPids: () => [...varnishPids, ...hitchPids],
    renders: () => app.renders.count(),
    stop: async () => {
      await stopAll([hitch, varnish]);
      await stopAll([app.child]);
    },
  };
}

/** nginx with `proxy_cache`, whose files are in memory. */
export async function startNginxCache(certificate: Certificate, sizes: Sizes): Promise<Cache> {
  const app = await startApp();
  const [port, tlsPort] = [await freePort(), await freePort()];
  const dir = temporaryDir('bench-nginx-');
  const memory = fs.existsSync('/dev/shm') ? fs.mkdtempSync('/dev/shm/bench-nginx-') : dir;
  for (const each of [dir, memory]) fs.chmodSync(each, 0o777);
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${memory}/${name};`,
  );
  const file = path.join(dir, 'nginx.conf');
  const text = `daemon off;
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
  keepalive_requests 100000000;
  sendfile on;
  tcp_nopush on;
  proxy_cache_path ${memory}/cache levels=1:2 keys_zone=pages:16m max_size=${sizes.bytesMax} inactive=1h use_temp_path=off;
  upstream app {
    server 127.0.0.1:${app.port} max_fails=0;
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    listen 127.0.0.1:${tlsPort} ssl http2 backlog=4096;
    ssl_certificate ${certificate.cert};
    ssl_certificate_key ${certificate.key};
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header Accept-Encoding $http_accept_encoding;
      proxy_cache pages;
      proxy_cache_lock on;
      proxy_cache_lock_timeout 60s;
      proxy_buffers 32 16k;
      proxy_busy_buffers_size 64k;
    }
  }
}
`;
  fs.writeFileSync(file, configuration('nginx.conf', text));
  const nginx = run(find('nginx'), ['-p', dir, '-c', file, '-e', path.join(dir, 'error.log')]);
  await answering(port, nginx);
  const pids = familyOf(pidOf(nginx));
  return {
    name: 'nginx',
    plain: `http://127.0.0.1:${port}`,
    tls: `https://127.0.0.1:${tlsPort}`,
    plainPids: () => pids,
    tlsPids: () => pids,
    renders: () => app.renders.count(),
    stop: async () => {
      await stopAll([nginx]);
      await stopAll([app.child]);
      fs.rmSync(memory, { recursive: true, force: true });
    },
  };
}

/** A file that grows by a byte with each render. */
class Renders {
  readonly #file = path.join(temporaryDir('bench-renders-'), 'renders');
  readonly env: Record<string, string> = { RENDERS_FILE: this.#file };

  count(): number {
    return fs.existsSync(this.#file) ? fs.statSync(this.#file).size : 0;
  }
}
