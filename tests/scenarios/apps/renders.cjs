// A server that asks Sluice for whom it renders, and reports what it has rendered, as `@sluice/render` does.
const http = require('node:http');

const host = globalThis[Symbol.for('sluice.render.1')];

http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://app.test');
    if (pathname === '/page') {
      const setting = searchParams.get('setting');
      const variant = searchParams.get('variant');
      for (const component of ['Header', 'Price'])
        host.rendered({ component, outcome: 'rendered', cpu_us: 2500, setting });
      host.rendered({ component: 'Reviews', outcome: 'late', cpu_us: 5000, setting });
      host.page({ setting, variant });
    }
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ pid: process.pid, server: host.server(), vitals: host.vitalsPath() }));
  })
  .listen(process.env.PORT ?? 3000);
